//! Which bytes of a window of a file are to be written: what several processes give, together.

use std::ops::{ControlFlow, Range};

use crate::view::View;

/// A set of the bytes of a window, one bit each.
#[derive(Debug, Default)]
pub struct Coverage {
    words: Vec<u64>,
    bytes: usize,
}

impl Coverage {
    /// Nothing of a window of so many bytes.
    pub fn clear(&mut self, bytes: usize) {
        self.words.clear();
        self.words.resize(bytes.div_ceil(64), 0);
        self.bytes = bytes;
    }

    /// Adds positions of a view, all of which lie in the window that begins at offset `start`.
    pub fn add(&mut self, view: &View, positions: Range<u64>, start: u64) {
        view.visit(positions, |run| {
            let at = (run.offset - start) as usize;
            self.set(at..at + run.bytes);
            ControlFlow::Continue(())
        });
    }

    fn set(&mut self, bits: Range<usize>) {
        let (first, last) = (bits.start / 64, (bits.end - 1) / 64);
        let from = u64::MAX << (bits.start % 64);
        let to = u64::MAX >> (63 - (bits.end - 1) % 64);
        if first == last {
            self.words[first] |= from & to;
            return;
        }
        self.words[first] |= from;
        self.words[first + 1..last].fill(u64::MAX);
        self.words[last] |= to;
    }

    /// The runs of what is in the set, in order.
    pub fn runs(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = self.next(at, false)?;
            at = self.next(start, true).unwrap_or(self.bytes);
            Some(start..at)
        })
    }

    /// The first byte from `at` on that is in the set, or, `flipped`, that is not.
    fn next(&self, at: usize, flipped: bool) -> Option<usize> {
        let flip = if flipped { u64::MAX } else { 0 };
        let mut mask = u64::MAX << (at % 64);
        for (index, word) in self.words.iter().enumerate().skip(at / 64) {
            let found = (word ^ flip) & mask;
            mask = u64::MAX;
            if found != 0 {
                let bit = index * 64 + found.trailing_zeros() as usize;
                return (bit < self.bytes).then_some(bit);
            }
        }
        None
    }
}

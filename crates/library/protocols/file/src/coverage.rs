//! Which bytes of a window of a file are to be written: what several processes give, together.

use std::ops::{ControlFlow, Range};

use weft_reserve::NoMemory;

use crate::view::View;

/// A set of the bytes of a window, one bit each.
#[derive(Debug, Default)]
pub struct Coverage {
    words: Vec<u64>,
    bytes: usize,
}

impl Coverage {
    /// Nothing of a window of so many bytes.
    pub fn clear(&mut self, bytes: usize) -> Result<(), NoMemory> {
        let words = bytes.div_ceil(64);
        self.words.clear();
        weft_reserve::lengthen(&mut self.words, words)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Adds positions of a view, all of which lie in the window that begins at offset `start`.
    pub fn add(&mut self, view: &View, positions: Range<u64>, start: u64) {
        view.visit_apart(positions, |offset, bytes| {
            let at = (offset - start) as usize;
            self.set(at..at + bytes);
            ControlFlow::Continue(())
        });
    }

    /// The same, and the gaps between them up to so many bytes; longer ones too, or not.
    pub fn add_along(&mut self, view: &View, positions: Range<u64>, start: u64, gap: u64) {
        match view.hull(&positions) {
            Some(hull)
                if view.largest_gap().is_some_and(|most| most <= gap) && !positions.is_empty() =>
            {
                self.set((hull.start - start) as usize..(hull.end - start) as usize);
            }
            _ => self.add(view, positions, start),
        }
    }

    #[inline]
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

    /// The runs of what is in the set, in order, and in `part` of the window.
    pub fn runs(&self, part: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let (mut at, end) = (part.start, part.end.min(self.bytes));
        std::iter::from_fn(move || {
            let start = self.next(at, false).filter(|&start| start < end)?;
            at = self.next(start, true).unwrap_or(self.bytes).min(end);
            Some(start..at)
        })
    }

    /// From the first to behind the last byte of the set, if it has at least so many runs, of at most so many bytes on average, and gaps
    /// of at most `largest_gap`.
    pub fn hull_of_short(
        &self,
        fewest: usize,
        run_bytes: usize,
        largest_gap: usize,
    ) -> Option<Range<usize>> {
        let mut runs = self.runs(0..self.bytes);
        let mut hull = runs.next()?;
        let (mut count, mut bytes) = (1, hull.len());
        for run in runs {
            if run.start - hull.end > largest_gap {
                return None;
            }
            hull.end = run.end;
            count += 1;
            bytes += run.len();
        }
        (count >= fewest && bytes / count <= run_bytes).then_some(hull)
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

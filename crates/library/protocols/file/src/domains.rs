//! Who reads and writes what in a collective access by two phases: some processes, the *aggregators*, each have a *domain* of the
//! file to themselves, and go through it in *windows*.
//!
//! All processes make the same domains of the same numbers. Displacements grow with positions, so what a process has in
//! a window is a range of positions, and what it sends or receives is a range of its packed data: process and aggregator find
//! the same range, each by itself, and nothing but data travels. Windows in which nobody has anything are passed over.

use std::ops::Range;

use crate::view::View;

/// The domains of one access.
#[derive(Clone, Copy, Debug)]
pub struct Domains {
    start: u64,
    end: u64,
    /// Bytes of a domain.
    each: u64,
    /// Bytes of a window.
    window: u64,
}

impl Domains {
    /// Divides `hull` among `aggregators`, at multiples of `unit`, with windows of `window` bytes. The last two are
    /// not 0.
    pub fn new(hull: Range<u64>, aggregators: usize, window: u64, unit: u64) -> Domains {
        let start = hull.start - hull.start % unit;
        let share = (hull.end - start).div_ceil(aggregators.max(1) as u64);
        Domains {
            start,
            end: hull.end,
            each: share.max(1).next_multiple_of(unit),
            window: window.next_multiple_of(unit),
        }
    }

    /// The domain of an aggregator; empty if there is nothing left for it.
    pub fn domain(&self, aggregator: usize) -> Range<u64> {
        let before = self.each.saturating_mul(aggregator as u64);
        let start = self.start.saturating_add(before).min(self.end);
        start..start.saturating_add(self.each).min(self.end)
    }

    /// The window of a domain that an offset of it lies in.
    pub fn window(&self, aggregator: usize, offset: u64) -> Range<u64> {
        let domain = self.domain(aggregator);
        let start = offset - (offset - domain.start) % self.window;
        start..start.saturating_add(self.window).min(domain.end)
    }
}

/// The positions of one process's access that lie in a domain, window by window.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    view: &'a View,
    left: Range<u64>,
}

impl<'a> Cursor<'a> {
    pub fn new(view: &'a View, access: &Range<u64>, domain: &Range<u64>) -> Cursor<'a> {
        let clipped = |offset: u64| view.below(offset).clamp(access.start, access.end);
        let left = match access.is_empty() {
            true => 0..0,
            false => clipped(domain.start)..clipped(domain.end),
        };
        Cursor { view, left }
    }

    /// Where the next byte lies; none if there is no more.
    pub fn offset(&self) -> Option<u64> {
        (!self.left.is_empty())
            .then(|| self.view.offset(self.left.start))
            .flatten()
    }

    /// Takes what lies before an offset.
    pub fn take(&mut self, end: u64) -> Range<u64> {
        let until = self.view.below(end).clamp(self.left.start, self.left.end);
        let taken = self.left.start..until;
        self.left.start = until;
        taken
    }
}

//! How the result of a reduction is shared out.

use std::ops::Range;

/// Which elements of the result each rank gets: in rank order, all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shares {
    /// As many for each.
    Equal(usize),
    /// Where each rank's begin, and last where they end.
    Bounds(Vec<usize>),
}

impl Shares {
    /// How many elements a rank gets.
    pub fn of(&self, rank: usize) -> usize {
        self.range(rank).len()
    }

    pub(crate) fn range(&self, rank: usize) -> Range<usize> {
        match self {
            Shares::Equal(count) => rank * count..(rank + 1) * count,
            Shares::Bounds(bounds) => bounds[rank]..bounds[rank + 1],
        }
    }
}

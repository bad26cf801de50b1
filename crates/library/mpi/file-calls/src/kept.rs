//! Parts of views that are long lists, as aggregators have received them, kept for the next access.

use std::ops::Range;

use parking_lot::Mutex;
use weft_file::View;

use super::aggregation::Told;

/// A part of a view whose offsets grow, and the positions in it that a process accesses.
pub(super) type Part = (View, Range<u64>);

/// The last exchange, while the view stays. An access finds it if it begins and ends where that one did on all processes. All find it or
/// none does: what keeps it are accesses that every process makes one after the other, and that went well on all.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<Exchanged>>);

/// The accesses of all processes, and the parts of those whose views are lists, by rank.
pub(super) struct Exchanged {
    pub told: Vec<Told>,
    pub parts: Vec<Option<Part>>,
}

impl Kept {
    /// Takes what is kept, and gives it if it is of the same accesses.
    pub fn take(&self, told: &[Told]) -> Option<Exchanged> {
        self.0.lock().take().filter(|kept| kept.told == told)
    }

    pub fn put(&self, exchanged: Exchanged) {
        *self.0.lock() = Some(exchanged);
    }
}

//! What of views that are long lists was told to the processes that read and write for others, kept for the next access.

use std::ops::Range;

use parking_lot::Mutex;
use weft_file::View;

use super::aggregation::Told;

/// What a process accesses, in a view whose offsets grow.
pub(super) type Part = (View, Range<u64>);

/// What was told last, while the view stays. An access finds it again that begins and ends where that one did on all processes: they all
/// find it or none does, since it is kept by accesses that each of them makes one after the other, and that have gone well on all.
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

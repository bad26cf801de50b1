//! Requests in the hands of a lane.

use std::borrow::Borrow;

/// A request that is pending on a lane, by the index of its slot.
///
/// It is the right to the slot's cells, for the thread that holds the lane's section ([`Core::cells`](crate::state::Core)): an
/// index says nothing of who may touch what it names, this does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pending(u32);

impl Pending {
    /// Of a request that is handed to a lane, or has been.
    ///
    /// # Safety
    /// The slot lies in the table that the lane shares, and is pending on that lane or begun before the lane's section is left.
    /// This is given to that lane's state alone, which forgets it when the request is over (slot protocol, rules 1 to 3).
    #[inline(always)]
    pub unsafe fn new(index: u32) -> Pending {
        Pending(index)
    }

    #[inline(always)]
    pub fn index(self) -> u32 {
        self.0
    }
}

/// So that a set finds one by an index that may be any.
impl Borrow<u32> for Pending {
    fn borrow(&self) -> &u32 {
        &self.0
    }
}

//! Receives that wait for their message, as the matching tables hold them.

use std::ptr::NonNull;

use weft_matching::Pattern;
use weft_transport::Peer;

use crate::pending::Pending;
use crate::slot::Slot;

/// A posted receive: its request, which is pending while this is.
pub(crate) struct Posted(NonNull<Slot>);

const _: () = assert!(size_of::<Option<Posted>>() == 8);

// SAFETY: the slot is the lane's while it is pending, and its protocol says who may touch it when.
unsafe impl Send for Posted {}

impl Posted {
    /// Of a receive that is about to stand among a lane's posted ones.
    ///
    /// # Safety
    /// The slot lies in the table that the lane shares, and is pending on that lane, or begun before the lane's section is left,
    /// for as long as this is (slot protocol, rule 2).
    #[inline(always)]
    pub unsafe fn new(slot: &Slot) -> Posted {
        Posted(NonNull::from(slot))
    }

    #[inline(always)]
    pub fn slot(&self) -> &Slot {
        // SAFETY: by the condition of `new`.
        unsafe { self.0.as_ref() }
    }

    /// As the lane's state has it.
    #[inline(always)]
    pub fn pending(&self) -> Pending {
        // SAFETY: by the condition of `new`.
        unsafe { Pending::new(self.slot().index) }
    }

    /// What the receive asks for. Values that are copied out, so that no reference to the cells is left beside another.
    #[inline(always)]
    pub fn pattern(&self) -> Pattern {
        let cells = self.slot().cells.get();
        // SAFETY: pending, and so of the lane's holder (slot protocol, rule 2), who alone has this. Fields are read through the
        // pointer, and no reference to them is made.
        let (context, source, tag) = unsafe { ((*cells).context, (*cells).source, (*cells).tag) };
        Pattern {
            context,
            source,
            tag,
        }
    }

    /// The process that it names.
    pub fn peer(&self) -> Peer {
        // SAFETY: as in `pattern`.
        unsafe { (*self.slot().cells.get()).peer }
    }

    /// Where the user's buffer is, and its length.
    #[inline(always)]
    pub fn buffer(&self) -> (*const u8, usize) {
        let cells = self.slot().cells.get();
        // SAFETY: as in `pattern`.
        unsafe { ((*cells).base, (*cells).bytes) }
    }

    /// Where the request's cells are.
    #[inline(always)]
    pub fn place(&self) -> *const Slot {
        self.0.as_ptr()
    }
}

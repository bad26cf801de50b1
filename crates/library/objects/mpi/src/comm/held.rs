//! Communicators that operations still use when the program frees them: they stay until those are over (MPI-5.0 §7.4.3).

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Comm;

/// How many operations use it; the top bit once it is freed.
#[derive(Debug, Default)]
pub(super) struct Holders(AtomicU32);

const FREED: u32 = 1 << 31;

/// A communicator that an operation under way or a persistent request uses: while there is one, no other communicator
/// gets its numbers, so that no other's messages come into the operation.
pub(crate) struct Held(Arc<Comm>);

impl Held {
    pub fn new(comm: Arc<Comm>) -> Held {
        comm.holders.0.fetch_add(1, Ordering::Relaxed);
        Held(comm)
    }
}

impl Deref for Held {
    type Target = Comm;
    fn deref(&self) -> &Comm {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The last one of a freed communicator; what the others did with the numbers is over.
        if self.0.holders.0.fetch_sub(1, Ordering::AcqRel) == FREED | 1 {
            self.0.release_numbers();
        }
    }
}

impl Comm {
    /// The program has freed it.
    pub(super) fn release_unless_held(&self) {
        if self.holders.0.fetch_or(FREED, Ordering::AcqRel) == 0 {
            self.release_numbers();
        }
    }
}

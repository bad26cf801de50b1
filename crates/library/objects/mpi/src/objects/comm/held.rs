//! Communicators that operations still use when the program frees them: they stay until those are over (MPI-5.0 §7.4.3).

use std::ops::Deref;
use std::sync::Arc;

use super::communicator::Comm;

/// A communicator that an operation under way or a persistent request uses: while there is one, no other communicator
/// gets its numbers, so that no other's messages come into the operation.
pub(crate) struct Held(Arc<Comm>);

impl Held {
    pub fn new(comm: Arc<Comm>) -> Held {
        comm.holders().enter();
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
        if self.0.holders().leave() {
            self.0.release_numbers();
        }
    }
}

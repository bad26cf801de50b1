//! Communicators that operations still use when the program frees them: they stay until those are over (MPI-5.0 §7.4.3).

use std::ops::Deref;
use std::sync::Arc;

use super::communicator::Comm;

/// A communicator that an operation under way or a persistent request uses: while there is one, no other communicator
/// gets its numbers, so that no other's messages come into the operation.
pub struct CommReference(Arc<Comm>);

impl CommReference {
    pub fn new(comm: Arc<Comm>) -> CommReference {
        comm.references().enter();
        CommReference(comm)
    }
}

impl Deref for CommReference {
    type Target = Comm;
    fn deref(&self) -> &Comm {
        &self.0
    }
}

impl Drop for CommReference {
    fn drop(&mut self) {
        if self.0.references().leave() {
            self.0.release_numbers();
        }
    }
}

//! Commands that are gathered for a message of several, and leave though nobody waits for them.
//!
//! A process may wait for what follows from an access that it never flushes, such as a value that another process writes once it has seen it: an
//! access that its target permits is over some time (MPI-5.0 §12.7.3). So what is gathered leaves in the next turn of progress of any
//! thread, which polls the window's operation, and in any flush and `MPI_Win_sync` of the window. A flush of the target itself takes it along.

use std::sync::OnceLock;

use parking_lot::Mutex;
use weft_engine::Awaited;

/// The targets for which commands may have been gathered, each once.
#[derive(Default)]
pub struct Gathered {
    targets: Mutex<Vec<u32>>,
    /// The operation that handles the window's commands, which sends them too.
    server: OnceLock<Awaited>,
}

impl Gathered {
    /// The operation sends what is gathered from here on.
    pub fn sent_by(&self, server: &Awaited) {
        // A window is served once.
        let _ = self.server.set(server.clone());
    }

    pub fn add(&self, target: u32) {
        self.targets.lock().push(target);
        if let Some(server) = self.server.get() {
            server.call();
        }
    }

    pub fn take(&self) -> Vec<u32> {
        std::mem::take(&mut *self.targets.lock())
    }
}

//! What the operation that serves a window waits for.

use weft_engine::{Awaited, RequestId};
use weft_messages::request::Status;
use weft_process::engine::engine;

/// A request that the operation finishes.
pub struct Waited {
    pub id: RequestId,
    /// The operation has been left in it, and so is polled when it completes: once suffices.
    is_left: bool,
}

impl Waited {
    pub fn new(id: RequestId) -> Waited {
        let is_left = false;
        Waited { id, is_left }
    }

    /// Has the operation polled when the request completes. False if it is complete.
    pub fn leave(&mut self, awaited: &Awaited) -> bool {
        self.is_left = self.is_left || engine().await_request(awaited, self.id);
        self.is_left
    }

    /// The outcome, once it is complete; then it is used up.
    pub fn finish_complete(&self) -> Option<Status> {
        let is_complete = engine().is_complete(self.id);
        is_complete.then(|| Status::from_engine(engine().finish(self.id)))
    }
}

/// An answer under way, and the memory of the library's that it comes from.
pub struct Transfer {
    pub id: Waited,
    pub data: Vec<u8>,
}

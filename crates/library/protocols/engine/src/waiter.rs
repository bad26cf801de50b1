//! What is told when a request completes: a thread that sleeps, or an operation.

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use weft_sync::{Parker, Ready, TaskState};

use crate::request_id::RequestId;
use crate::status::Status;

pub(crate) enum Waiter {
    Thread(Parker),
    Operation(Arc<Operation>),
}

impl Waiter {
    pub fn thread() -> Waiter {
        Waiter::Thread(Parker::new())
    }

    /// Sleeps until told; the calling thread's own waiter.
    pub fn park(&self) {
        if let Waiter::Thread(parker) = self {
            parker.park(None);
        }
    }

    /// Sleeps until told, at most so long.
    pub fn nap(&self, timeout: Duration) {
        if let Waiter::Thread(parker) = self {
            parker.park(Some(timeout));
        }
    }

    pub fn tell(&self) {
        match self {
            Waiter::Thread(parker) => parker.unpark(),
            Waiter::Operation(operation) => operation.call(),
        }
    }

    /// Whether it takes another's place: a thread that has left one behind does not wait for the request any more.
    pub fn replaces(&self, other: &Waiter) -> bool {
        let threads = matches!((self, other), (Waiter::Thread(_), Waiter::Thread(_)));
        threads || std::ptr::eq(self, other)
    }
}

pub(crate) type Running = Pin<Box<dyn Future<Output = Status> + Send>>;

/// An operation under way (`operation.rs`).
pub(crate) struct Operation {
    /// None before its first poll is over, and once all is. Locked by the one whose turn it is.
    pub future: Mutex<Option<Running>>,
    pub state: TaskState,
    pub request: RequestId,
    /// Whether the background thread polls it too.
    pub in_background: bool,
    /// The request that the operation waits for, if its peer may be asked about it (`enquiring.rs`), and the operation's key among those
    /// that ask.
    pub question: Mutex<Option<(usize, Question)>>,
    pub ready: Arc<Ready<Arc<Operation>>>,
}

impl Operation {
    /// What it waits for has come.
    pub fn call(self: &Arc<Operation>) {
        if self.state.call() {
            self.ready.push(self.clone());
        }
    }

    /// Pending until it is called.
    pub fn rest(self: &Arc<Operation>) {
        if !self.state.rest() {
            self.ready.push(self.clone());
        }
    }
}

/// An operation's enquiry to a peer: the request that it is about, and its words.
#[derive(Clone, Copy)]
pub(crate) struct Question {
    pub id: RequestId,
    pub words: [u64; 2],
}

//! Generalized requests (MPI-5.0 §13.2): operations of the program's, that it completes itself.
//!
//! The request that is waited for is one of the engine's, which nothing but the program's call completes. FREED and
//! COMPLETE are set once each; the call that sets the second ends the request (`free`, `complete`), so that the program's
//! free function is called once, by whichever call comes last. No lock is held while one of its functions runs.

use std::sync::atomic::{AtomicU8, Ordering};

use weft_engine::RequestId;
use weft_error::{Class, Error, Result, argument};
use weft_process::engine::engine;

use crate::request::{Status, not_a_request};

/// The program's functions. The error of each is the code that it returned.
pub trait Functions: Send + Sync {
    fn query(&self) -> Result<Status>;
    fn free(&self) -> Result<()>;
    fn cancel(&self, complete: bool) -> Result<()>;
}

/// The error of a function of the program's that returned `code`.
pub fn refused(function: &str, code: i32) -> Error {
    let text = format!("the {function} function of a generalized request returned {code}");
    Error::new(Class::Other, text).with_code(code)
}

const FREED: u8 = 1;
const COMPLETE: u8 = 2;

pub(crate) struct Generalized {
    functions: Box<dyn Functions>,
    pub id: RequestId,
    state: AtomicU8,
}

impl Generalized {
    pub fn new(functions: Box<dyn Functions>, id: RequestId) -> Generalized {
        Generalized {
            functions,
            id,
            state: AtomicU8::new(0),
        }
    }

    /// What is waited for; an error if the request was freed, which leaves its handle to `complete` alone.
    pub fn awaited(&self) -> Result<RequestId> {
        match self.state.load(Ordering::Acquire) & FREED {
            0 => Ok(self.id),
            _ => Err(not_a_request()),
        }
    }

    /// `MPI_Grequest_complete`. Whether it is freed, so that the caller ends it.
    pub fn complete(&self) -> Result<bool> {
        let before = self.state.fetch_or(COMPLETE, Ordering::AcqRel);
        if before & COMPLETE != 0 {
            return Err(argument(Class::Request, "request", "complete already"));
        }
        engine().complete_external(self.id);
        Ok(before & FREED != 0)
    }

    /// `MPI_Request_free`. Whether it is complete, so that the caller ends it.
    pub fn free(&self) -> Result<bool> {
        self.awaited()?;
        engine().detach(self.id);
        let before = self.state.fetch_or(FREED, Ordering::AcqRel);
        Ok(before & COMPLETE != 0)
    }

    /// The program's free function. The handle stays until it has returned, and names nothing after it.
    pub fn end(&self) -> Result<()> {
        self.functions.free()
    }

    pub fn query(&self) -> Result<Status> {
        self.functions.query()
    }

    /// Ends a complete request: its status, with the code of the last function that failed. MPI-5.0 §13.2 has the free
    /// function's code returned; where that succeeds, the query function's would be lost.
    pub fn finish(&self) -> Status {
        let queried = self.functions.query();
        engine().finish(self.id);
        let freed = self.end();
        let (status, queried) = match queried {
            Ok(status) => (status, Ok(())),
            Err(error) => (Status::EMPTY, Err(error)),
        };
        match freed.and(queried) {
            Ok(()) => status,
            Err(error) => Status {
                class: error.class,
                code: error.code(),
                ..status
            },
        }
    }

    /// `MPI_Cancel`.
    pub fn cancel(&self) -> Result<()> {
        let id = self.awaited()?;
        self.functions.cancel(engine().is_complete(id))
    }
}

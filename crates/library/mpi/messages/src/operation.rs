//! Nonblocking operations that are more than one message: each an async function, and a request for the program.
//!
//! # How to make one
//! Write the operation as a future that owns all it works on (an `Arc<Comm>`, copies of arrays, a `Datatype`), and that
//! waits only by [`until_complete`] and by the messages of a channel that is made with its [`Awaited`] (`collective/peers.rs`).
//! [`begin`] polls it once, in the call that starts the operation, so that its first messages leave at once; from then on
//! any thread that tests or waits for anything polls it when what it waits for has come (see `weft_engine`'s
//! `operation`). The request that [`begin`] returns is one of the engine's: `completion` needs to know nothing of it.
//! ```ignore
//! let request = operation::begin(comm.lane(), comm.context(Traffic::Internal), |awaited| async move {
//!     operation::until_complete(&awaited, setup).await;
//!     start_receive(&comm, Traffic::Internal, memory, source, tag).map(|_| Status::EMPTY)
//! })?;
//! ```
//! - The result is the request's: `Ok` its status (with source, tag and length if it is not [`Status::EMPTY`]), `Err`
//!   the error that completing the request reports, to the handler of the communicator whose context was given.
//! - A future must come to its end, with an error too: wait for every message that was started before returning.
//! - A future that is not `Send` only because its own parts refer to each other goes through [`SendFuture`].
//! - While it is under way the request can be neither freed nor cancelled (MPI-5.0 §6.12, §7.4.2, §12.3.5).

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use weft_engine::{Failure, RequestId};

pub use weft_engine::Awaited;

use weft_error::{Class, Error, Result, argument};
use weft_process::engine::engine;

use crate::request::{Request, Status};

/// Begins an operation. Its errors go to the communicator of `context`.
pub fn begin<F>(lane: u32, context: u32, make: impl FnOnce(Awaited) -> F) -> Result<Request>
where
    F: Future<Output = Result<Status>> + Send + 'static,
{
    let make = |awaited| {
        let operation = make(awaited);
        async { outcome(operation.await) }
    };
    let id = engine().begin(lane, context, make)?;
    Ok(Request::engine(id))
}

/// As [`begin`], of one that calls nothing of the program's, so that it goes on while the program computes.
pub fn begin_in_background<F>(
    lane: u32,
    context: u32,
    make: impl FnOnce(Awaited) -> F,
) -> Result<Request>
where
    F: Future<Output = Result<Status>> + Send + 'static,
{
    let make = |awaited| {
        let operation = make(awaited);
        async { outcome(operation.await) }
    };
    let id = engine().begin_in_background(lane, context, make)?;
    Ok(Request::engine(id))
}

/// Waits for the requests of an operation, which it finishes. The first failure is the outcome.
pub async fn finish_all(awaited: Awaited, ids: Vec<RequestId>) -> Result<Status> {
    let mut outcome = Ok(Status::EMPTY);
    for id in ids {
        let status = poll_fn(|_| engine().poll_request(&awaited, id)).await;
        outcome = outcome.and(Status::from_engine(status).check().map(|()| Status::EMPTY));
    }
    outcome
}

/// Waits for a request that is not the operation's: until it is complete, or finished by the one that it belongs to.
pub(crate) async fn until_complete(awaited: &Awaited, id: RequestId) {
    poll_fn(|_| match engine().await_request(awaited, id) {
        false => Poll::Ready(()),
        true => Poll::Pending,
    })
    .await
}

/// What the engine keeps of a result.
pub fn outcome(result: Result<Status>) -> weft_engine::Status {
    let status = match result {
        Ok(status) if status == Status::EMPTY => return weft_engine::Status::EMPTY,
        Ok(status) => status,
        Err(error) => Status {
            class: error.class,
            code: error.class as i32,
            ..Status::EMPTY
        },
    };
    weft_engine::Status {
        source: status.source,
        tag: status.tag,
        bytes: status.bytes,
        failure: match status.class {
            Class::Success => None,
            Class::Truncate => Some(Failure::Truncated),
            Class::ProcAborted => Some(Failure::PeerLost),
            Class::Revoked => Some(Failure::Revoked),
            other => Some(Failure::Operation(other.mark())),
        },
        cancelled: status.cancelled,
        context: 0,
        receive: true,
    }
}

/// An operation under way is neither freed nor cancelled.
pub(crate) fn check_not_under_way(request: Request, what: &str) -> Result<()> {
    match request.as_engine() {
        Some(id) if engine().is_operation(id) => Err(not_to_be(what)),
        _ => Ok(()),
    }
}

#[cold]
fn not_to_be(what: &str) -> Error {
    let text = format_args!("of an operation that cannot be {what}");
    argument(Class::Request, "request", text)
}

/// A future that may be polled by one thread after another though parts of it are not `Send`.
pub struct SendFuture<F>(F);

impl<F> SendFuture<F> {
    /// # Safety
    /// Whatever in `future` is not `Send` is only referred to from within `future`: it holds no `Rc` that others hold, no
    /// reference to what other threads use without its being `Sync`, nothing of the thread's own.
    pub unsafe fn new(future: F) -> SendFuture<F> {
        SendFuture(future)
    }
}

// SAFETY: all that is not `Send` moves with it (the contract of `new`), and it is polled under a mutex.
unsafe impl<F> Send for SendFuture<F> {}

impl<F: Future> Future for SendFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the field is pinned if the whole is: nothing moves out of it, and it is dropped in place.
        unsafe { self.map_unchecked_mut(|whole| &mut whole.0) }.poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_class_comes_back() {
        for &class in Class::ALL {
            let kept = outcome(Err(Error::new(class, "")));
            assert_eq!(Status::from_engine(kept).class, class);
        }
        let received = Status {
            source: 3,
            tag: 4,
            bytes: 5,
            ..Status::EMPTY
        };
        assert_eq!(Status::from_engine(outcome(Ok(received))), received);
        assert_eq!(
            Status::from_engine(outcome(Ok(Status::EMPTY))),
            Status::EMPTY
        );
    }
}

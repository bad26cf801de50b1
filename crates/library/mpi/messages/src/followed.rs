//! Operations that are followed by something before their requests are complete: a nonblocking reduction on copies, whose
//! result then goes to where it belongs.
//!
//! The request that the program gets is one of an operation of its own, which waits for the first one's.

use std::sync::Arc;

use weft_engine::RequestId;
use weft_error::{Class, Result, argument};
use weft_handle::CommId;
use weft_objects::comm::{self, Comm, CommReference, Traffic};

use super::compound::{COMPOUNDS, Compound, Form};
use super::lingering::linger;
use super::operation;
use super::persistent::register;
use crate::request::Request;

/// What follows an operation. It holds what the operation works on.
pub trait Follow: Send + Sync + 'static {
    /// Before each start of a persistent operation.
    fn before(&self);

    /// When the operation has succeeded.
    fn after(&self);
}

/// A request in place of that of a collective operation, nonblocking and just begun or persistent and inactive, which is
/// complete when what follows the operation is done.
pub fn follow(request: Request, comm: CommId, followed: Arc<dyn Follow>) -> Result<Request> {
    let comm = CommReference::new(comm::share(comm)?);
    match request.form()? {
        Form::Compound(compound) if matches!(*compound, Compound::Persistent(_)) => {
            let inner = Inner(request);
            register(Box::new(move || {
                followed.before();
                begin(&comm, inner.start()?, followed.clone())
            }))
        }
        _ => begin(&comm, request, followed),
    }
}

/// A persistent operation that only another one starts.
struct Inner(Request);

impl Inner {
    /// The request of the operation just started.
    fn start(&self) -> Result<Request> {
        let started = match self.0.form()? {
            Form::Compound(compound) => match &*compound {
                Compound::Persistent(persistent) if persistent.start()? => persistent.end(),
                _ => None,
            },
            _ => None,
        };
        started.ok_or_else(|| argument(Class::Request, "request", "active already"))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        COMPOUNDS.remove(self.0.0);
    }
}

fn begin(comm: &Comm, request: Request, followed: Arc<dyn Follow>) -> Result<Request> {
    let Some(id) = request.as_engine().filter(|&id| id != RequestId::DONE) else {
        followed.after();
        return Ok(request);
    };
    let (lane, context) = (comm.lane(), comm.context(Traffic::Collective));
    let held = followed.clone();
    let begun = operation::begin(lane, context, |awaited| async move {
        let outcome = operation::finish_all(awaited, vec![id]).await;
        if outcome.is_ok() {
            followed.after();
        }
        outcome
    });
    // Without a request for it the operation still works on what is held.
    begun.inspect_err(|_| linger(request, held))
}

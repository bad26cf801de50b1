//! Several requests at once: all of them, any, or some (MPI-5.0 §3.7.5).

use std::cell::Cell;

use weft_engine::RequestId;
use weft_error::{Class, Error, Result};
use weft_process::engine::engine;

use super::one::wait;
use super::outcome::{finish, outcome};
use super::state::{State, part, peek, state};
use crate::request::{Request, Status};

/// The error of a call on several requests of which some failed: their statuses tell (MPI-5.0 §3.7.5).
fn in_status(failed: Option<Status>) -> Result<()> {
    let Some(status) = failed else { return Ok(()) };
    let first = status.check().expect_err("a failed one is given");
    let message = format!("of several requests at least one failed: {first}");
    Err(Error::new(Class::InStatus, message).on(first.object))
}

/// `MPI_Waitall`: `put` gets every status, by index.
#[inline]
pub fn wait_all(requests: &mut [Request], mut put: impl FnMut(usize, Status)) -> Result<()> {
    let mut failed = None;
    for (index, request) in requests.iter_mut().enumerate() {
        let status = wait(request)?;
        if status.class != Class::Success {
            failed = failed.or(Some(status));
        }
        put(index, status);
    }
    in_status(failed)
}

/// `MPI_Waitall` with `MPI_STATUSES_IGNORE`.
#[inline]
pub fn wait_all_without_statuses(requests: &mut [Request]) -> Result<()> {
    let engine = engine();
    let mut failed = None;
    for request in requests {
        let quiet = *request == Request::done()
            || request.as_engine().is_some_and(|id| {
                engine.finish_if_successful(id) || engine.progress_and_finish_if_successful(id)
            });
        if quiet {
            *request = Request::NULL;
            continue;
        }
        let status = wait(request)?;
        if status.class != Class::Success {
            failed = failed.or(Some(status));
        }
    }
    in_status(failed)
}

/// `MPI_Testall`: all or none.
pub fn test_all(requests: &mut [Request], put: impl FnMut(usize, Status)) -> Result<bool> {
    for &request in requests.iter() {
        if let State::Pending = peek(request)? {
            return Ok(false);
        }
    }
    wait_all(requests, put).map(|()| true)
}

/// `MPI_Request_get_status_all`: all or none; the requests stay.
pub fn status_all(requests: &[Request], mut put: impl FnMut(usize, Status)) -> Result<bool> {
    for &request in requests {
        if let State::Pending = peek(request)? {
            return Ok(false);
        }
    }
    for (index, &request) in requests.iter().enumerate() {
        put(index, outcome(request)?);
    }
    Ok(true)
}

/// What a look at several requests found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Any {
    /// None of them is active.
    NoneActive,
    Pending,
    /// This one is complete.
    Complete(usize),
}

/// Looks for a complete request; progresses once if there is none.
fn look(requests: &[Request]) -> Result<Any> {
    match scan(requests)? {
        Any::Pending if engine().progress_for_poll() => scan(requests),
        found => Ok(found),
    }
}

fn scan(requests: &[Request]) -> Result<Any> {
    let engine = engine();
    let mut found = Any::NoneActive;
    for (index, &request) in requests.iter().enumerate() {
        // Most requests are so. Not in `state`: compound requests would pay for it.
        if request.as_engine().is_some_and(|id| engine.is_pending(id)) {
            found = Any::Pending;
            continue;
        }
        match state(request)? {
            State::Complete => return Ok(Any::Complete(index)),
            State::Pending => found = Any::Pending,
            State::Inactive => {}
        }
    }
    Ok(found)
}

/// Waits until one of several requests is complete, or finds none active.
fn await_any(requests: &[Request]) -> Result<Any> {
    let mut ids = Scratch::take();
    loop {
        match scan(requests)? {
            Any::Pending => {}
            other => return Ok(other),
        }
        let ids = &mut ids.0;
        ids.clear();
        if ids.capacity() < requests.len() {
            *ids = weft_reserve::with_capacity(requests.len())?;
        }
        for &request in requests {
            ids.extend(part(request)?);
        }
        // Empty if all have completed since: then the next scan finds one.
        if !ids.is_empty() {
            engine().wait_any(ids);
        }
    }
}

/// What a call that waits for several requests gathers: memory that the thread keeps from call to call. A call within the
/// call, as by a function of the program's, has its own.
struct Scratch(Vec<RequestId>);

thread_local! {
    static SCRATCH: Cell<Vec<RequestId>> = const { Cell::new(Vec::new()) };
}

/// As [`weft_collective::prepare_thread`].
pub fn prepare_thread() {
    SCRATCH.with(|_| ());
}

impl Scratch {
    fn take() -> Scratch {
        Scratch(SCRATCH.try_with(Cell::take).unwrap_or_default())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let gathered = std::mem::take(&mut self.0);
        // A thread that ends needs it no more.
        let _ = SCRATCH.try_with(|scratch| scratch.set(gathered));
    }
}

/// `MPI_Waitany`: the index and status of a request that completed; none if none is active.
pub fn wait_any(requests: &mut [Request]) -> Result<Option<(usize, Status)>> {
    match await_any(requests)? {
        Any::Complete(index) => Ok(Some((index, finish(&mut requests[index])?))),
        _ => Ok(None),
    }
}

/// `MPI_Testany`.
pub fn test_any(requests: &mut [Request]) -> Result<(Any, Status)> {
    let any = look(requests)?;
    match any {
        Any::Complete(index) => Ok((any, finish(&mut requests[index])?)),
        _ => Ok((any, Status::EMPTY)),
    }
}

/// `MPI_Request_get_status_any`.
pub fn status_any(requests: &[Request]) -> Result<(Any, Status)> {
    let any = look(requests)?;
    match any {
        Any::Complete(index) => Ok((any, outcome(requests[index])?)),
        _ => Ok((any, Status::EMPTY)),
    }
}

/// `MPI_Waitsome`: every request that is complete once one is; false if none is active.
pub fn wait_some(requests: &mut [Request], put: impl FnMut(usize, Status)) -> Result<bool> {
    let any = await_any(requests)?;
    finish_some(any, requests, put)
}

/// `MPI_Testsome`: every request that is complete now; false if none is active.
pub fn test_some(requests: &mut [Request], put: impl FnMut(usize, Status)) -> Result<bool> {
    let any = look(requests)?;
    finish_some(any, requests, put)
}

fn finish_some(
    any: Any,
    requests: &mut [Request],
    mut put: impl FnMut(usize, Status),
) -> Result<bool> {
    let mut failed = None;
    for (index, request) in requests.iter_mut().enumerate() {
        if let State::Complete = state(*request)? {
            let status = finish(request)?;
            if status.class != Class::Success {
                failed = failed.or(Some(status));
            }
            put(index, status);
        }
    }
    in_status(failed).map(|()| any != Any::NoneActive)
}

/// `MPI_Request_get_status_some`: every complete one's status; the requests stay. False if none is active.
pub fn status_some(requests: &[Request], mut put: impl FnMut(usize, Status)) -> Result<bool> {
    let any = look(requests)?;
    for (index, &request) in requests.iter().enumerate() {
        if let State::Complete = state(request)? {
            put(index, outcome(request)?);
        }
    }
    Ok(any != Any::NoneActive)
}

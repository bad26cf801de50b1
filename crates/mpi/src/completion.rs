//! Completing requests: the `Test` and `Wait` families (MPI-5.0 §3.7.3 to §3.7.5), freeing and cancelling.

use std::sync::Arc;

use weft_engine::RequestId;

use crate::error::handler::argument;
use crate::error::{Class, Error, Result};
use crate::operation;
use crate::partitioned::Stage;
use crate::process::process;
use crate::request::{Compound, Form, Request, Status};

/// What a request is now.
enum State {
    /// Null or inactive: nothing to wait for.
    Inactive,
    Pending,
    Complete,
}

fn state(request: Request) -> Result<State> {
    let engine = &process().engine;
    Ok(match request.form()? {
        Form::Null => State::Inactive,
        Form::Done | Form::FromNull => State::Complete,
        Form::Engine(id) if engine.is_complete(id) => State::Complete,
        Form::Engine(_) => State::Pending,
        Form::Compound(compound) => match &*compound {
            Compound::Persistent(persistent) => match *persistent.active.lock() {
                None => State::Inactive,
                Some(inner) => return state(inner),
            },
            Compound::Pair(pair) => match (state(pair.receive)?, state(pair.send)?) {
                (State::Complete, State::Complete) => State::Complete,
                _ => State::Pending,
            },
            Compound::Generalized(generalized) => {
                match engine.is_complete(generalized.awaited()?) {
                    true => State::Complete,
                    false => State::Pending,
                }
            }
            Compound::Partitioned(partitioned) => match partitioned.stage()? {
                Stage::Inactive => State::Inactive,
                Stage::Pending => State::Pending,
                Stage::Complete => State::Complete,
            },
            Compound::Flush(id) if engine.is_complete(*id) => State::Complete,
            Compound::Flush(_) => State::Pending,
        },
    })
}

/// The engine's requests that a pending request waits for.
fn parts(request: Request, out: &mut Vec<RequestId>) -> Result<()> {
    let engine = &process().engine;
    match request.form()? {
        Form::Null | Form::Done | Form::FromNull => {}
        Form::Engine(id) if engine.is_complete(id) => {}
        Form::Engine(id) => out.push(id),
        Form::Compound(compound) => match &*compound {
            Compound::Persistent(persistent) => {
                let active = *persistent.active.lock();
                active.map_or(Ok(()), |inner| parts(inner, out))?;
            }
            Compound::Pair(pair) => {
                // One of the two suffices: when it completes, the other is waited for.
                parts(pair.receive, out)?;
                if out.is_empty() {
                    parts(pair.send, out)?;
                }
            }
            Compound::Generalized(generalized) => out.push(generalized.awaited()?),
            Compound::Partitioned(partitioned) => out.extend(partitioned.part()),
            Compound::Flush(id) => out.push(*id),
        },
    }
    Ok(())
}

/// Finishes a complete request: its handle becomes null, or a persistent one inactive.
fn finish(request: &mut Request) -> Result<Status> {
    let engine = &process().engine;
    let form = request.form()?;
    let status = match form {
        Form::Null | Form::Done => Status::EMPTY,
        Form::FromNull => Status::FROM_NULL,
        Form::Engine(id) => Status::of(engine.finish(id)),
        Form::Compound(compound) => return finish_compound(request, &compound),
    };
    *request = Request::NULL;
    Ok(status)
}

fn finish_compound(request: &mut Request, compound: &Arc<Compound>) -> Result<Status> {
    match &**compound {
        Compound::Persistent(persistent) => {
            let inner = persistent.active.lock().take();
            inner.map_or(Ok(Status::EMPTY), |mut inner| finish(&mut inner))
        }
        Compound::Pair(pair) => {
            let sent = finish(&mut { pair.send })?;
            let received = finish(&mut { pair.receive })?;
            process().compounds.remove(request.0);
            drop(pair.outgoing.lock().take());
            *request = Request::NULL;
            let failed = received.class == Class::Success && sent.class != Class::Success;
            Ok(if failed {
                Status {
                    class: sent.class,
                    code: sent.code,
                    ..received
                }
            } else {
                received
            })
        }
        Compound::Generalized(generalized) => {
            let status = generalized.finish(*request);
            *request = Request::NULL;
            Ok(status)
        }
        Compound::Partitioned(partitioned) => Ok(partitioned.finish()),
        Compound::Flush(id) => {
            process().engine.finish(*id);
            process().compounds.remove(request.0);
            *request = Request::NULL;
            Ok(Status::EMPTY)
        }
    }
}

/// `MPI_Wait`.
#[inline(always)]
pub fn wait(request: &mut Request) -> Result<Status> {
    if *request == Request::done() {
        *request = Request::NULL;
        return Ok(Status::EMPTY);
    }
    wait_pending(request)
}

#[inline]
fn wait_pending(request: &mut Request) -> Result<Status> {
    if let Some(id) = request.as_engine() {
        let engine = &process().engine;
        let finished = engine
            .finish_complete(id)
            .or_else(|| engine.wait_existing(id));
        if let Some(status) = finished {
            *request = Request::NULL;
            return Ok(Status::of(status));
        }
    }
    wait_form(request)
}

fn wait_form(request: &mut Request) -> Result<Status> {
    let mut ids = Vec::new();
    loop {
        match state(*request)? {
            State::Inactive => return Ok(Status::EMPTY),
            State::Complete => return finish(request),
            State::Pending => {
                ids.clear();
                parts(*request, &mut ids)?;
                // Empty if all have completed since.
                if !ids.is_empty() {
                    process().engine.wait_any(&ids);
                }
            }
        }
    }
}

/// `MPI_Test`: progresses once if the request is pending.
#[inline]
pub fn test(request: &mut Request) -> Result<Option<Status>> {
    Ok(match peek(*request)? {
        State::Inactive => Some(Status::EMPTY),
        State::Complete => Some(finish(request)?),
        State::Pending => None,
    })
}

/// A request's state, progress having been made if it is pending.
fn peek(request: Request) -> Result<State> {
    match state(request)? {
        State::Pending => {
            process().engine.progress();
            state(request)
        }
        other => Ok(other),
    }
}

/// `MPI_Request_get_status`: as `MPI_Test`, but the request stays.
pub fn status(request: Request) -> Result<Option<Status>> {
    match peek(request)? {
        State::Inactive => Ok(Some(Status::EMPTY)),
        State::Pending => Ok(None),
        State::Complete => outcome(request).map(Some),
    }
}

/// The outcome of a complete request.
fn outcome(request: Request) -> Result<Status> {
    Ok(match request.form()? {
        Form::Null | Form::Done => Status::EMPTY,
        Form::FromNull => Status::FROM_NULL,
        Form::Engine(id) => Status::of(process().engine.status(id)),
        Form::Compound(compound) => match &*compound {
            Compound::Persistent(persistent) => {
                let active = *persistent.active.lock();
                active.map_or(Ok(Status::EMPTY), outcome)?
            }
            Compound::Pair(pair) => outcome(pair.receive)?,
            Compound::Generalized(generalized) => generalized.query()?,
            Compound::Partitioned(partitioned) => partitioned.outcome(),
            Compound::Flush(_) => Status::EMPTY,
        },
    })
}

/// The error of a call on several requests of which some failed: their statuses tell (MPI-5.0 §3.7.5).
fn in_status(failed: Option<Status>) -> Result<()> {
    let Some(status) = failed else { return Ok(()) };
    let first = status.check().expect_err("a failed one is given");
    let message = format!("of several requests at least one failed: {first}");
    Err(Error::new(Class::InStatus, message).on(first.comm))
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
pub fn wait_all_quietly(requests: &mut [Request]) -> Result<()> {
    let engine = &process().engine;
    let mut failed = None;
    for request in requests {
        let quiet = *request == Request::done()
            || request
                .as_engine()
                .is_some_and(|id| engine.finish_quietly(id));
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
        Any::Pending => {
            process().engine.progress();
            scan(requests)
        }
        other => Ok(other),
    }
}

fn scan(requests: &[Request]) -> Result<Any> {
    let mut found = Any::NoneActive;
    for (index, &request) in requests.iter().enumerate() {
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
    let mut ids = Vec::new();
    loop {
        match scan(requests)? {
            Any::Pending => {}
            other => return Ok(other),
        }
        ids.clear();
        for &request in requests {
            let mut own = Vec::new();
            parts(request, &mut own)?;
            ids.append(&mut own);
        }
        // Empty if all have completed since: then the next scan finds one.
        if !ids.is_empty() {
            process().engine.wait_any(&ids);
        }
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

/// `MPI_Request_free`: an active operation goes on, and nobody will ask for its outcome.
pub fn free(request: &mut Request) -> Result<()> {
    operation::check_not_under_way(active(*request)?, "freed")?;
    match request.form()? {
        Form::Null => return Err(argument(Class::Request, "request", "MPI_REQUEST_NULL")),
        Form::Done | Form::FromNull => {}
        Form::Engine(id) => process().engine.detach(id),
        Form::Compound(compound) => {
            if let Compound::Partitioned(partitioned) = &*compound {
                partitioned.check_free()?;
            }
            if let Compound::Generalized(generalized) = &*compound {
                // The handle stays for the call that completes it.
                let freed = generalized.free(*request);
                *request = Request::NULL;
                return freed;
            }
            process().compounds.remove(request.0);
            free_parts(&compound)?;
        }
    }
    *request = Request::NULL;
    Ok(())
}

/// The request under way that a persistent one stands for, or itself.
fn active(request: Request) -> Result<Request> {
    if let Form::Compound(compound) = request.form()?
        && let Compound::Persistent(persistent) = &*compound
    {
        return Ok(persistent.active.lock().unwrap_or(Request::NULL));
    }
    Ok(request)
}

fn free_parts(compound: &Arc<Compound>) -> Result<()> {
    match &**compound {
        Compound::Persistent(persistent) => {
            let active = persistent.active.lock().take();
            active.map_or(Ok(()), |mut inner| free(&mut inner))
        }
        Compound::Pair(pair) => {
            free(&mut { pair.receive })?;
            match pair.outgoing.lock().take() {
                Some(outgoing) => {
                    linger(pair.send, outgoing);
                    Ok(())
                }
                None => free(&mut { pair.send }),
            }
        }
        Compound::Partitioned(partitioned) => {
            partitioned.forget();
            Ok(())
        }
        Compound::Flush(id) => {
            process().engine.detach(*id);
            Ok(())
        }
        Compound::Generalized(_) => Ok(()),
    }
}

/// Keeps the data of a request that nobody asks for until it is complete; lets go of those that are.
pub(crate) fn linger(request: Request, data: impl Send + 'static) {
    if request == Request::done() {
        return;
    }
    let mut lingering = process().lingering.lock();
    lingering.push((request, Box::new(data)));
    lingering.retain_mut(|(send, _)| match send.as_engine() {
        Some(id) if id != RequestId::DONE && !process().engine.is_complete(id) => true,
        _ => {
            // It is complete; there is nobody to tell.
            let _ = free(send);
            false
        }
    });
}

/// `MPI_Cancel`.
pub fn cancel(request: Request) -> Result<()> {
    operation::check_not_under_way(request, "cancelled")?;
    match request.form()? {
        Form::Null => Err(argument(Class::Request, "request", "MPI_REQUEST_NULL")),
        Form::Done | Form::FromNull => Ok(()),
        Form::Engine(id) => {
            process().engine.cancel(id);
            Ok(())
        }
        Form::Compound(compound) => match &*compound {
            Compound::Persistent(persistent) => {
                let active = *persistent.active.lock();
                active.map_or(Err(argument(Class::Request, "request", "inactive")), cancel)
            }
            Compound::Pair(_) => Err(argument(
                Class::Request,
                "request",
                "a send-receive cannot be cancelled",
            )),
            Compound::Generalized(generalized) => generalized.cancel(),
            Compound::Partitioned(_) => Err(argument(
                Class::Request,
                "request",
                "a partitioned operation cannot be cancelled",
            )),
            Compound::Flush(_) => Err(argument(
                Class::Request,
                "request",
                "a flush cannot be cancelled",
            )),
        },
    }
}

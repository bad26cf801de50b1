//! What a request is now, and what it waits for.

use weft_engine::RequestId;
use weft_error::Result;
use weft_process::engine::engine;

use crate::compound::{Compound, Form};
use crate::partitioned::Stage;
use crate::request::Request;

/// What a request is now.
pub(super) enum State {
    /// Null or inactive: nothing to wait for.
    Inactive,
    Pending,
    Complete,
}

pub(super) fn state(request: Request) -> Result<State> {
    let engine = engine();
    Ok(match request.form()? {
        Form::Null => State::Inactive,
        Form::Done | Form::FromNull => State::Complete,
        Form::Engine(id) if engine.is_complete(id) => State::Complete,
        Form::Engine(_) => State::Pending,
        Form::Compound(compound) => match &*compound {
            Compound::Persistent(persistent) => match persistent.active() {
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

/// A request of the engine's that a pending request waits for; none if it is complete. One suffices: when it completes, the
/// request is looked at again.
pub(super) fn part(request: Request) -> Result<Option<RequestId>> {
    let engine = engine();
    Ok(match request.form()? {
        Form::Null | Form::Done | Form::FromNull => None,
        Form::Engine(id) => (!engine.is_complete(id)).then_some(id),
        Form::Compound(compound) => match &*compound {
            Compound::Persistent(persistent) => match persistent.active() {
                Some(inner) => part(inner)?,
                None => None,
            },
            Compound::Pair(pair) => match part(pair.receive)? {
                Some(id) => Some(id),
                None => part(pair.send)?,
            },
            Compound::Generalized(generalized) => Some(generalized.awaited()?),
            Compound::Partitioned(partitioned) => partitioned.part(),
            Compound::Flush(id) => Some(*id),
        },
    })
}

/// A request's state, progress having been made if it is pending.
pub(super) fn peek(request: Request) -> Result<State> {
    match state(request)? {
        State::Pending if engine().progress_for_poll() => state(request),
        found => Ok(found),
    }
}

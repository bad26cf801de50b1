//! What a request is now, and what it waits for.

use weft_engine::RequestId;

use crate::error::Result;
use crate::messages::compound::{Compound, Form};
use crate::messages::partitioned::Stage;
use crate::objects::request::Request;
use crate::process::engine::engine;

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
pub(super) fn parts(request: Request, out: &mut Vec<RequestId>) -> Result<()> {
    let engine = engine();
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

/// A request's state, progress having been made if it is pending.
pub(super) fn peek(request: Request) -> Result<State> {
    match state(request)? {
        State::Pending => {
            engine().progress();
            state(request)
        }
        other => Ok(other),
    }
}

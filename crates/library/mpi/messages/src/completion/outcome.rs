//! The outcome of a complete request: taken, which ends the request, or looked at.

use weft_error::{Class, Result};
use weft_process::engine::engine;

use crate::compound::{COMPOUNDS, Compound, Form};
use crate::request::{Request, Status};

/// Finishes a complete request: its handle becomes null, or a persistent one inactive.
pub(super) fn finish(request: &mut Request) -> Result<Status> {
    let engine = engine();
    let form = request.form()?;
    let status = match form {
        Form::Null | Form::Done => Status::EMPTY,
        Form::FromNull => Status::FROM_NULL,
        Form::Engine(id) => Status::from_engine(engine.finish(id)),
        Form::Compound(compound) => return finish_compound(request, &compound),
    };
    *request = Request::NULL;
    Ok(status)
}

fn finish_compound(request: &mut Request, compound: &Compound) -> Result<Status> {
    match compound {
        Compound::Persistent(persistent) => {
            let inner = persistent.end();
            match inner {
                Some(mut inner) => finish(&mut inner),
                None => Ok(Status::EMPTY),
            }
        }
        Compound::Pair(pair) => {
            let sent = finish(&mut { pair.send })?;
            let received = finish(&mut { pair.receive })?;
            COMPOUNDS.remove(request.0);
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
            let status = generalized.finish();
            COMPOUNDS.remove(request.0);
            *request = Request::NULL;
            Ok(status)
        }
        Compound::Partitioned(partitioned) => Ok(partitioned.finish()),
        Compound::Flush(id) => {
            engine().finish(*id);
            COMPOUNDS.remove(request.0);
            *request = Request::NULL;
            Ok(Status::EMPTY)
        }
    }
}

/// The outcome of a complete request.
pub(super) fn outcome(request: Request) -> Result<Status> {
    Ok(match request.form()? {
        Form::Null | Form::Done => Status::EMPTY,
        Form::FromNull => Status::FROM_NULL,
        Form::Engine(id) => Status::from_engine(engine().status(id)),
        Form::Compound(compound) => match &*compound {
            Compound::Persistent(persistent) => {
                let active = persistent.active();
                active.map_or(Ok(Status::EMPTY), outcome)?
            }
            Compound::Pair(pair) => outcome(pair.receive)?,
            Compound::Generalized(generalized) => generalized.query()?,
            Compound::Partitioned(partitioned) => partitioned.outcome(),
            Compound::Flush(_) => Status::EMPTY,
        },
    })
}

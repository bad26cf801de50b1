//! Requests that no call completes: freed (MPI-5.0 §3.7.3), cancelled (§3.8.4), or let go of by the library.

use weft_error::{Class, Result, argument};
use weft_process::engine::engine;

use crate::compound::{COMPOUNDS, Compound, Form};
use crate::lingering::linger;
use crate::operation;
use crate::request::Request;

/// `MPI_Request_free`: an active operation goes on, and no call will ask for its outcome.
pub fn free(request: &mut Request) -> Result<()> {
    operation::check_not_under_way(active(*request)?, "freed")?;
    match request.form()? {
        Form::Null => return Err(argument(Class::Request, "request", "MPI_REQUEST_NULL")),
        Form::Done | Form::FromNull => {}
        Form::Engine(id) => engine().detach(id),
        Form::Compound(compound) => {
            if let Compound::Partitioned(partitioned) = &*compound {
                partitioned.check_free()?;
            }
            if let Compound::Generalized(generalized) = &*compound {
                // The handle stays for the call that completes it.
                let freed = match generalized.free()? {
                    true => generalized.end_as(*request),
                    false => Ok(()),
                };
                *request = Request::NULL;
                return freed;
            }
            COMPOUNDS.remove(request.0);
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
        return Ok(persistent.active().unwrap_or(Request::NULL));
    }
    Ok(request)
}

fn free_parts(compound: &Compound) -> Result<()> {
    match compound {
        Compound::Persistent(persistent) => {
            let active = persistent.end();
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
            engine().detach(*id);
            Ok(())
        }
        Compound::Generalized(_) => Ok(()),
    }
}

/// `MPI_Cancel`.
pub fn cancel(request: Request) -> Result<()> {
    operation::check_not_under_way(request, "cancelled")?;
    match request.form()? {
        Form::Null => Err(argument(Class::Request, "request", "MPI_REQUEST_NULL")),
        Form::Done | Form::FromNull => Ok(()),
        Form::Engine(id) => {
            engine().cancel(id);
            Ok(())
        }
        Form::Compound(compound) => match &*compound {
            Compound::Persistent(persistent) => {
                let active = persistent.active();
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

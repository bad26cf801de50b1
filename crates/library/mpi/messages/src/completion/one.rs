//! `MPI_Wait`, `MPI_Test` and `MPI_Request_get_status`.

use weft_error::Result;
use weft_process::engine::engine;

use super::outcome::{finish, outcome};
use super::state::{State, part, peek, state};
use crate::request::{Request, Status};

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
        let engine = engine();
        let finished = engine
            .finish_complete(id)
            .or_else(|| engine.wait_existing(id));
        if let Some(status) = finished {
            *request = Request::NULL;
            return Ok(Status::from_engine(status));
        }
    }
    wait_form(request)
}

fn wait_form(request: &mut Request) -> Result<Status> {
    loop {
        match state(*request)? {
            State::Inactive => return Ok(Status::EMPTY),
            State::Complete => return finish(request),
            State::Pending => {
                // None if it has completed since.
                if let Some(id) = part(*request)? {
                    engine().wait_any(&[id]);
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

/// `MPI_Request_get_status`: as `MPI_Test`, but the request stays.
pub fn status(request: Request) -> Result<Option<Status>> {
    match peek(request)? {
        State::Inactive => Ok(Some(Status::EMPTY)),
        State::Pending => Ok(None),
        State::Complete => outcome(request).map(Some),
    }
}

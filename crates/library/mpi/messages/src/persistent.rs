//! Persistent requests (MPI-5.0 §3.9).

use weft_error::{Class, Result, argument};
use weft_handle::CommId;
use weft_objects::types::Buffer;

use crate::compound::{Compound, Form, Persistent};
use crate::point_to_point::{Mode, prepare_receive, prepare_send};
use crate::request::Request;

/// `MPI_Send_init` and its modes.
pub fn send_init(buffer: Buffer, dest: i32, tag: i32, comm: CommId, mode: Mode) -> Result<Request> {
    register(prepare_send(buffer, dest, tag, comm, mode)?)
}

/// `MPI_Recv_init`.
pub fn receive_init(buffer: Buffer, source: i32, tag: i32, comm: CommId) -> Result<Request> {
    register(prepare_receive(buffer, source, tag, comm)?)
}

/// An inactive request that starts so.
pub fn register(start: Box<dyn Fn() -> Result<Request> + Send + Sync>) -> Result<Request> {
    Compound::Persistent(Persistent::new(start)).register()
}

/// `MPI_Start`.
pub fn start(request: Request) -> Result<()> {
    let Form::Compound(compound) = request.form()? else {
        return Err(argument(
            Class::Request,
            "request",
            "not a persistent request",
        ));
    };
    let persistent = match &*compound {
        Compound::Persistent(persistent) => persistent,
        Compound::Partitioned(partitioned) => return partitioned.start(),
        _ => {
            return Err(argument(
                Class::Request,
                "request",
                "not a persistent request",
            ));
        }
    };
    match persistent.start()? {
        true => Ok(()),
        false => Err(argument(Class::Request, "request", "active already")),
    }
}

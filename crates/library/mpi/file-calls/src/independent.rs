//! Accesses of one process by itself (MPI-5.0 §14.4.2 to §14.4.4): blocking, and with a request.

use weft_engine::Status as EngineStatus;
use weft_error::Result;
use weft_handle::FileId;
use weft_messages::operation::outcome;
use weft_messages::request::{Request, Status};
use weft_objects::comm::Traffic;
use weft_objects::types::Buffer;
use weft_process::engine::engine;

use super::access::{Access, Unplaced};
use super::form::{Direction, Positioning};
use super::pool;

/// `MPI_File_read`, `MPI_File_write_at` and their kin.
pub fn transfer(
    id: FileId,
    direction: Direction,
    positioning: Positioning,
    buffer: Buffer,
) -> Result<Status> {
    run(Unplaced::new(id, direction, &buffer)?.placed(positioning)?)
}

fn run(access: Access) -> Result<Status> {
    let bytes = access.carry_out()?;
    access.finish(bytes)
}

/// `MPI_File_iread` and its kin. What the program's own functions convert is read and written in the call.
pub fn start(
    id: FileId,
    direction: Direction,
    positioning: Positioning,
    buffer: Buffer,
) -> Result<Request> {
    let access = Unplaced::new(id, direction, &buffer)?.placed(positioning)?;
    let comm = &access.file.comm;
    let request = engine().external_in(comm.lane(), comm.context(Traffic::Internal))?;
    let complete = move |status: EngineStatus| {
        engine().complete_external_with(request, status);
    };
    match access.seen.representation.calls_program() {
        true => complete(outcome(run(access))),
        false => pool::submit(move || complete(outcome(run(access)))),
    }
    Ok(Request::engine(request))
}

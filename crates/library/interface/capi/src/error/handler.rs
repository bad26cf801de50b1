//! Error handlers (MPI-5.0 §9.3).

use std::ffi::c_int;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_file_calls as file;
use weft_handle::{CommId, FileId, SessionId};
use weft_objects::handler::{self, Handler, Kind};
use weft_objects::{comm, session};

use crate::callback::ErrorFunction;
use crate::entry::Result;
use crate::handle::InOut;
use crate::output::Out;

#[mpi(Comm_create_errhandler)]
fn comm_create_errhandler(
    comm_errhandler_fn: ErrorFunction<MPI_Comm>,
    errhandler: Out<Handler>,
) -> Result<()> {
    errhandler.set(handler::create(Kind::Comm, comm_errhandler_fn.boxed()));
    Ok(())
}

#[mpi(Comm_get_errhandler)]
fn comm_get_errhandler(comm: CommId, errhandler: Out<Handler>) -> Result<()> {
    errhandler.set(comm::handler_of(comm)?);
    Ok(())
}

#[mpi(Comm_set_errhandler)]
fn comm_set_errhandler(comm: CommId, errhandler: Handler) -> Result<()> {
    comm::set_handler(comm, errhandler)
}

#[mpi(Comm_call_errhandler)]
fn comm_call_errhandler(comm: CommId, errorcode: c_int) -> Result<()> {
    comm::handler_of(comm)?.call(comm.handle(), errorcode, "MPI_Comm_call_errhandler");
    Ok(())
}

#[mpi(Win_create_errhandler)]
fn win_create_errhandler(
    win_errhandler_fn: ErrorFunction<MPI_Win>,
    errhandler: Out<Handler>,
) -> Result<()> {
    errhandler.set(handler::create(Kind::Window, win_errhandler_fn.boxed()));
    Ok(())
}

#[mpi(File_create_errhandler)]
fn file_create_errhandler(
    file_errhandler_fn: ErrorFunction<MPI_File>,
    errhandler: Out<Handler>,
) -> Result<()> {
    errhandler.set(handler::create(Kind::File, file_errhandler_fn.boxed()));
    Ok(())
}

#[mpi(File_get_errhandler)]
fn file_get_errhandler(file: Option<FileId>, errhandler: Out<Handler>) -> Result<()> {
    errhandler.set(file::handler_of(file)?);
    Ok(())
}

#[mpi(File_set_errhandler)]
fn file_set_errhandler(file: Option<FileId>, errhandler: Handler) -> Result<()> {
    file::set_handler(file, errhandler)
}

#[mpi(File_call_errhandler)]
fn file_call_errhandler(fh: Option<FileId>, errorcode: c_int) -> Result<()> {
    let number = fh.map_or(handler::NO_OBJECT, |file| file.0);
    file::handler_of(fh)?.call(number, errorcode, "MPI_File_call_errhandler");
    Ok(())
}

#[mpi(Session_create_errhandler)]
fn session_create_errhandler(
    session_errhandler_fn: ErrorFunction<MPI_Session>,
    errhandler: Out<Handler>,
) -> Result<()> {
    errhandler.set(handler::create(
        Kind::Session,
        session_errhandler_fn.boxed(),
    ));
    Ok(())
}

#[mpi(Session_get_errhandler)]
fn session_get_errhandler(session: SessionId, errhandler: Out<Handler>) -> Result<()> {
    errhandler.set(session::handler_of(session)?);
    Ok(())
}

#[mpi(Session_set_errhandler)]
fn session_set_errhandler(session: SessionId, errhandler: Handler) -> Result<()> {
    session::set_handler(session, errhandler)
}

#[mpi(Session_call_errhandler)]
fn session_call_errhandler(session: SessionId, errorcode: c_int) -> Result<()> {
    let handler = session::handler_of(session)?;
    handler.call(session.0, errorcode, "MPI_Session_call_errhandler");
    Ok(())
}

/// A predefined handler is handed out by `MPI_Comm_get_errhandler`, and so may be freed; it stays (MPI-5.0 §9.3.1).
#[mpi(Errhandler_free)]
fn errhandler_free(errhandler: InOut<Handler>) -> Result<()> {
    handler::free(&errhandler.get("errhandler")?)?;
    errhandler.clear();
    Ok(())
}

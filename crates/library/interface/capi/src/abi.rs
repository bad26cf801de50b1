//! Application binary interface (MPI-5.0 chapter 20). The integer forms of handles work at any time.

use std::ffi::c_int;
use std::ptr::without_provenance_mut;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_handle::InfoId;
use weft_handle::kind;
use weft_objects::info;

use crate::entry::Result;
use crate::integer;
use crate::output::Out;

#[mpi(Abi_get_version)]
fn abi_get_version(abi_major: Out<c_int>, abi_minor: Out<c_int>) -> Result<()> {
    abi_major.set(MPI_ABI_VERSION);
    abi_minor.set(MPI_ABI_SUBVERSION);
    Ok(())
}

/// The sizes of the ABI's integers, in bytes (MPI-5.0 §20.2).
#[mpi(Abi_get_info)]
fn abi_get_info(info: Out<InfoId>) -> Result<()> {
    let aint = size_of::<MPI_Aint>().to_string();
    let count = size_of::<MPI_Count>().to_string();
    let offset = size_of::<MPI_Offset>().to_string();
    info.set(info::create_with(&[
        (c"mpi_aint_size", &aint),
        (c"mpi_count_size", &count),
        (c"mpi_offset_size", &offset),
    ])?);
    Ok(())
}

/// The handle of a number, or the null handle if no object has it.
fn handle<T>(found: Option<usize>, null: *mut T) -> *mut T {
    found.map_or(null, without_provenance_mut)
}

#[mpi(Comm_toint)]
fn comm_toint(comm: MPI_Comm) -> c_int {
    integer::of_handle(comm.addr())
}

#[mpi(Comm_fromint)]
fn comm_fromint(comm: c_int) -> MPI_Comm {
    handle(integer::of_kind(kind::COMM, comm), MPI_COMM_NULL)
}

#[mpi(Group_toint)]
fn group_toint(group: MPI_Group) -> c_int {
    integer::of_handle(group.addr())
}

#[mpi(Group_fromint)]
fn group_fromint(group: c_int) -> MPI_Group {
    handle(integer::of_kind(kind::GROUP, group), MPI_GROUP_NULL)
}

#[mpi(Info_toint)]
fn info_toint(info: MPI_Info) -> c_int {
    integer::of_handle(info.addr())
}

#[mpi(Info_fromint)]
fn info_fromint(info: c_int) -> MPI_Info {
    handle(integer::of_kind(kind::INFO, info), MPI_INFO_NULL)
}

#[mpi(Message_toint)]
fn message_toint(message: MPI_Message) -> c_int {
    integer::of_handle(message.addr())
}

#[mpi(Message_fromint)]
fn message_fromint(message: c_int) -> MPI_Message {
    handle(integer::of_kind(kind::MESSAGE, message), MPI_MESSAGE_NULL)
}

#[mpi(Type_toint)]
fn type_toint(datatype: MPI_Datatype) -> c_int {
    integer::of_handle(datatype.addr())
}

#[mpi(Type_fromint)]
fn type_fromint(datatype: c_int) -> MPI_Datatype {
    handle(
        integer::of_kind(kind::DATATYPE, datatype),
        MPI_DATATYPE_NULL,
    )
}

#[mpi(Request_toint)]
fn request_toint(request: MPI_Request) -> c_int {
    integer::of_request(request.addr())
}

#[mpi(Request_fromint)]
fn request_fromint(request: c_int) -> MPI_Request {
    handle(integer::request(request), MPI_REQUEST_NULL)
}

#[mpi(Win_toint)]
fn win_toint(win: MPI_Win) -> c_int {
    integer::of_handle(win.addr())
}

#[mpi(Win_fromint)]
fn win_fromint(win: c_int) -> MPI_Win {
    handle(integer::of_kind(kind::WINDOW, win), MPI_WIN_NULL)
}

#[mpi(Errhandler_toint)]
fn errhandler_toint(errhandler: MPI_Errhandler) -> c_int {
    integer::of_handle(errhandler.addr())
}

#[mpi(Errhandler_fromint)]
fn errhandler_fromint(errhandler: c_int) -> MPI_Errhandler {
    handle(
        integer::of_kind(kind::ERRHANDLER, errhandler),
        MPI_ERRHANDLER_NULL,
    )
}

#[mpi(Session_toint)]
fn session_toint(session: MPI_Session) -> c_int {
    integer::of_handle(session.addr())
}

#[mpi(Session_fromint)]
fn session_fromint(session: c_int) -> MPI_Session {
    handle(integer::of_kind(kind::SESSION, session), MPI_SESSION_NULL)
}

#[mpi(Op_toint)]
fn op_toint(op: MPI_Op) -> c_int {
    integer::of_handle(op.addr())
}

#[mpi(Op_fromint)]
fn op_fromint(op: c_int) -> MPI_Op {
    handle(integer::of_kind(kind::OP, op), MPI_OP_NULL)
}

#[mpi(File_toint)]
fn file_toint(file: MPI_File) -> c_int {
    integer::of_handle(file.addr())
}

#[mpi(File_fromint)]
fn file_fromint(file: c_int) -> MPI_File {
    handle(integer::of_kind(kind::FILE, file), MPI_FILE_NULL)
}

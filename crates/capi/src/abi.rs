//! Application binary interface (MPI-5.0 chapter 20). The integer forms of handles work at any time.

use std::ffi::c_int;

use weft_abi::{
    MPI_ABI_SUBVERSION, MPI_ABI_VERSION, MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File,
    MPI_Group, MPI_INFO_NULL, MPI_Info, MPI_Message, MPI_Op, MPI_Request, MPI_Session, MPI_Win,
};
use weft_abi_macros::mpi;

use crate::argument::Out;
use crate::entry::Result;
use crate::handle::*;

#[mpi(Abi_get_version)]
fn abi_get_version(abi_major: Out<c_int>, abi_minor: Out<c_int>) -> Result<()> {
    abi_major.set(MPI_ABI_VERSION);
    abi_minor.set(MPI_ABI_SUBVERSION);
    Ok(())
}

/// No Fortran support: there is nothing to tell.
#[mpi(Abi_get_fortran_info)]
fn abi_get_fortran_info(info: Out<Info>) -> Result<()> {
    info.set(MPI_INFO_NULL.into());
    Ok(())
}

#[mpi(Comm_toint)]
fn comm_toint(comm: Comm) -> c_int {
    comm.to_int()
}

#[mpi(Comm_fromint)]
fn comm_fromint(comm: c_int) -> MPI_Comm {
    Comm::from_int(comm).to_c()
}

#[mpi(Errhandler_toint)]
fn errhandler_toint(errhandler: Errhandler) -> c_int {
    errhandler.to_int()
}

#[mpi(Errhandler_fromint)]
fn errhandler_fromint(errhandler: c_int) -> MPI_Errhandler {
    Errhandler::from_int(errhandler).to_c()
}

#[mpi(File_toint)]
fn file_toint(file: File) -> c_int {
    file.to_int()
}

#[mpi(File_fromint)]
fn file_fromint(file: c_int) -> MPI_File {
    File::from_int(file).to_c()
}

#[mpi(Group_toint)]
fn group_toint(group: Group) -> c_int {
    group.to_int()
}

#[mpi(Group_fromint)]
fn group_fromint(group: c_int) -> MPI_Group {
    Group::from_int(group).to_c()
}

#[mpi(Info_toint)]
fn info_toint(info: Info) -> c_int {
    info.to_int()
}

#[mpi(Info_fromint)]
fn info_fromint(info: c_int) -> MPI_Info {
    Info::from_int(info).to_c()
}

#[mpi(Message_toint)]
fn message_toint(message: Message) -> c_int {
    message.to_int()
}

#[mpi(Message_fromint)]
fn message_fromint(message: c_int) -> MPI_Message {
    Message::from_int(message).to_c()
}

#[mpi(Op_toint)]
fn op_toint(op: Op) -> c_int {
    op.to_int()
}

#[mpi(Op_fromint)]
fn op_fromint(op: c_int) -> MPI_Op {
    Op::from_int(op).to_c()
}

#[mpi(Request_toint)]
fn request_toint(request: Request) -> c_int {
    request.to_int()
}

#[mpi(Request_fromint)]
fn request_fromint(request: c_int) -> MPI_Request {
    Request::from_int(request).to_c()
}

#[mpi(Session_toint)]
fn session_toint(session: Session) -> c_int {
    session.to_int()
}

#[mpi(Session_fromint)]
fn session_fromint(session: c_int) -> MPI_Session {
    Session::from_int(session).to_c()
}

#[mpi(Type_toint)]
fn type_toint(datatype: Datatype) -> c_int {
    datatype.to_int()
}

#[mpi(Type_fromint)]
fn type_fromint(datatype: c_int) -> MPI_Datatype {
    Datatype::from_int(datatype).to_c()
}

#[mpi(Win_toint)]
fn win_toint(win: Win) -> c_int {
    win.to_int()
}

#[mpi(Win_fromint)]
fn win_fromint(win: c_int) -> MPI_Win {
    Win::from_int(win).to_c()
}

//! Making and freeing communicators (MPI-5.0 §7.4.2, §7.4.3).

use std::ffi::{CStr, c_int};

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_communicators::create;
use weft_communicators::duplicate::idup;
use weft_communicators::from_group::{self, CreationArguments};
use weft_communicators::split_type::{self, SplitType};
use weft_error::Class;
use weft_error::argument;
use weft_handle::{CommId, GroupId, InfoId};
use weft_lifetime as lifetime;
use weft_messages::Request;
use weft_objects::handler::Handler;

use crate::entry::Result;
use crate::handle::InOut;
use crate::output::Out;

#[mpi(Comm_dup)]
fn comm_dup(comm: CommId, newcomm: Out<CommId>) -> Result<()> {
    newcomm.set(create::dup(comm, None)?);
    Ok(())
}

#[mpi(Comm_dup_with_info)]
fn comm_dup_with_info(comm: CommId, info: Option<InfoId>, newcomm: Out<CommId>) -> Result<()> {
    newcomm.set(create::dup(comm, info)?);
    Ok(())
}

#[mpi(Comm_idup)]
fn comm_idup(comm: CommId, newcomm: Out<CommId>, request: Out<Request>) -> Result<()> {
    comm_idup_with_info(comm, None, newcomm, request)
}

#[mpi(Comm_idup_with_info)]
fn comm_idup_with_info(
    comm: CommId,
    info: Option<InfoId>,
    newcomm: Out<CommId>,
    request: Out<Request>,
) -> Result<()> {
    let (copy, under_way) = idup(comm, info)?;
    newcomm.set(copy);
    request.set(under_way);
    Ok(())
}

#[mpi(Comm_split)]
fn comm_split(comm: CommId, color: c_int, key: c_int, newcomm: Out<Option<CommId>>) -> Result<()> {
    let color = (color != MPI_UNDEFINED).then_some(color);
    newcomm.set(create::split(comm, color, key)?);
    Ok(())
}

#[mpi(Comm_split_type)]
fn comm_split_type(
    comm: CommId,
    split_type: c_int,
    key: c_int,
    info: Option<InfoId>,
    newcomm: Out<Option<CommId>>,
) -> Result<()> {
    let by = split_by(split_type)?;
    newcomm.set(split_type::split_type(comm, by, key, info)?);
    Ok(())
}

fn split_by(split_type: c_int) -> Result<SplitType> {
    match split_type {
        MPI_COMM_TYPE_SHARED => Ok(SplitType::Shared),
        MPI_COMM_TYPE_HW_GUIDED => Ok(SplitType::HardwareGuided),
        MPI_COMM_TYPE_HW_UNGUIDED => Ok(SplitType::HardwareUnguided),
        MPI_COMM_TYPE_RESOURCE_GUIDED => Ok(SplitType::ResourceGuided),
        MPI_UNDEFINED => Ok(SplitType::Undefined),
        other => {
            let what = format_args!("{other} is no type of split");
            Err(argument(Class::Arg, "split_type", what))
        }
    }
}

#[mpi(Comm_create)]
fn comm_create(comm: CommId, group: GroupId, newcomm: Out<Option<CommId>>) -> Result<()> {
    newcomm.set(create::create(comm, group)?);
    Ok(())
}

#[mpi(Comm_create_group)]
fn comm_create_group(
    comm: CommId,
    group: GroupId,
    tag: c_int,
    newcomm: Out<Option<CommId>>,
) -> Result<()> {
    newcomm.set(create::create_group(comm, group, tag)?);
    Ok(())
}

#[mpi(Comm_create_from_group)]
fn comm_create_from_group(
    group: GroupId,
    stringtag: &CStr,
    info: Option<InfoId>,
    errhandler: Handler,
    newcomm: Out<Option<CommId>>,
) -> Result<()> {
    let arguments = CreationArguments {
        string_tag: stringtag,
        info,
        handler: errhandler,
    };
    newcomm.set(from_group::create(group, arguments)?);
    Ok(())
}

#[mpi(Comm_free)]
fn comm_free(comm: InOut<CommId>) -> Result<()> {
    lifetime::comm::free(comm.get("comm")?)?;
    comm.clear();
    Ok(())
}

/// There are no dynamic processes, so nothing is connected that is not of one job (MPI-5.0 §11.10.4).
#[mpi(Comm_disconnect)]
fn comm_disconnect(comm: InOut<CommId>) -> Result<()> {
    lifetime::comm::disconnect(comm.get("comm")?)?;
    comm.clear();
    Ok(())
}

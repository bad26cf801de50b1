//! Inter-communicators (MPI-5.0 §7.6).

use std::ffi::{CStr, c_int};

use weft_abi_macros::mpi;
use weft_communicators::from_group::{self, CreationArguments, IntercommGroups};
use weft_communicators::intercomm::{self, Creation};
use weft_handle::{CommId, GroupId, InfoId};
use weft_objects::handler::Handler;
use weft_objects::{comm, group};

use crate::entry::Result;
use crate::handle::Deferred;
use crate::output::Out;

#[mpi(Comm_test_inter)]
fn comm_test_inter(comm: CommId, flag: Out<bool>) -> Result<()> {
    flag.set(comm::find(comm)?.local_and_remote().is_some());
    Ok(())
}

#[mpi(Comm_remote_size)]
fn comm_remote_size(comm: CommId, size: Out<c_int>) -> Result<()> {
    size.set(comm::find(comm)?.remote_group()?.size() as c_int);
    Ok(())
}

#[mpi(Comm_remote_group)]
fn comm_remote_group(comm: CommId, group: Out<GroupId>) -> Result<()> {
    let remote = comm::find(comm)?.remote_group()?.clone();
    group.set(group::register(remote)?);
    Ok(())
}

/// The peer communicator counts at the local leader only.
#[mpi(Intercomm_create)]
fn intercomm_create(
    local_comm: CommId,
    local_leader: c_int,
    peer_comm: Deferred<CommId>,
    remote_leader: c_int,
    tag: c_int,
    newintercomm: Out<CommId>,
) -> Result<()> {
    let creation = Creation {
        local_leader,
        peer: || peer_comm.get("peer_comm"),
        remote_leader,
        tag,
    };
    newintercomm.set(intercomm::create(local_comm, creation)?);
    Ok(())
}

#[mpi(Intercomm_merge)]
fn intercomm_merge(intercomm: CommId, high: bool, newintracomm: Out<CommId>) -> Result<()> {
    newintracomm.set(intercomm::merge(intercomm, high)?);
    Ok(())
}

/// The remote group counts at the local leader only.
#[mpi(Intercomm_create_from_groups)]
fn intercomm_create_from_groups(
    local_group: GroupId,
    local_leader: c_int,
    remote_group: Deferred<GroupId>,
    remote_leader: c_int,
    stringtag: &CStr,
    info: Option<InfoId>,
    errhandler: Handler,
    newintercomm: Out<Option<CommId>>,
) -> Result<()> {
    let groups = IntercommGroups {
        local: local_group,
        local_leader,
        remote: || remote_group.get("remote_group"),
        remote_leader,
    };
    let arguments = CreationArguments {
        string_tag: stringtag,
        info,
        handler: errhandler,
    };
    newintercomm.set(from_group::create_inter(groups, arguments)?);
    Ok(())
}

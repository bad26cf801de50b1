//! Going on after failures: beyond MPI-5.0, declared in `mpi-ext.h`. Each name that the Forum has voted stands twice.

use std::ffi::c_int;
use std::ptr::NonNull;

use weft_abi_macros::mpi;
use weft_handle::{CommId, GroupId};
use weft_messages::Request;
use weft_recovery as recovery;

use crate::argument::non_null;
use crate::entry::{FromC, Result};
use crate::output::{Later, Out};

/// A number that goes in, and whose place has the result in the end.
pub struct Flag {
    value: c_int,
    place: Out<c_int>,
}

impl FromC<*mut c_int> for Flag {
    unsafe fn from_c(raw: *mut c_int, name: &'static str) -> Result<Flag> {
        let place: NonNull<c_int> = non_null(raw, name)?;
        // SAFETY: by the caller of an MPI function, whose parameter it is.
        let value = unsafe { place.read() };
        // SAFETY: as above.
        let place = unsafe { Out::from_c(raw, name)? };
        Ok(Flag { value, place })
    }
}

/// What sets a place once the operation is complete.
fn later<T: crate::output::Output + 'static>(place: Out<T>) -> Box<dyn FnOnce(T) + Send> {
    let place: Later<T> = place.later();
    Box::new(move |value| place.set(value))
}

#[mpi(Comm_revoke)]
fn comm_revoke(comm: CommId) -> Result<()> {
    recovery::revoke(comm)
}

#[mpi(X_Comm_revoke)]
fn x_comm_revoke(comm: CommId) -> Result<()> {
    comm_revoke(comm)
}

#[mpi(Comm_is_revoked)]
fn comm_is_revoked(comm: CommId, flag: Out<bool>) -> Result<()> {
    flag.set(recovery::is_revoked(comm)?);
    Ok(())
}

#[mpi(X_Comm_is_revoked)]
fn x_comm_is_revoked(comm: CommId, flag: Out<bool>) -> Result<()> {
    comm_is_revoked(comm, flag)
}

#[mpi(Comm_get_failed)]
fn comm_get_failed(comm: CommId, failedgrp: Out<GroupId>) -> Result<()> {
    failedgrp.set(recovery::failed(comm)?);
    Ok(())
}

#[mpi(X_Comm_get_failed)]
fn x_comm_get_failed(comm: CommId, failedgrp: Out<GroupId>) -> Result<()> {
    comm_get_failed(comm, failedgrp)
}

#[mpi(Comm_ack_failed)]
fn comm_ack_failed(comm: CommId, num_to_ack: c_int, num_acked: Out<c_int>) -> Result<()> {
    num_acked.set(recovery::acknowledge(comm, num_to_ack)?);
    Ok(())
}

#[mpi(X_Comm_ack_failed)]
fn x_comm_ack_failed(comm: CommId, num_to_ack: c_int, num_acked: Out<c_int>) -> Result<()> {
    comm_ack_failed(comm, num_to_ack, num_acked)
}

#[mpi(X_Comm_failure_ack)]
fn x_comm_failure_ack(comm: CommId) -> Result<()> {
    recovery::acknowledge_all(comm)
}

#[mpi(X_Comm_failure_get_acked)]
fn x_comm_failure_get_acked(comm: CommId, failedgrp: Out<GroupId>) -> Result<()> {
    failedgrp.set(recovery::acknowledged(comm)?);
    Ok(())
}

#[mpi(X_Comm_agree)]
fn x_comm_agree(comm: CommId, flag: Flag) -> Result<()> {
    recovery::agree(comm, flag.value, later(flag.place))
}

#[mpi(X_Comm_iagree)]
fn x_comm_iagree(comm: CommId, flag: Flag, request: Out<Request>) -> Result<()> {
    request.set(recovery::iagree(comm, flag.value, later(flag.place))?);
    Ok(())
}

#[mpi(X_Comm_agree_failed)]
fn x_comm_agree_failed(comm: CommId, failedgrp: Out<GroupId>) -> Result<()> {
    recovery::agree_failed(comm, later(failedgrp))
}

#[mpi(X_Comm_iagree_failed)]
fn x_comm_iagree_failed(
    comm: CommId,
    failedgrp: Out<GroupId>,
    request: Out<Request>,
) -> Result<()> {
    request.set(recovery::iagree_failed(comm, later(failedgrp))?);
    Ok(())
}

#[mpi(X_Comm_shrink)]
fn x_comm_shrink(comm: CommId, newcomm: Out<CommId>) -> Result<()> {
    recovery::shrink(comm, later(newcomm))
}

#[mpi(X_Comm_ishrink)]
fn x_comm_ishrink(comm: CommId, newcomm: Out<CommId>, request: Out<Request>) -> Result<()> {
    request.set(recovery::ishrink(comm, later(newcomm))?);
    Ok(())
}

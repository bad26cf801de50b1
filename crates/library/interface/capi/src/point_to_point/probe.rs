//! Probing (MPI-5.0 §3.8).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::CommId;
use weft_messages::probe::{self, Message};

use crate::entry::Result;
use crate::output::Out;
use crate::status::OutStatus;

#[mpi(Probe)]
fn probe(source: c_int, tag: c_int, comm: CommId, status: OutStatus) -> Result<()> {
    status.complete(probe::probe(source, tag, comm)?)
}

#[mpi(Iprobe)]
fn iprobe(
    source: c_int,
    tag: c_int,
    comm: CommId,
    flag: Out<bool>,
    status: OutStatus,
) -> Result<()> {
    let found = probe::iprobe(source, tag, comm)?;
    flag.set(found.is_some());
    found.map_or(Ok(()), |found| status.complete(found))
}

#[mpi(Mprobe)]
fn mprobe(
    source: c_int,
    tag: c_int,
    comm: CommId,
    message: Out<Message>,
    status: OutStatus,
) -> Result<()> {
    let (found, outcome) = probe::mprobe(source, tag, comm)?;
    message.set(found);
    status.complete(outcome)
}

#[mpi(Improbe)]
fn improbe(
    source: c_int,
    tag: c_int,
    comm: CommId,
    flag: Out<bool>,
    message: Out<Message>,
    status: OutStatus,
) -> Result<()> {
    let found = probe::improbe(source, tag, comm)?;
    flag.set(found.is_some());
    let Some((found, outcome)) = found else {
        return Ok(());
    };
    message.set(found);
    status.complete(outcome)
}

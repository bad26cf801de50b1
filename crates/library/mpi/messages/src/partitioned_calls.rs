//! The calls of partitioned communication.

use std::sync::Arc;

use weft_error::{Class, Result, argument};
use weft_handle::CommId;
use weft_objects::PROC_NULL;
use weft_objects::comm::{self, CommReference};
use weft_objects::types::Buffer;
use weft_process::engine::engine;

use super::compound::{COMPOUNDS, Compound, Form};
use super::partitioned::{Partitioned, Receiving, Sending, check_partitions, whole};
use super::point_to_point::{check_receive_tag, check_send_tag, destination};
use crate::request::Request;

/// `MPI_Psend_init`.
pub fn send_init(
    buffer: Buffer,
    partitions: i32,
    dest: i32,
    tag: i32,
    comm: CommId,
) -> Result<Request> {
    let comm = CommReference::new(comm::share(comm)?);
    let partitions = check_partitions(partitions)?;
    check_send_tag(tag)?;
    let dest = destination(&comm, dest)?;
    let memory = whole(buffer, partitions)?.memory()?;
    let sending = Sending::new(comm, dest, memory, partitions, tag as u32)?;
    Compound::Partitioned(Partitioned::Send(sending)).register()
}

/// `MPI_Precv_init`. Wildcards are not allowed (MPI-5.0 §4.2.1).
pub fn receive_init(
    buffer: Buffer,
    partitions: i32,
    source: i32,
    tag: i32,
    comm: CommId,
) -> Result<Request> {
    let comm = CommReference::new(comm::share(comm)?);
    let partitions = check_partitions(partitions)?;
    check_receive_tag(tag)?;
    let source = match source {
        PROC_NULL => None,
        _ => Some(comm.check_rank(Class::Rank, "source", source)?),
    };
    let memory = whole(buffer, partitions)?.memory()?;
    let receiving = Receiving::new(comm, source, memory, partitions, tag)?;
    Compound::Partitioned(Partitioned::Receive(Arc::new(receiving))).register()
}

/// What a handle names, if it is a partitioned operation; none if it is null. Without a pin: threads mark partitions
/// all at once.
fn find(request: Request) -> Result<Option<&'static Partitioned>> {
    // SAFETY: the maker of the identifier has promised it (`Request::named`).
    let compound = unsafe { COMPOUNDS.lend(request.0) };
    if let Some(Compound::Partitioned(partitioned)) = compound {
        return Ok(Some(partitioned));
    }
    match request.form()? {
        Form::Null => Ok(None),
        _ => Err(argument(
            Class::Request,
            "request",
            "not a partitioned request",
        )),
    }
}

fn sending(request: Request) -> Result<&'static Sending> {
    match find(request)? {
        Some(Partitioned::Send(sending)) => Ok(sending),
        _ => Err(argument(
            Class::Request,
            "request",
            "not a partitioned send",
        )),
    }
}

/// `MPI_Pready`.
pub fn ready(partition: i32, request: Request) -> Result<()> {
    let sending = sending(request)?;
    sending.ready(sending.check("partition", partition)?)
}

/// `MPI_Pready_range`: both ends included.
pub fn ready_range(low: i32, high: i32, request: Request) -> Result<()> {
    let sending = sending(request)?;
    let low = sending.check("partition_low", low)?;
    let high = sending.check("partition_high", high)?;
    if low > high {
        let what = format_args!("{low} is above partition_high, {high}");
        return Err(argument(Class::Arg, "partition_low", what).on(sending.object()));
    }
    (low..=high).try_for_each(|partition| sending.ready(partition))
}

/// `MPI_Pready_list`.
pub fn ready_list(partitions: &[i32], request: Request) -> Result<()> {
    let sending = sending(request)?;
    for &partition in partitions {
        sending.check("array_of_partitions", partition)?;
    }
    partitions
        .iter()
        .try_for_each(|&partition| sending.ready(partition as u32))
}

/// `MPI_Parrived`: true for a null or inactive request (MPI-5.0 §4.2.2). Progresses once if it is not so yet.
pub fn arrived(request: Request, partition: i32) -> Result<bool> {
    let receiving = match find(request)? {
        None => return Ok(true),
        Some(Partitioned::Receive(receiving)) => receiving,
        Some(Partitioned::Send(_)) => {
            return Err(argument(
                Class::Request,
                "request",
                "not a partitioned receive",
            ));
        }
    };
    let partition = receiving.check(partition)?;
    if !receiving.is_active() {
        return Ok(true);
    }
    let arrived = || Ok(receiving.post()? && receiving.arrived(partition));
    if arrived()? {
        return Ok(true);
    }
    engine().progress_for_poll();
    arrived()
}

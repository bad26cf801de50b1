//! From all processes to all (MPI-5.0 §6.7, §6.8).

use weft_collective::inter::{self, Sides};
use weft_collective::{Blocks, Channel};
use weft_error::{OfBuffer, Result};
use weft_handle::CommId;
use weft_memory::Memory;
use weft_objects::comm::Comm;
use weft_objects::types::Buffer;

use super::blocks::{Layout, Types, Vectors};
use super::call::{Call, Form, Plan, comm as shared};
use super::peers::Peers;
use super::{check_apart, check_blocks_apart, not_in_place, optional_memory};
use super::{linear, short};

/// Nothing to send is `MPI_IN_PLACE`, which an inter-communicator does not have (MPI-5.0 §6.2.3).
fn check_in_place<T>(comm: &Comm, send: &Option<T>) -> Result<()> {
    match comm.local_and_remote() {
        Some(_) => not_in_place(send.as_ref(), "sendbuf").map(|_| ()),
        None => Ok(()),
    }
}

pub struct Allgather<'a> {
    send: Option<Memory>,
    receive: Layout<'a>,
}

/// `MPI_Allgather`.
#[inline]
pub fn allgather(
    form: Form,
    send: Option<Buffer>,
    receive: Buffer,
    comm: CommId,
) -> Result<Call<Allgather<'static>>> {
    if let Some(call) = Call::void(comm, &(&receive, &send)) {
        return Ok(call);
    }
    moving_allgather(form, send, receive, comm)
}

/// The same, where something may be moved. Out of line, so that calls of nothing do not prepare for it.
#[inline(never)]
fn moving_allgather(
    form: Form,
    send: Option<Buffer>,
    receive: Buffer,
    comm: CommId,
) -> Result<Call<Allgather<'static>>> {
    if let Some(call) = form.or_short(|| short::allgather(send.as_ref(), &receive, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    check_in_place(&comm, &send)?;
    let send = optional_memory(send).of_buffer("send")?;
    let receive = Layout::equal(receive, comm.peer_count()).of_buffer("recv")?;
    check_apart(send.as_ref(), &receive, comm.peer_count() as usize)?;
    Ok(Call::new(comm, Allgather { send, receive }))
}

/// `MPI_Allgatherv`.
#[inline]
pub fn allgatherv<'a>(
    form: Form,
    send: Option<Buffer>,
    receive: Vectors<'a>,
    comm: CommId,
) -> Result<Call<Allgather<'a>>> {
    if let Some(call) = Call::void(comm, &(&receive, &send)) {
        return Ok(call);
    }
    moving_allgatherv(form, send, receive, comm)
}

/// The same, where something may be moved. Out of line, so that calls of nothing do not prepare for it.
#[inline(never)]
fn moving_allgatherv<'a>(
    form: Form,
    send: Option<Buffer>,
    receive: Vectors<'a>,
    comm: CommId,
) -> Result<Call<Allgather<'a>>> {
    if let Some(call) = form.or_short(|| short::allgatherv(send.as_ref(), &receive, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    check_in_place(&comm, &send)?;
    let send = optional_memory(send).of_buffer("send")?;
    let receive = Layout::varying(receive, comm.peer_count()).of_buffer("recv")?;
    check_apart(send.as_ref(), &receive, comm.peer_count() as usize)?;
    Ok(Call::new(comm, Allgather { send, receive }))
}

impl Plan for Allgather<'_> {
    type Owned = Allgather<'static>;

    fn into_owned(self) -> Allgather<'static> {
        Allgather {
            send: self.send,
            receive: self.receive.into_owned(),
        }
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.receive.is_empty()
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        let send = self.send.clone();
        match self.receive.is_equal() {
            true => weft_collective::allgather(channel, send, &self.receive).await,
            false => weft_collective::allgatherv(channel, send, &self.receive).await,
        }
    }

    async fn between(&self, sides: &Sides<'_, Peers<'_>>) -> Result<()> {
        let send = not_in_place(self.send.clone(), "sendbuf")?;
        inter::allgather(sides, send, &self.receive).await
    }
}

pub struct Alltoall<'a> {
    send: Option<Layout<'a>>,
    receive: Layout<'a>,
}

/// `MPI_Alltoall`.
#[inline]
pub fn alltoall(
    form: Form,
    send: Option<Buffer>,
    receive: Buffer,
    comm: CommId,
) -> Result<Call<Alltoall<'static>>> {
    if let Some(call) = Call::void(comm, &(&receive, &send)) {
        return Ok(call);
    }
    moving_alltoall(form, send, receive, comm)
}

/// The same, where something may be moved. Out of line, so that calls of nothing do not prepare for it.
#[inline(never)]
fn moving_alltoall(
    form: Form,
    send: Option<Buffer>,
    receive: Buffer,
    comm: CommId,
) -> Result<Call<Alltoall<'static>>> {
    if let Some(call) = form.or_short(|| short::alltoall(send.as_ref(), &receive, comm)) {
        return Ok(call);
    }
    let comm = shared(comm)?;
    check_in_place(&comm, &send)?;
    let ranks = comm.peer_count();
    let send = send
        .map(|send| Layout::equal(send, ranks))
        .transpose()
        .of_buffer("send")?;
    let receive = Layout::equal(receive, ranks).of_buffer("recv")?;
    if let Some(send) = &send {
        check_blocks_apart(send, &receive, ranks as usize)?;
    }
    Ok(Call::new(comm, Alltoall { send, receive }))
}

/// `MPI_Alltoallv`.
#[inline]
pub fn alltoallv<'a>(
    form: Form,
    send: Option<Vectors<'a>>,
    receive: Vectors<'a>,
    comm: CommId,
) -> Result<Call<Alltoall<'a>>> {
    if let Some(call) = Call::void(comm, &(&receive, &send)) {
        return Ok(call);
    }
    if let Some(outcome) = form.or_through(|| linear::alltoallv(send.as_ref(), &receive, comm)) {
        return outcome;
    }
    let comm = shared(comm)?;
    check_in_place(&comm, &send)?;
    let ranks = comm.peer_count();
    let send = send
        .map(|send| Layout::varying(send, ranks))
        .transpose()
        .of_buffer("send")?;
    let receive = Layout::varying(receive, ranks).of_buffer("recv")?;
    if let Some(send) = &send {
        check_blocks_apart(send, &receive, ranks as usize)?;
    }
    Ok(Call::new(comm, Alltoall { send, receive }))
}

/// `MPI_Alltoallw`.
#[inline]
pub fn alltoallw<'a>(
    send: Option<Types<'a>>,
    receive: Types<'a>,
    comm: CommId,
) -> Result<Call<Alltoall<'a>>> {
    let comm = shared(comm)?;
    check_in_place(&comm, &send)?;
    let ranks = comm.peer_count();
    let send = send
        .map(|send| Layout::mixed(send, ranks))
        .transpose()
        .of_buffer("send")?;
    let receive = Layout::mixed(receive, ranks).of_buffer("recv")?;
    if let Some(send) = &send {
        check_blocks_apart(send, &receive, ranks as usize)?;
    }
    Ok(Call::new(comm, Alltoall { send, receive }))
}

impl Plan for Alltoall<'_> {
    type Owned = Alltoall<'static>;

    fn into_owned(self) -> Alltoall<'static> {
        Alltoall {
            send: self.send.map(Layout::into_owned),
            receive: self.receive.into_owned(),
        }
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.receive.is_equal() && self.receive.is_empty()
    }

    async fn within(&self, channel: &Channel<'_, Peers<'_>>) -> Result<()> {
        let send = self.send.as_ref().map(|send| send as &dyn Blocks);
        match self.receive.is_equal() {
            true => weft_collective::alltoall(channel, send, &self.receive).await,
            false => weft_collective::alltoallv(channel, send, &self.receive).await,
        }
    }

    async fn between(&self, sides: &Sides<'_, Peers<'_>>) -> Result<()> {
        let send = not_in_place(self.send.as_ref(), "sendbuf")?;
        inter::alltoall(sides, send, &self.receive).await
    }
}

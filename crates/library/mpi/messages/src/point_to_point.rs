//! Sending and receiving (MPI-5.0 chapter 3).

use parking_lot::Mutex;

use weft_engine::{ANYBODY, Incoming, Outgoing};
use weft_error::{Class, OfBuffer, Result, argument};
use weft_handle::CommId;
use weft_memory::Memory;
use weft_objects::comm::{Comm, CommReference, Traffic};
use weft_objects::types::{self, Buffer, TypeId};
use weft_objects::{ANY_SOURCE, ANY_TAG, PROC_NULL};
use weft_process::engine::engine;
use weft_transport::Peer;

use crate::compound::{Compound, Pair};
use crate::request::{Request, Status};
use crate::start::{
    UserMemory, route_from, route_to, start_receive, start_send, start_synchronous,
};
use crate::{buffered, completion};

/// When a send is complete (MPI-5.0 §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Standard,
    /// Its data are copied to the buffer that the program attached.
    Buffered,
    /// Once matched.
    Synchronous,
    /// The receive is posted already, by the program's promise.
    Ready,
}

/// A checked destination: none for `MPI_PROC_NULL`.
#[inline]
pub(crate) fn destination(comm: &Comm, dest: i32) -> Result<Option<u32>> {
    if dest == PROC_NULL {
        return Ok(None);
    }
    comm.check_rank(Class::Rank, "dest", dest).map(Some)
}

#[inline]
pub(crate) fn check_send_tag(tag: i32) -> Result<()> {
    if tag < 0 {
        return Err(argument(
            Class::Tag,
            "sendtag",
            format_args!("{tag} is negative"),
        ));
    }
    Ok(())
}

#[inline]
pub(crate) fn check_receive_tag(tag: i32) -> Result<()> {
    if tag < 0 {
        return Err(argument(
            Class::Tag,
            "recvtag",
            format_args!("{tag} is negative"),
        ));
    }
    Ok(())
}

/// A tag that is negative: none, or the wildcard, if the communicator's hints leave it.
#[cold]
fn check_any_tag(comm: &Comm, source: i32, tag: i32) -> Result<()> {
    match tag {
        ANY_TAG if source == PROC_NULL => Ok(()),
        ANY_TAG => comm.wildcards().check_tag(),
        _ => check_receive_tag(tag),
    }
}

/// A checked source and tag, as the engine wants them: negative is any. With the process that the source names; none for
/// `MPI_PROC_NULL`.
#[inline]
pub(crate) fn pattern(comm: &Comm, source: i32, tag: i32) -> Result<Option<(Peer, i32, i32)>> {
    let tag = match tag < 0 {
        true => check_any_tag(comm, source, tag).map(|()| -1)?,
        false => tag,
    };
    let peer = match source {
        ANY_SOURCE => comm.wildcards().check_source().map(|()| ANYBODY)?,
        PROC_NULL => return Ok(None),
        _ => comm.check_peer("source", source)?,
    };
    Ok(Some((peer, source, tag)))
}

/// Starts a send of checked arguments, of any mode.
fn start_in_mode(comm: &Comm, memory: Memory, dest: u32, tag: u32, mode: Mode) -> Result<Request> {
    let traffic = Traffic::PointToPoint;
    match mode {
        Mode::Buffered => buffered::send(comm, traffic, memory, dest, tag),
        Mode::Synchronous => start_synchronous(comm, traffic, memory, dest, tag),
        Mode::Standard | Mode::Ready => start_send(comm, traffic, memory, dest, tag),
    }
}

/// `MPI_Isend` and its modes.
#[inline(always)]
pub fn isend(buffer: Buffer, dest: i32, tag: i32, comm: CommId, mode: Mode) -> Result<Request> {
    let comm = weft_objects::comm::find(comm)?;
    check_send_tag(tag)?;
    match buffer.plain() {
        Some(memory) if mode != Mode::Buffered => {
            let Some(dest) = destination(comm, dest)? else {
                return Ok(Request::done());
            };
            let message = Outgoing {
                route: route_to(comm, Traffic::PointToPoint, dest, tag as u32)?,
                memory,
                synchronous: mode == Mode::Synchronous,
            };
            Ok(Request::engine(engine().send_span(message)?))
        }
        _ => {
            let (address, count, datatype) = (buffer.address, buffer.count, buffer.datatype);
            isend_general(address, count, datatype, dest, tag, comm, mode)
        }
    }
}

/// Out of line, so that on the way of plain buffers no [`Memory`] is written and read back; of a buffer's parts, so that
/// neither is a [`Buffer`].
#[inline(never)]
fn isend_general(
    address: *mut u8,
    count: i64,
    datatype: TypeId,
    dest: i32,
    tag: i32,
    comm: &Comm,
    mode: Mode,
) -> Result<Request> {
    let buffer = Buffer {
        address,
        count,
        datatype,
    };
    let memory = buffer.memory()?;
    match destination(comm, dest)? {
        Some(dest) => start_in_mode(comm, memory, dest, tag as u32, mode),
        None => Ok(Request::done()),
    }
}

/// `MPI_Send` and its modes.
#[inline(always)]
pub fn send(buffer: Buffer, dest: i32, tag: i32, comm: CommId, mode: Mode) -> Result<()> {
    let mut request = isend(buffer, dest, tag, comm, mode)?;
    if request == Request::done() {
        return Ok(());
    }
    completion::wait(&mut request)?.check()
}

/// `MPI_Irecv`.
#[inline(always)]
pub fn ireceive(buffer: Buffer, source: i32, tag: i32, comm: CommId) -> Result<Request> {
    let comm = weft_objects::comm::find(comm)?;
    let Some(memory) = buffer.plain() else {
        let Buffer {
            address,
            count,
            datatype,
        } = buffer;
        return ireceive_general(address, count, datatype, source, tag, comm);
    };
    let Some((peer, source, tag)) = pattern(comm, source, tag)? else {
        return Ok(Request::from_null());
    };
    let route = route_from(comm, Traffic::PointToPoint, peer, source, tag)?;
    let message = Incoming { route, memory };
    Ok(Request::engine(engine().receive_span(message)?))
}

/// The buffer in its parts, which pass in registers.
#[inline(never)]
fn ireceive_general(
    address: *mut u8,
    count: i64,
    datatype: TypeId,
    source: i32,
    tag: i32,
    comm: &Comm,
) -> Result<Request> {
    let memory = types::memory(address, count, datatype)?;
    match pattern(comm, source, tag)? {
        Some((_, source, tag)) => start_receive(comm, Traffic::PointToPoint, memory, source, tag),
        None => Ok(Request::from_null()),
    }
}

/// `MPI_Recv`: the status, whose check the caller makes once it is stored.
#[inline(always)]
pub fn receive(buffer: Buffer, source: i32, tag: i32, comm: CommId) -> Result<Status> {
    completion::wait(&mut ireceive(buffer, source, tag, comm)?)
}

/// One direction of a send-receive: buffer, partner, tag.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    pub buffer: Buffer,
    pub partner: i32,
    pub tag: i32,
}

/// `MPI_Sendrecv`. Both arguments are checked before anything starts.
pub fn send_receive(send: Direction, receive: Direction, comm: CommId) -> Result<Status> {
    let (mut outgoing, mut incoming) = start_both(send, receive, comm)?;
    let received = completion::wait(&mut incoming)?;
    completion::wait(&mut outgoing)?.check()?;
    Ok(received)
}

/// `MPI_Isendrecv`.
pub fn isend_receive(send: Direction, receive: Direction, comm: CommId) -> Result<Request> {
    let (outgoing, incoming) = start_both(send, receive, comm)?;
    Compound::Pair(Pair {
        send: outgoing,
        receive: incoming,
        outgoing: Mutex::new(None),
    })
    .register()
}

fn start_both(send: Direction, receive: Direction, comm: CommId) -> Result<(Request, Request)> {
    let comm_ref = weft_objects::comm::find(comm)?;
    check_send_tag(send.tag)?;
    destination(comm_ref, send.partner)?;
    send.buffer.memory().of_buffer("send")?;
    let incoming =
        ireceive(receive.buffer, receive.partner, receive.tag, comm).of_buffer("recv")?;
    let outgoing = isend(send.buffer, send.partner, send.tag, comm, Mode::Standard)?;
    Ok((outgoing, incoming))
}

/// Arguments of an exchange through one buffer: destination and tag, source and tag.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    pub dest: i32,
    pub send_tag: i32,
    pub source: i32,
    pub receive_tag: i32,
}

/// `MPI_Isendrecv_replace`: the outgoing data are copied first.
pub fn isend_receive_replace(buffer: Buffer, exchange: Exchange, comm: CommId) -> Result<Request> {
    let (pair, outgoing) = start_replace(buffer, exchange, comm)?;
    Compound::Pair(Pair {
        send: pair.0,
        receive: pair.1,
        outgoing: Mutex::new(Some(outgoing)),
    })
    .register()
}

/// `MPI_Sendrecv_replace`.
pub fn send_receive_replace(buffer: Buffer, exchange: Exchange, comm: CommId) -> Result<Status> {
    let ((mut send, mut receive), outgoing) = start_replace(buffer, exchange, comm)?;
    let received = completion::wait(&mut receive)?;
    let sent = completion::wait(&mut send)?;
    drop(outgoing);
    sent.check()?;
    Ok(received)
}

type Started = ((Request, Request), Box<[u8]>);

fn start_replace(buffer: Buffer, exchange: Exchange, comm: CommId) -> Result<Started> {
    let Exchange {
        dest,
        send_tag,
        source,
        receive_tag,
    } = exchange;
    let comm_ref = weft_objects::comm::find(comm)?;
    check_send_tag(send_tag)?;
    let dest = destination(comm_ref, dest)?;
    let memory = buffer.memory()?;
    let mut outgoing = weft_reserve::zeroed(memory.bytes)?.into_boxed_slice();
    // SAFETY: the caller's buffer, checked by `memory`, is valid for reads during the call; all of it is read.
    unsafe { memory.read(0, &mut outgoing) };
    let copy = Memory::contiguous(outgoing.as_mut_ptr(), outgoing.len());
    let incoming = ireceive(buffer, source, receive_tag, comm)?;
    let sent = match dest {
        Some(dest) => start_send(comm_ref, Traffic::PointToPoint, copy, dest, send_tag as u32)?,
        None => Request::done(),
    };
    Ok(((sent, incoming), outgoing))
}

/// Checks the arguments of a persistent send and keeps what starting it needs.
pub(crate) fn prepare_send(
    buffer: Buffer,
    dest: i32,
    tag: i32,
    comm: CommId,
    mode: Mode,
) -> Result<Box<dyn Fn() -> Result<Request> + Send + Sync>> {
    let comm = CommReference::new(weft_objects::comm::share(comm)?);
    check_send_tag(tag)?;
    let memory = UserMemory(buffer.memory()?);
    Ok(match destination(&comm, dest)? {
        Some(dest) => Box::new(move || start_in_mode(&comm, memory.get(), dest, tag as u32, mode)),
        None => Box::new(|| Ok(Request::done())),
    })
}

/// Checks the arguments of a persistent receive and keeps what starting it needs.
pub(crate) fn prepare_receive(
    buffer: Buffer,
    source: i32,
    tag: i32,
    comm: CommId,
) -> Result<Box<dyn Fn() -> Result<Request> + Send + Sync>> {
    let comm = CommReference::new(weft_objects::comm::share(comm)?);
    let memory = UserMemory(buffer.memory()?);
    Ok(match pattern(&comm, source, tag)? {
        Some((_, source, tag)) => {
            Box::new(move || start_receive(&comm, Traffic::PointToPoint, memory.get(), source, tag))
        }
        None => Box::new(|| Ok(Request::from_null())),
    })
}

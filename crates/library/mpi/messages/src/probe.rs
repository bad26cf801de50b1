//! Probing, and receiving what a matched probe found (MPI-5.0 §3.8).

use weft_engine::{RequestId, Wanted};
use weft_error::{Class, Result, argument};
use weft_handle::{CommId, kind};
use weft_objects::comm::Traffic;
use weft_objects::types::Buffer;
use weft_process::engine::engine;

use crate::point_to_point::pattern;
use crate::request::{Request, Status};

/// Names a message that a matched probe took, or the one from `MPI_PROC_NULL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message(pub u64);

impl Message {
    /// `MPI_MESSAGE_NO_PROC`: the ABI's number.
    pub const NO_PROC: Message = Message(0x129);

    fn of(id: RequestId) -> Message {
        Message(id.bits() | u64::from(kind::MESSAGE) << 60)
    }

    fn id(self) -> Result<RequestId> {
        let id = RequestId::from_bits(self.0 & ((1 << 60) - 1));
        let is_message = self.0 >> 60 == u64::from(kind::MESSAGE) && engine().is_extracted(id);
        is_message.then_some(id).ok_or_else(|| {
            argument(
                Class::Request,
                "message",
                "not a message, or one that was received before",
            )
        })
    }
}

/// None for `MPI_PROC_NULL`.
fn wanted(source: i32, tag: i32, comm: CommId) -> Result<Option<Wanted>> {
    let comm = weft_objects::comm::find(comm)?;
    let traffic = Traffic::PointToPoint;
    let wanted = |(peer, source, tag)| {
        let ranks = [source as u32, comm.rank()];
        let (lane, context) = comm.lane_and_context(traffic, ranks, tag as u32)?;
        Ok(Wanted {
            peer,
            lane,
            context,
            source,
            tag,
        })
    };
    pattern(comm, source, tag)?.map(wanted).transpose()
}

/// What a poll has found, after it made way for others if that is nothing.
fn polled<T>(found: Option<T>) -> Option<T> {
    if found.is_none() {
        engine().polled_in_vain();
    }
    found
}

/// `MPI_Iprobe`.
pub fn iprobe(source: i32, tag: i32, comm: CommId) -> Result<Option<Status>> {
    match wanted(source, tag, comm)? {
        Some(wanted) => Ok(polled(engine().probe(wanted)?).map(Status::from_engine)),
        None => Ok(Some(Status::FROM_NULL)),
    }
}

/// `MPI_Probe`.
pub fn probe(source: i32, tag: i32, comm: CommId) -> Result<Status> {
    match wanted(source, tag, comm)? {
        Some(wanted) => Ok(Status::from_engine(engine().probe_blocking(wanted)?)),
        None => Ok(Status::FROM_NULL),
    }
}

/// `MPI_Improbe`.
pub fn improbe(source: i32, tag: i32, comm: CommId) -> Result<Option<(Message, Status)>> {
    match wanted(source, tag, comm)? {
        Some(wanted) => {
            let found = polled(engine().extract(wanted)?);
            Ok(found.map(|(id, status)| (Message::of(id), Status::from_engine(status))))
        }
        None => Ok(Some((Message::NO_PROC, Status::FROM_NULL))),
    }
}

/// `MPI_Mprobe`.
pub fn mprobe(source: i32, tag: i32, comm: CommId) -> Result<(Message, Status)> {
    match wanted(source, tag, comm)? {
        Some(wanted) => {
            let (id, status) = engine().extract_blocking(wanted)?;
            Ok((Message::of(id), Status::from_engine(status)))
        }
        None => Ok((Message::NO_PROC, Status::FROM_NULL)),
    }
}

/// `MPI_Imrecv`.
pub fn imreceive(buffer: Buffer, message: Message) -> Result<Request> {
    let memory = buffer.memory()?;
    if message == Message::NO_PROC {
        return Ok(Request::from_null());
    }
    let id = message.id()?;
    Ok(Request::engine(engine().receive_extracted(id, memory)))
}

/// `MPI_Mrecv`: the status, whose check the caller makes once it is stored.
pub fn mreceive(buffer: Buffer, message: Message) -> Result<Status> {
    crate::completion::wait(&mut imreceive(buffer, message)?)
}

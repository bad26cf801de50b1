//! Starting a message of checked arguments.

use weft_engine::{ANYBODY, Incoming, Outgoing, Route};
use weft_error::Result;
use weft_memory::Memory;
use weft_objects::comm::{Comm, Traffic};
use weft_process::engine::engine;
use weft_transport::Peer;

use crate::request::Request;

/// Starts a send of checked arguments, in standard mode.
pub fn start_send(
    comm: &Comm,
    traffic: Traffic,
    memory: Memory,
    dest: u32,
    tag: u32,
) -> Result<Request> {
    start(comm, traffic, memory, [dest, tag], false)
}

/// The same in synchronous mode.
pub(crate) fn start_synchronous(
    comm: &Comm,
    traffic: Traffic,
    memory: Memory,
    dest: u32,
    tag: u32,
) -> Result<Request> {
    start(comm, traffic, memory, [dest, tag], true)
}

fn start(
    comm: &Comm,
    traffic: Traffic,
    memory: Memory,
    [dest, tag]: [u32; 2],
    synchronous: bool,
) -> Result<Request> {
    let message = Outgoing {
        route: route_to(comm, traffic, dest, tag)?,
        memory,
        synchronous,
    };
    Ok(Request::engine(engine().send(message)?))
}

#[inline(always)]
pub(crate) fn route_to(comm: &Comm, traffic: Traffic, dest: u32, tag: u32) -> Result<Route> {
    let rank = comm.rank();
    let (lane, context) = comm.lane_and_context(traffic, [rank, dest], tag)?;
    Ok(Route {
        lane,
        peer: comm.peer(dest),
        context,
        source: rank as i32,
        tag: tag as i32,
    })
}

/// Sends in place of a message that this process failed, by the number of the error's class.
#[cold]
pub fn start_failure(
    comm: &Comm,
    traffic: Traffic,
    dest: u32,
    tag: u32,
    class: u8,
) -> Result<Request> {
    let route = route_to(comm, traffic, dest, tag)?;
    let id = engine().send_failure(route, class)?;
    Ok(Request::engine(id))
}

/// Starts a receive of checked arguments; negative source or tag is any.
pub fn start_receive(
    comm: &Comm,
    traffic: Traffic,
    memory: Memory,
    source: i32,
    tag: i32,
) -> Result<Request> {
    let peer = u32::try_from(source).map_or(ANYBODY, |source| comm.peer(source));
    let route = route_from(comm, traffic, peer, source, tag)?;
    let message = Incoming { route, memory };
    Ok(Request::engine(engine().receive(message)?))
}

#[inline(always)]
pub fn route_from(
    comm: &Comm,
    traffic: Traffic,
    peer: Peer,
    source: i32,
    tag: i32,
) -> Result<Route> {
    let ranks = [source as u32, comm.rank()];
    let (lane, context) = comm.lane_and_context(traffic, ranks, tag as u32)?;
    Ok(Route {
        lane,
        peer,
        context,
        source,
        tag,
    })
}

/// Memory of a persistent request, the same at each start.
pub(crate) struct UserMemory(pub Memory);

impl UserMemory {
    pub fn get(&self) -> Memory {
        self.0.clone()
    }
}

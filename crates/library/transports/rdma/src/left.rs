//! What is left for a lane by those who make links.

use std::sync::Arc;

use weft_pools::xrc::SharedQueue;
use weft_transport::Peer;

use crate::parts::{LanePair, MadePair, Making, Memory};
use crate::receive_queue::ReceiveQueue;
use crate::routes::Routes;

/// A lane's link to a peer: there is one at most.
pub type Name = (Peer, u32);

/// Queue pairs (RC) of a link that stand.
pub struct Made {
    pub name: Name,
    pub pairs: Vec<MadePair>,
    /// The peer knows of it.
    pub is_open: bool,
}

/// What is left, of one rail.
pub enum Left {
    /// The first: what the lane has of the adapter.
    Parts(Arc<Making>, Memory),
    /// The next of its receive queues, before any link by which frames come into it.
    Queue(ReceiveQueue),
    Link(Made, Routes),
    /// The queue pair (XRC) to a host.
    Send {
        pair: LanePair,
        host: u64,
    },
    /// The queue pair (XRC) of that number is to be used no more.
    Gone(u32),
    /// Frames of a peer's come by the receive queue pair (XRC) of that number.
    Comes {
        peer: Peer,
        routes: Routes,
        receive: u32,
    },
    /// A peer is reached by a queue pair (XRC) that was left before, and has those queues.
    Reached {
        peer: Peer,
        routes: Routes,
        send: u32,
        queues: Vec<SharedQueue>,
    },
    /// No link to a peer is to be had by the rail.
    NoWay {
        peer: Peer,
        routes: Routes,
        why: String,
    },
    /// The rail's port is down.
    Down,
}

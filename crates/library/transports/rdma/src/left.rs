//! What is left for a lane by those who make links.

use std::sync::Arc;

use weft_pools::Pool;
use weft_pools::xrc::SharedQueue;
use weft_transport::Peer;

use crate::parts::{LanePair, MadePair, Making, Memory};
use crate::receive_queue::ReceiveQueue;

/// A lane's link to a peer: there is one at most.
pub type Name = (Peer, u32);

/// Queue pairs (RC) of a link that stand.
pub struct Made {
    pub name: Name,
    pub pairs: Vec<MadePair>,
    /// Of the peer, all through which it receives from this process: those that are not over XRC in the order of the queue pairs.
    pub pools: Vec<Pool>,
    /// The peer knows of it.
    pub is_open: bool,
}

pub enum Left {
    /// The first: what the lane has of the adapter.
    Parts(Arc<Making>, Memory),
    /// The next of its receive queues, before any link by which frames come into it.
    Queue(ReceiveQueue),
    Link(Made),
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
        pools: Vec<Pool>,
        receive: u32,
    },
    /// A peer is reached by a queue pair (XRC) that was left before, and has those queues.
    Reached {
        peer: Peer,
        pools: Vec<Pool>,
        send: u32,
        queues: Vec<SharedQueue>,
    },
}

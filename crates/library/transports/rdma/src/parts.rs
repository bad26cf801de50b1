//! What a lane has of the adapter: made when the lane first needs a link, outside of its section.

use weft_verbs::{
    Channel, CompletionQueue, ProtectionDomain, QueuePair, QueuePairAttributes, ReceiveList,
    SerialDomain, SharedReceiveQueue, ThreadDomain,
};

use crate::adapter::{Adapter, Unusable, unusable};
use crate::buffers::{RECEIVE_PIECES, Receives, Sends};

pub type LanePair = QueuePair<SerialDomain>;

/// Requests that may be under way to one peer.
pub const DEPTH: usize = 128;
/// Requests that may be under way from one lane: each may end with a completion, for all of which there is room.
pub const MOST_UNDER_WAY: usize = 2048;
/// An envelope, and a short payload.
const INLINE_BYTES: u32 = 128;
/// The number of a completion is a received piece's, with this bit, or counts the requests of its link.
pub const RECEIVED: u64 = 1 << 63;

/// What links are made in.
pub struct Making {
    domain: SerialDomain,
    pub protection: ProtectionDomain,
    pub completions: CompletionQueue,
    pub buffers: SharedReceiveQueue,
    pub channel: Channel,
}

/// What the lane's endpoint has, beside the queues.
pub struct Memory {
    pub sends: Sends,
    pub receives: Receives,
    /// Beside the lane's own, for its page of registers.
    pub unused: Vec<ThreadDomain>,
}

impl Making {
    /// For the next lane. Its receive buffers are posted.
    pub fn new(adapter: &Adapter, lane: u32) -> Result<(Making, Memory), Unusable> {
        let given = adapter.lane()?;
        let protection = given.domain;
        let context = protection.context().clone();
        let domain = match given.parent {
            None => SerialDomain::locked(protection.clone()),
            // SAFETY: a lane's queue pairs are posted to by its endpoint, which the holder of its section drives, and by nobody
            // else: `links` has them.
            Some(parent) => unsafe { SerialDomain::promised(parent) },
        };
        let channel = Channel::new(&context).map_err(unusable)?;
        channel.set_nonblocking().map_err(unusable)?;
        let entries = (MOST_UNDER_WAY + RECEIVE_PIECES) as u32;
        let completions = CompletionQueue::new(&context, entries, Some((&channel, lane.into())));
        let completions = completions.map_err(unusable)?;
        let buffers = SharedReceiveQueue::new(&protection, RECEIVE_PIECES as u32);
        let buffers = buffers.map_err(unusable)?;
        let memory = Memory {
            sends: Sends::new(&protection).map_err(unusable)?,
            receives: Receives::new(&protection).map_err(unusable)?,
            unused: given.unused,
        };
        let mut list = ReceiveList::with_room(RECEIVE_PIECES);
        for index in 0..RECEIVE_PIECES {
            memory
                .receives
                .push(index, RECEIVED | index as u64, &mut list);
        }
        buffers.post(&mut list).map_err(unusable)?;
        let making = Making {
            domain,
            protection,
            completions,
            buffers,
            channel,
        };
        Ok((making, memory))
    }

    /// A queue pair for one peer.
    pub fn queue_pair(&self) -> Result<LanePair, Unusable> {
        let attributes = QueuePairAttributes {
            send_depth: DEPTH as u32,
            inline_bytes: INLINE_BYTES,
            ..QueuePairAttributes::default()
        };
        let queue = || self.completions.clone();
        let pair = QueuePair::new(
            self.domain.clone(),
            queue(),
            queue(),
            Some(&self.buffers),
            &attributes,
        );
        pair.map_err(unusable)
    }
}

//! What a lane has of the adapter: made when the lane first needs a link, outside of its section.

use std::collections::BTreeMap;

use weft_pools::xrc::SharedQueue;
use weft_pools::{Kind, Pool, Pools, Reach};
use weft_sync::Section;
use weft_verbs::{
    Channel, CompletionQueue, Kind as PairKind, ProtectionDomain, QueuePair, QueuePairAttributes,
    SerialDomain, SharedReceiveQueue, ThreadDomain, XrcDomain,
};

use crate::adapter::{Adapter, MOST_UNDER_WAY, Unusable, unusable};
use crate::buffers::Sends;
use crate::receive_queue::ReceiveQueue;

pub type LanePair = QueuePair<SerialDomain>;

/// Requests that may be under way on one queue pair.
pub const DEPTH: usize = 128;
/// An envelope, and a short payload.
const INLINE_BYTES: u32 = 128;

/// The pools through which a process receives from a peer that reaches it so, by ascending size: each of the kind that it is then of.
pub fn selected(pools: &Pools, reach: Reach) -> Vec<Pool> {
    let selection = pools.toward(reach);
    let pool = |chosen: &weft_pools::Chosen| Pool {
        kind: chosen.kind,
        ..pools.all()[chosen.pool]
    };
    selection.pools().iter().map(pool).collect()
}

/// The lane's receive queues.
#[derive(Default)]
struct Queues {
    made: usize,
    /// By the pool, of the kind that peers reach it by.
    by_pool: BTreeMap<(u32, bool), SharedReceiveQueue>,
}

/// What links are made in.
pub struct Making {
    domain: SerialDomain,
    pub protection: ProtectionDomain,
    pub completions: CompletionQueue,
    pub channel: Channel,
    queues: Section<Queues>,
}

/// What the lane's endpoint has, beside the queues.
pub struct Memory {
    pub sends: Sends,
    /// Beside the lane's own, for its page of registers.
    pub unused: Vec<ThreadDomain>,
}

impl Making {
    /// For the next lane.
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
        let entries = MOST_UNDER_WAY as u32 + adapter.most_receives();
        let completions = CompletionQueue::new(&context, entries, Some((&channel, lane.into())));
        let memory = Memory {
            sends: Sends::new(&protection).map_err(unusable)?,
            unused: given.unused,
        };
        let making = Making {
            domain,
            protection,
            completions: completions.map_err(unusable)?,
            channel,
            queues: Section::new(Queues::default()),
        };
        Ok((making, memory))
    }

    /// Queue pairs (RC) for one peer: one for each shared pool, of this process or of the peer, whoever has more. That of a place
    /// receives from the own pool of that place. Receive queues that were not there before go to `made`.
    pub fn queue_pairs(
        &self,
        own: &[Pool],
        peer: &[Pool],
        made: &mut Vec<ReceiveQueue>,
    ) -> Result<Vec<LanePair>, Unusable> {
        let is_shared = |pool: &&Pool| pool.kind == Kind::Shared;
        let own: Vec<&Pool> = own.iter().filter(is_shared).collect();
        let count = peer.iter().filter(is_shared).count().max(own.len());
        let pair = |place: usize| {
            let pool = own.get(place).or(own.last());
            let queue = pool
                .map(|pool| self.receive_queue(pool, made))
                .transpose()?;
            self.queue_pair(queue.as_ref())
        };
        (0..count).map(pair).collect()
    }

    fn queue_pair(&self, receives: Option<&SharedReceiveQueue>) -> Result<LanePair, Unusable> {
        let attributes = QueuePairAttributes {
            send_depth: DEPTH as u32,
            inline_bytes: INLINE_BYTES,
            ..QueuePairAttributes::default()
        };
        let queue = || self.completions.clone();
        let pair = QueuePair::new(self.domain.clone(), queue(), queue(), receives, &attributes);
        pair.map_err(unusable)
    }

    /// A queue pair (XRC) to a host.
    pub fn send_pair(&self) -> Result<LanePair, Unusable> {
        let attributes = QueuePairAttributes {
            kind: PairKind::XrcSend,
            send_depth: DEPTH as u32,
            receive_depth: 0,
            inline_bytes: INLINE_BYTES,
            ..QueuePairAttributes::default()
        };
        let queue = || self.completions.clone();
        let pair = QueuePair::new(self.domain.clone(), queue(), queue(), None, &attributes);
        pair.map_err(unusable)
    }

    /// The receive queues for peers that reach this process over XRC, by ascending size.
    pub fn xrc_queues(
        &self,
        own: &[Pool],
        xrc: &XrcDomain,
        made: &mut Vec<ReceiveQueue>,
    ) -> Result<Vec<SharedQueue>, Unusable> {
        let over_xrc = own.iter().filter(|pool| pool.kind == Kind::Xrc);
        let queue = |pool: &Pool| {
            let (domain, completions) = (&self.protection, &self.completions);
            let queue = SharedReceiveQueue::in_xrc_domain(domain, xrc, completions, pool.count);
            let queue = self.add_queue(queue.map_err(unusable)?, pool, made)?;
            Ok(SharedQueue {
                bytes: pool.bytes,
                number: queue.number().map_err(unusable)?,
            })
        };
        over_xrc.map(queue).collect()
    }

    /// The queue of a pool; made with its first user.
    fn receive_queue(
        &self,
        pool: &Pool,
        made: &mut Vec<ReceiveQueue>,
    ) -> Result<SharedReceiveQueue, Unusable> {
        if let Some(known) = self.queues.enter().by_pool.get(&key(pool)) {
            return Ok(known.clone());
        }
        let queue = SharedReceiveQueue::new(&self.protection, pool.count).map_err(unusable)?;
        self.add_queue(queue, pool, made)
    }

    fn add_queue(
        &self,
        queue: SharedReceiveQueue,
        pool: &Pool,
        made: &mut Vec<ReceiveQueue>,
    ) -> Result<SharedReceiveQueue, Unusable> {
        let mut queues = self.queues.enter();
        let number = queues.made;
        made.push(ReceiveQueue::new(
            queue.clone(),
            number,
            pool,
            &self.protection,
        )?);
        queues.made += 1;
        queues.by_pool.insert(key(pool), queue.clone());
        Ok(queue)
    }
}

fn key(pool: &Pool) -> (u32, bool) {
    (pool.bytes, pool.kind == Kind::Xrc)
}

//! What a lane has of the adapter: made when the lane first needs a link, outside of its section.

use std::collections::BTreeMap;

use weft_pools::xrc::SharedQueue;
use weft_pools::{Pool, PoolKind};
use weft_sync::Section;
use weft_verbs::{
    Channel, CompletionQueue, ProtectionDomain, QpType, QueuePair, QueuePairAttributes,
    SerialDomain, SharedReceiveQueue, ThreadDomain, XrcDomain,
};

use crate::adapter::{Adapter, MOST_UNDER_WAY, Unusable, unusable};
use crate::buffers::Sends;
use crate::per_peer::PerPeer;
use crate::pool_pair::PoolPair;
use crate::receive_queue::ReceiveQueue;

pub type LanePair = QueuePair<SerialDomain>;

/// Requests that may be under way on one queue pair.
pub const DEPTH: usize = 128;
/// An envelope, and a short payload.
pub const INLINE_BYTES: u32 = 128;

/// A queue pair (RC) in the making, with the buffers of its own, if it has such.
pub struct MadePair {
    pub pair: LanePair,
    pub own: Option<PerPeer>,
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
    entries: Section<Entries>,
}

/// How many completions the lane's queue has room for, and how many may come.
struct Entries {
    room: u32,
    used: u32,
    /// Of the adapter's queues.
    most: u32,
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
            // else: `links` has them. Before that whoever makes one, and alone has it, posts its first receive buffers.
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
            entries: Section::new(Entries {
                room: entries,
                used: entries,
                most: adapter.most_entries,
            }),
        };
        Ok((making, memory))
    }

    /// Queue pairs (RC) for one peer. Shared receive queues that were not there before go to `made`.
    pub fn queue_pairs(
        &self,
        pools: &[PoolPair],
        made: &mut Vec<ReceiveQueue>,
    ) -> Result<Vec<MadePair>, Unusable> {
        self.make_room(pools.iter().map(PoolPair::own_buffers).sum())?;
        let pair = |pools: &PoolPair| {
            let shared = pools.own.filter(|own| own.kind == PoolKind::Shared);
            let shared = shared.map(|own| self.receive_queue(&own, made));
            Ok(MadePair {
                pair: self.queue_pair(shared.transpose()?.as_ref(), pools.own_buffers())?,
                own: PerPeer::new(&self.protection, pools)?,
            })
        };
        pools.iter().map(pair).collect()
    }

    fn queue_pair(
        &self,
        shared: Option<&SharedReceiveQueue>,
        own_buffers: u32,
    ) -> Result<LanePair, Unusable> {
        let attributes = QueuePairAttributes {
            send_depth: DEPTH as u32,
            receive_depth: own_buffers.max(1),
            inline_bytes: INLINE_BYTES,
            ..QueuePairAttributes::default()
        };
        let queue = || self.completions.clone();
        let pair = QueuePair::new(self.domain.clone(), queue(), queue(), shared, &attributes);
        pair.map_err(unusable)
    }

    /// Has the completion queue report so many receives more, of a link that is made. That of a peer that is lost stays: it is lost once.
    fn make_room(&self, receives: u32) -> Result<(), Unusable> {
        let mut entries = self.entries.enter();
        let used = entries.used.saturating_add(receives);
        if used > entries.room {
            let most = entries.most;
            if used > most {
                let what =
                    "receive pools of type P: this link's buffers are more than the adapter's";
                return Err(unusable(format_args!(
                    "{what} completion queue can report, {used} of {most}"
                )));
            }
            let room = used.saturating_mul(2).min(most);
            self.completions.resize(room).map_err(unusable)?;
            entries.room = room;
        }
        entries.used = used;
        Ok(())
    }

    /// A queue pair (XRC) to a host.
    pub fn send_pair(&self) -> Result<LanePair, Unusable> {
        let attributes = QueuePairAttributes {
            kind: QpType::XrcSend,
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
        let over_xrc = own.iter().filter(|pool| pool.kind == PoolKind::Xrc);
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
    (pool.bytes, pool.kind == PoolKind::Xrc)
}

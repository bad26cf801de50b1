//! Whose messages may come in a context: the engine asks when it has lost a process.

use parking_lot::RwLock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use weft_handle::CommId;
use weft_transport::Peer;

use super::traffic::number_of;
use crate::group::Group;

/// Communicators that are revoked before this process has made them, at most: what peers say is not to fill its memory.
const MOST_REVOKED: usize = 1 << 16;

/// The processes that a communicator's messages come from, by its number: from when it is made until the number is given
/// back, be its handle freed. Locked inside a lane's section, so nothing is done under the lock.
#[derive(Default)]
pub struct Members {
    senders: RwLock<BTreeMap<u32, Senders>>,
    /// The handles of communicators by all their numbers, from when they are made until the numbers are given back.
    handles: RwLock<BTreeMap<u32, CommId>>,
    /// Lost processes that the program has acknowledged.
    acknowledged: RwLock<BTreeMap<u32, Vec<Peer>>>,
    /// The numbers of those that are revoked.
    revoked: RwLock<BTreeSet<u32>>,
    /// Whether there is any: written after the number, read by those who look for one later.
    is_any_revoked: AtomicBool,
}

struct Senders {
    group: Group,
    /// This process's rank in the communicator.
    own: u32,
}

static MEMBERS: LazyLock<Arc<Members>> = LazyLock::new(Arc::default);

/// Of the communicators of this process.
pub fn members() -> &'static Arc<Members> {
    &MEMBERS
}

impl Members {
    /// This process has rank `own` in the communicator.
    pub fn bind(&self, number: u32, group: Group, own: u32) {
        self.senders.write().insert(number, Senders { group, own });
    }

    /// The communicator of a number has this handle.
    pub fn name(&self, number: u32, id: CommId) {
        self.handles.write().insert(number, id);
    }

    /// The handle of a number's communicator.
    pub fn handle(&self, number: u32) -> Option<CommId> {
        self.handles.read().get(&number).copied()
    }

    pub fn unname(&self, number: u32) {
        self.handles.write().remove(&number);
    }

    pub fn release(&self, number: u32) {
        self.senders.write().remove(&number);
        self.acknowledged.write().remove(&number);
        if self.is_any_revoked.load(Ordering::Acquire) {
            self.revoked.write().remove(&number);
        }
    }

    /// Receives from any source do without these processes, which are lost.
    pub fn acknowledge(&self, number: u32, peers: Vec<Peer>) {
        self.acknowledged.write().insert(number, peers);
    }

    /// A communicator that is not made here yet is revoked.
    pub fn revoke_early(&self, number: u32) {
        let are_few = self.revoked.read().len() < MOST_REVOKED;
        if are_few {
            self.revoke(number);
        }
    }

    pub fn is_number_revoked(&self, number: u32) -> bool {
        self.is_any_revoked.load(Ordering::Acquire) && self.revoked.read().contains(&number)
    }

    /// The communicator of that number is revoked.
    pub fn revoke(&self, number: u32) {
        self.revoked.write().insert(number);
        self.is_any_revoked.store(true, Ordering::Release);
    }
}

impl weft_engine::Members for Members {
    fn contains(&self, context: u32, peer: Peer) -> bool {
        let known = self.senders.read();
        // Of a communicator without a handle nothing is known. Receives from any source wait there for whoever may ask for something
        // (`window/far/server`), and for nobody's message.
        let senders = known.get(&number_of(context));
        senders.is_some_and(|senders| senders.group.rank_of(peer).is_some())
    }

    fn member(&self, context: u32, number: u32) -> Option<Peer> {
        let known = self.senders.read();
        known.get(&number_of(context))?.group.member(number)
    }

    fn count_and_own(&self, context: u32) -> (u32, u32) {
        let known = self.senders.read();
        let senders = known.get(&number_of(context));
        senders.map_or((0, 0), |senders| (senders.group.size(), senders.own))
    }

    fn is_acknowledged(&self, context: u32, peer: Peer) -> bool {
        let acknowledged = self.acknowledged.read();
        let peers = acknowledged.get(&number_of(context));
        peers.is_some_and(|peers| peers.contains(&peer))
    }

    fn is_revoked(&self, context: u32) -> bool {
        self.is_number_revoked(number_of(context))
    }

    fn is_any_revoked(&self) -> bool {
        self.is_any_revoked.load(Ordering::Acquire)
    }
}

//! Whose messages may come in a context: the engine asks when it has lost a process.

use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use weft_transport::Peer;

use super::traffic::number_of;
use crate::group::Group;

/// The processes that a communicator's messages come from, by its number: from when it is made until the number is given
/// back, be its handle freed. Locked inside a lane's section, so nothing is done under the lock.
#[derive(Default)]
pub struct Members(RwLock<BTreeMap<u32, Senders>>);

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
        self.0.write().insert(number, Senders { group, own });
    }

    pub fn release(&self, number: u32) {
        self.0.write().remove(&number);
    }
}

impl weft_engine::Members for Members {
    fn contains(&self, context: u32, peer: Peer) -> bool {
        let known = self.0.read();
        // Of a communicator without a handle nothing is known. Receives from any source wait there for whoever may ask for something
        // (`window/far/server`), and for nobody's message.
        let senders = known.get(&number_of(context));
        senders.is_some_and(|senders| senders.group.rank_of(peer).is_some())
    }

    fn member(&self, context: u32, number: u32) -> Option<Peer> {
        let known = self.0.read();
        known.get(&number_of(context))?.group.member(number)
    }

    fn count_and_own(&self, context: u32) -> (u32, u32) {
        let known = self.0.read();
        let senders = known.get(&number_of(context));
        senders.map_or((0, 0), |senders| (senders.group.size(), senders.own))
    }
}

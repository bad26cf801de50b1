//! Whose messages may come in a context: the engine asks when it has lost a process.

use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use weft_transport::Peer;

use super::traffic::number_of;
use crate::objects::group::Group;

/// The processes that a communicator's messages come from, by its number: from when it is made until the number is given
/// back, be its handle freed. Locked inside a lane's section, so nothing is done under the lock.
#[derive(Default)]
pub(crate) struct Members(RwLock<HashMap<u32, Group>>);

static MEMBERS: LazyLock<Arc<Members>> = LazyLock::new(Arc::default);

/// Of the communicators of this process.
pub(crate) fn members() -> &'static Arc<Members> {
    &MEMBERS
}

impl Members {
    pub fn bind(&self, number: u32, senders: Group) {
        self.0.write().insert(number, senders);
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
        senders.is_some_and(|senders| senders.rank_of(peer).is_some())
    }

    fn member(&self, context: u32, number: u32) -> Option<Peer> {
        self.0.read().get(&number_of(context))?.member(number)
    }
}

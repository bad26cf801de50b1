//! What is known of the other processes: which are in a communicator, and which are lost.

use std::collections::BTreeSet;
use std::time::Instant;

use parking_lot::Mutex;
use weft_transport::{Lost, Peer};

/// Whose messages may come in a context.
pub trait Members: Send + Sync {
    fn contains(&self, context: u32, peer: Peer) -> bool;

    /// The process of this number among them, from 0 on; none behind the last.
    fn member(&self, context: u32, number: u32) -> Option<Peer>;

    /// How many there are, and this process's own number among them, or in its own group where that is another one. Asked
    /// whenever a wait for any of them begins: it takes no look at each.
    fn count_and_own(&self, context: u32) -> (u32, u32);
}

/// Every process of a job.
pub(crate) struct Everyone {
    pub me: Peer,
    pub size: u32,
}

impl Members for Everyone {
    fn contains(&self, _: u32, peer: Peer) -> bool {
        peer < self.size
    }

    fn member(&self, _: u32, number: u32) -> Option<Peer> {
        (number < self.size).then_some(number)
    }

    fn count_and_own(&self, _: u32) -> (u32, u32) {
        (self.size, self.me)
    }
}

/// Peers that the process has lost, for all its lanes: the user is told of each once.
#[derive(Default)]
pub(crate) struct Reported(Mutex<BTreeSet<Peer>>);

impl Reported {
    pub fn report(&self, me: Peer, peer: Peer, why: &Lost) {
        if self.0.lock().insert(peer) {
            eprintln!("weft: rank {me}: {why}");
        }
    }
}

/// What a lane remembers for [`State::watch_senders`](crate::state::State::watch_senders).
#[derive(Default)]
pub(crate) struct Watched {
    pub idle_turns: u32,
    pub last: Option<Instant>,
    /// Contexts in which a message from any source was probed for in vain since then.
    pub probed: Vec<u32>,
    /// Of contexts in which one is awaited, the member that is watched next.
    pub next_members: Vec<(u32, u32)>,
}

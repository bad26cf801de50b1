//! What is known of the other processes: which are in a communicator, and which are lost.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Peers whose loss the user was told of, each once, for all lanes of the process. While the process leaves its job nobody is told: the
/// others leave too, and one that has ended has done what it had to. One that dies before it leaves is the launcher's to tell.
#[derive(Default)]
pub(crate) struct Reported {
    peers: Mutex<BTreeSet<Peer>>,
    /// Written by the thread that leaves or joins, before it tells the launcher; read where a peer is lost.
    is_leaving: AtomicBool,
}

impl Reported {
    pub fn report(&self, me: Peer, peer: Peer, why: &Lost) {
        if !self.is_leaving.load(Ordering::Acquire) && self.peers.lock().insert(peer) {
            eprintln!("weft: rank {me}: {why}");
        }
    }

    pub fn set_leaving(&self, is_leaving: bool) {
        self.is_leaving.store(is_leaving, Ordering::Release);
    }

    #[cfg(test)]
    pub fn has_told(&self, peer: Peer) -> bool {
        self.peers.lock().contains(&peer)
    }
}

/// A lane's state between two calls of [`State::watch_awaited`](crate::state::State::watch_awaited).
#[derive(Default)]
pub(crate) struct Watched {
    pub idle_turns: u32,
    pub last: Option<Instant>,
    /// Contexts in which a message from any source was probed for in vain since then.
    pub probed: Vec<u32>,
    /// Of contexts in which one is awaited, the member that is watched next.
    pub next_members: Vec<(u32, u32)>,
}

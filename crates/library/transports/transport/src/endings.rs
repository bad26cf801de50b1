//! Peers that this process has lost, and why. A peer that is lost on one lane is lost on all.

use std::sync::atomic::{AtomicUsize, Ordering};

use weft_sync::Section;

use crate::{Lost, Peer};

#[derive(Clone)]
pub struct Ending {
    pub peer: Peer,
    pub lost: Lost,
    /// Its process has ended: what it had sent before may still be received.
    pub died: bool,
}

/// A process's lost peers, in the order in which they were lost.
pub struct Endings {
    all: Section<Vec<Ending>>,
    /// How many: written inside the section, read by every lane in every turn.
    count: AtomicUsize,
}

/// One line that names the peer.
pub fn lost(peer: Peer, why: impl std::fmt::Display) -> Lost {
    Lost(format!("rank {peer} is lost: {why}").into())
}

impl Default for Endings {
    fn default() -> Endings {
        Endings::new()
    }
}

impl Endings {
    pub fn new() -> Endings {
        Endings {
            all: Section::new(Vec::new()),
            count: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Enters a loss. Only the first of a peer counts, which is returned, with whether it is this one.
    pub fn enter(&self, ending: Ending) -> (Ending, bool) {
        let mut all = self.all.enter();
        if let Some(known) = all.iter().find(|known| known.peer == ending.peer) {
            return (known.clone(), false);
        }
        all.push(ending.clone());
        self.count.store(all.len(), Ordering::Release);
        (ending, true)
    }

    /// Those entered after the first `seen`.
    pub fn after(&self, seen: usize) -> Vec<Ending> {
        self.all.enter()[seen..].to_vec()
    }

    pub fn find(&self, peer: Peer) -> Option<Lost> {
        let all = self.all.enter();
        let ending = all.iter().find(|ending| ending.peer == peer);
        ending.map(|ending| ending.lost.clone())
    }
}

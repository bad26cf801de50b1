//! Peers that this process has lost, and why. A peer that is lost on one lane is lost on all.
//!
//! The lane that loses a peer enters it here and notifies the other lanes in the peer's name; each looks here when it is
//! notified, and a few times a second, and counts how far it has looked.

use weft_sync::Section;
use weft_transport::{Lost, Peer};

/// How a peer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its process has ended: what it had sent before may still be received.
    Died,
    /// It or this process has ended the connection: nothing is received any more.
    Ended,
}

#[derive(Clone)]
pub struct Ending {
    pub peer: Peer,
    pub end: End,
    pub lost: Lost,
}

/// A process's lost peers.
pub struct Endings {
    all: Section<All>,
}

struct All {
    endings: Vec<Ending>,
    /// A bit for each lane in use.
    lanes: u64,
}

impl Endings {
    pub fn new() -> Endings {
        let all = All {
            endings: Vec::new(),
            lanes: 0,
        };
        Endings {
            all: Section::new(all),
        }
    }

    /// From here on the lane is to be notified.
    pub fn join(&self, lane: u32) {
        self.all.enter().lanes |= 1 << lane;
    }

    /// Enters a loss. Only the first of a peer counts: that, and the lanes to be notified of it.
    pub fn enter(&self, ending: Ending) -> (Ending, u64) {
        let mut all = self.all.enter();
        let known = all.endings.iter().find(|known| known.peer == ending.peer);
        match known {
            // A dead peer's last words may be lies.
            Some(known) if known.end == ending.end || known.end == End::Ended => (known.clone(), 0),
            _ => {
                all.endings.push(ending.clone());
                (ending, all.lanes)
            }
        }
    }

    /// Those entered after the first `seen`.
    pub fn after(&self, seen: usize) -> Vec<Ending> {
        self.all.enter().endings[seen..].to_vec()
    }

    pub fn find(&self, peer: Peer) -> Option<Lost> {
        let all = self.all.enter();
        let ending = all.endings.iter().find(|ending| ending.peer == peer);
        ending.map(|ending| ending.lost.clone())
    }
}

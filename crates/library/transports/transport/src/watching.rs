//! Of which peers this process would hear that they die: those to which any of its lanes has a connection, as a peer that is lost on one
//! lane is lost on all.
//!
//! A process that waits for a message from any source would need a connection to each process of its communicator. It has a
//! bounded number made for watching alone: each wait begins with the ranks behind its own, so every process is watched by
//! some of those that wait, and who finds one dead tells the launcher, which ends the job, as it does when its own agents find out.

use std::collections::BTreeSet;

use weft_sync::Section;

use crate::Peer;

/// Connections that a process makes for watching alone, where any of many processes may send what it waits for.
const MOST_FOR_WATCHING: u32 = 32;

/// What is known of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Its death would be told, or it is one of more than are watched.
    Enough,
    /// It needs a connection, which is counted.
    Not,
    /// It has said goodbye, on some lane.
    HasLeft,
}

#[derive(Default)]
struct Peers {
    /// A connection stands, stood or is being made.
    connected: BTreeSet<Peer>,
    left: BTreeSet<Peer>,
    for_watching: u32,
}

pub struct Watching(Section<Peers>);

impl Default for Watching {
    fn default() -> Watching {
        Watching::new()
    }
}

impl Watching {
    pub fn new() -> Watching {
        Watching(Section::new(Peers::default()))
    }

    /// A connection to `peer` is made by this process or has been by the other.
    pub fn connects(&self, peer: Peer) {
        self.0.enter().connected.insert(peer);
    }

    /// `peer` has said goodbye.
    pub fn left(&self, peer: Peer) {
        self.0.enter().left.insert(peer);
    }

    /// Something is awaited of `peer`, or of many of which it is one.
    pub fn of(&self, peer: Peer, one_of_many: bool) -> Watched {
        let mut peers = self.0.enter();
        if peers.left.contains(&peer) {
            return Watched::HasLeft;
        }
        if peers.connected.contains(&peer) {
            return Watched::Enough;
        }
        if one_of_many {
            if peers.for_watching >= MOST_FOR_WATCHING {
                return Watched::Enough;
            }
            peers.for_watching += 1;
        }
        Watched::Not
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_processes_a_bounded_number_is_watched() {
        let watching = Watching::new();
        watching.connects(3);
        watching.left(5);
        let of_many: Vec<Watched> = (0..100)
            .map(|peer| {
                let watched = watching.of(peer, true);
                if watched == Watched::Not {
                    watching.connects(peer);
                }
                watched
            })
            .collect();
        let made = |watched: &&Watched| **watched == Watched::Not;
        assert_eq!(of_many.iter().filter(made).count(), 32);
        assert_eq!(of_many[3], Watched::Enough);
        assert_eq!(of_many[5], Watched::HasLeft);
        // Who alone may send what is awaited is watched always.
        assert_eq!(watching.of(99, false), Watched::Not);
        watching.connects(99);
        assert_eq!(watching.of(99, false), Watched::Enough);
    }
}

//! Whether the process of a peer is still there that no connection tells of.
//!
//! Who asks for a link sends datagrams, and nobody answers these for a process that computes, nor for one that has died before. What tells
//! the two apart is the kernel of the peer's host.
//!
//! # Rules
//! 1. A card says by what its host's kernel knows the process: its number, its start, and the *view* in which these are right. A process of
//!    the same view asks the kernel; no other one can.
//! 2. Once a second each peer that has left requests for links without an answer is looked for. A process of its view asks the kernel.
//!    Another one asks processes of the peer's host in turn, in datagrams, of which those in its view answer, when they next call MPI.
//! 3. Only that a process has ended is ever said: doubt is life, and so is silence. A rank's process does not come again, so that the word
//!    is true whenever it comes; and it counts only from a process of the peer's host, about a peer that is being looked for.
//!
//! So a process that computes is not lost, however long. One that was alone on its host, or all of whose neighbours there have died or
//! compute, is found by the launcher alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use weft_kernel::process;
use weft_transport::Peer;

/// Between two looks at peers that do not answer.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Neighbours of a peer that are asked at once.
const AT_ONCE: usize = 4;

/// By what the kernel of its host knows a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub process: u32,
    pub start: u64,
    pub view: u64,
}

impl Entry {
    /// This process's; none if the system does not say.
    pub fn own() -> Option<Entry> {
        let process = std::process::id();
        let start = process::start_of(process).ok()??;
        let view = weft_credentials::digest(process::view()?.as_bytes());
        Some(Entry {
            process,
            start,
            view: u64::from_le_bytes(view),
        })
    }

    /// Whether a process has certainly ended, as far as the process of this entry can tell.
    pub fn finds_ended(&self, other: &Entry) -> bool {
        self.view == other.view && !process::runs(other.process, other.start)
    }
}

/// Peers that have not answered, and how often each was looked for.
pub struct Unanswered {
    looked: Instant,
    peers: BTreeMap<Peer, usize>,
}

impl Unanswered {
    pub fn new() -> Unanswered {
        Unanswered {
            looked: Instant::now(),
            peers: BTreeMap::new(),
        }
    }

    /// Whether it is time to look for peers again.
    pub fn is_due(&self, now: Instant) -> bool {
        now.duration_since(self.looked) >= LOOK_EVERY
    }

    /// Those that are to be looked for now, of those that have not answered, and how often they were before.
    pub fn look(&mut self, now: Instant, unanswered: &BTreeSet<Peer>) -> Vec<(Peer, usize)> {
        self.looked = now;
        self.peers.retain(|peer, _| unanswered.contains(peer));
        let look = |&peer: &Peer| {
            let times = self.peers.entry(peer).or_default();
            *times += 1;
            (peer, *times - 1)
        };
        unanswered.iter().map(look).collect()
    }

    pub fn contains(&self, peer: Peer) -> bool {
        self.peers.contains_key(&peer)
    }
}

/// Which of a peer's neighbours are asked when it is looked for once more: none the first time, for it may be about to answer.
pub fn asked(neighbours: &[Peer], times: usize) -> Vec<Peer> {
    let Some(round) = times.checked_sub(1) else {
        return Vec::new();
    };
    let begin = round * AT_ONCE % neighbours.len().max(1);
    let in_turn = neighbours.iter().cycle().skip(begin);
    in_turn
        .take(AT_ONCE.min(neighbours.len()))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_runs_has_not_ended() {
        let own = Entry::own().expect("/proc is there");
        assert!(!own.finds_ended(&own));
        let other = Entry {
            start: own.start + 1,
            ..own
        };
        assert!(own.finds_ended(&other));
        let elsewhere = Entry {
            view: !own.view,
            ..other
        };
        assert!(!own.finds_ended(&elsewhere), "it cannot know");
    }

    #[test]
    fn all_neighbours_are_asked_in_turn() {
        let neighbours: Vec<Peer> = (10..16).collect();
        assert_eq!(asked(&neighbours, 0), []);
        assert_eq!(asked(&neighbours, 1), [10, 11, 12, 13]);
        assert_eq!(asked(&neighbours, 2), [14, 15, 10, 11]);
        assert_eq!(asked(&neighbours, 3), [12, 13, 14, 15]);
        assert_eq!(asked(&neighbours[..1], 7), [10]);
        assert_eq!(asked(&[], 3), []);
    }

    #[test]
    fn who_has_answered_is_looked_for_no_more() {
        let mut unanswered = Unanswered::new();
        let now = Instant::now();
        assert!(!unanswered.is_due(now) && unanswered.is_due(now + LOOK_EVERY * 2));
        let both = BTreeSet::from([3, 5]);
        assert_eq!(unanswered.look(now, &both), [(3, 0), (5, 0)]);
        assert_eq!(unanswered.look(now, &BTreeSet::from([5])), [(5, 1)]);
        assert!(unanswered.contains(5) && !unanswered.contains(3));
        assert_eq!(unanswered.look(now, &both), [(3, 0), (5, 2)]);
    }
}

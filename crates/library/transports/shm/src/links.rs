//! Connections to peers, and sending on them.

mod linking;
mod losing;
mod outbound;
mod room;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use weft_sync::cells::{INLINE_BYTES, Pushed};
use weft_transport::{Lost, Peer, Refused};

use self::outbound::Outbound;
use crate::blocks::Blocks;
use crate::connecting::Need;
use crate::counters::Counters;
use crate::endings::Ending;
use crate::layout::EAGER_BYTES;
use crate::pair::{self, Pair};
use crate::peers::{Neighbour, lost};
use crate::quarantine::Quarantine;
use crate::shared::Shared;
use crate::table::Table;

/// A peer that a packet was refused for.
struct Blocked {
    peer: Peer,
    /// Of the longest packet refused.
    bytes: usize,
}

/// A lane's connections to peers, and what is known of lost ones.
pub struct Links {
    pub shared: Arc<Shared>,
    pub lane: u32,
    pub counters: Counters,
    open: Table<Outbound>,
    /// What came in blocks from peers that nothing was sent to yet.
    early: Vec<(Peer, Blocks)>,
    blocked: Vec<Blocked>,
    /// Peers without a connection of which something is awaited.
    expected: BTreeMap<Peer, Arc<Neighbour>>,
    /// What this lane has asked for and has not got (`connecting`).
    wants: Vec<(Peer, Need)>,
    /// Peers for which the engine is to be asked to have wants fulfilled.
    to_connect: Vec<Peer>,
    /// Peers for which something was made that was refused before.
    connected: Vec<Peer>,
    /// Every peer lost, for ever, and why.
    dead: BTreeMap<Peer, Lost>,
    /// Those of them the engine has not been told.
    untold: Vec<Peer>,
    /// Those of them that are to be told that this lane has given them up.
    to_give_up: Vec<Peer>,
    /// How many of the process's endings this lane has looked at.
    endings_seen: usize,
    /// Peers that another lane has found dead and that may have left something to this one.
    dying: Vec<Ending>,
    quarantine: Quarantine,
    /// Which peer is looked at more closely in the next check of lives.
    next_life: usize,
    /// Whether any of `blocked`, `to_connect`, `connected` and `untold` may hold something: one look a turn.
    has_news: bool,
}

impl Links {
    pub fn new(shared: Arc<Shared>, lane: u32) -> Links {
        shared.endings.join(lane);
        Links {
            open: Table::new(&shared.peers.host),
            shared,
            lane,
            counters: Counters::default(),
            early: Vec::new(),
            blocked: Vec::new(),
            expected: BTreeMap::new(),
            wants: Vec::new(),
            to_connect: Vec::new(),
            connected: Vec::new(),
            dead: BTreeMap::new(),
            untold: Vec::new(),
            to_give_up: Vec::new(),
            endings_seen: 0,
            dying: Vec::new(),
            quarantine: Quarantine::default(),
            next_life: 0,
            has_news: false,
        }
    }

    /// Puts one message of the given kind into the ring to `peer`, if there is one.
    #[inline]
    pub fn push(
        &mut self,
        peer: Peer,
        kind: u8,
        header: [u64; 2],
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        let Some(link) = self.open.get_mut(peer) else {
            return Err(self.connect(peer, Need::Link));
        };
        if throttled && link.producer.throttled() {
            return Err(Refused::Throttled);
        }
        if bytes > INLINE_BYTES {
            assert!(bytes <= EAGER_BYTES, "a packet of {bytes} bytes");
            let pushed =
                link.push_long(kind, header, bytes, &self.shared, &mut self.counters, fill);
            return match pushed {
                Pushed::Watched => Ok(()),
                pushed => self.pushed(peer, bytes, pushed),
            };
        }
        match link.producer.push(kind, header, bytes, fill) {
            Pushed::Watched => Ok(()),
            pushed => self.pushed(peer, bytes, pushed),
        }
    }

    /// As [`push`](Self::push), of a payload that fits in a cell, if there is a link to one of ranks that follow each other, and a
    /// cell that is known to be free. Else nothing happened.
    #[inline(always)]
    pub fn push_short(
        &mut self,
        peer: Peer,
        kind: u8,
        header: [u64; 2],
        payload: &[u8],
        throttled: bool,
    ) -> bool {
        let Some(link) = self.open.get_mut_in_run(peer) else {
            return false;
        };
        if throttled && link.producer.throttled() {
            return false;
        }
        match link.producer.push_short(kind, header, payload) {
            Pushed::Watched => true,
            Pushed::Full | Pushed::Malformed => false,
            Pushed::Unwatched => self.pushed(peer, payload.len(), Pushed::Unwatched).is_ok(),
        }
    }

    /// What follows from what became of a message.
    #[inline(never)]
    fn pushed(&mut self, peer: Peer, bytes: usize, pushed: Pushed) -> Result<(), Refused> {
        match pushed {
            Pushed::Watched => Ok(()),
            Pushed::Unwatched => {
                let Some(link) = self.open.get(peer) else {
                    return Err(Refused::Lost);
                };
                link.neighbour.base.notify(self.lane, self.shared.position);
                self.counters.notifications_sent += 1;
                Ok(())
            }
            Pushed::Full => Err(self.block(peer, bytes)),
            Pushed::Malformed => {
                self.lose(
                    lost(peer, "it counts packets as received that were never sent"),
                    peer,
                );
                Err(Refused::Lost)
            }
        }
    }

    /// The blocks that go to and fro with `peer`.
    pub fn exchange(&mut self, peer: Peer) -> &mut Blocks {
        match self.open.get_mut(peer) {
            Some(link) => &mut link.exchange,
            None => {
                let known = self.early.iter().position(|(other, _)| *other == peer);
                let index = known.unwrap_or_else(|| {
                    self.early.push((peer, Blocks::default()));
                    self.early.len() - 1
                });
                &mut self.early[index].1
            }
        }
    }

    /// The peer, if it is known and not lost.
    pub fn neighbour(&self, peer: Peer) -> Option<Arc<Neighbour>> {
        if self.is_lost(peer) {
            return None;
        }
        self.shared.peers.known(peer)
    }

    /// Whether the peer is on this host.
    pub fn reaches(&self, peer: Peer) -> bool {
        self.shared.peers.host.position(peer).is_some()
    }

    pub fn is_open(&self, peer: Peer) -> bool {
        self.open.get(peer).is_some()
    }

    /// The peer, to which there is a link; else why not.
    pub fn linked(&mut self, peer: Peer) -> Result<Arc<Neighbour>, Refused> {
        match self.open.get(peer) {
            Some(link) => Ok(link.neighbour.clone()),
            None => Err(self.connect(peer, Need::Link)),
        }
    }

    /// What this process and `neighbour` are to each other.
    pub fn pair(&self, neighbour: &Neighbour) -> Pair {
        let own = self.shared.base.distance(neighbour.position);
        let theirs = neighbour.base.distance(self.shared.position);
        Pair {
            is_near: pair::is_near([own, theirs]),
            copies: self.copies_allowed(neighbour),
        }
    }

    /// Whether memory may be copied from and to a peer's.
    pub fn copies_allowed(&self, neighbour: &Neighbour) -> bool {
        !self.shared.options.deny_copies && neighbour.copies_allowed
    }

    /// Rings the doorbell of a peer, on this lane.
    pub fn notify(&mut self, neighbour: &Neighbour) {
        neighbour.base.notify(self.lane, self.shared.position);
        self.counters.notifications_sent += 1;
    }

    /// Whether a thread of this process sleeps, or is about to, on what every lane looked like when it was armed.
    #[inline]
    pub fn has_sleeper(&self) -> bool {
        self.shared.base.is_sleeping()
    }

    /// Ends that sleep, as another thread has begun something new to look at.
    #[inline]
    pub fn wake_sleeper(&self) {
        if self.has_sleeper() {
            self.shared.base.wake();
        }
    }

    #[inline]
    pub fn is_signalled(&self) -> bool {
        self.shared.base.signalled() >> self.lane & 1 != 0
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for link in self.open.iter() {
            let rank = link.neighbour.rank;
            if !link.producer.attached() {
                writeln!(out, "rank {rank} has not yet taken up the connection to it")?;
            }
        }
        for blocked in &self.blocked {
            writeln!(
                out,
                "rank {} has left no room for a packet to it",
                blocked.peer
            )?;
        }
        Ok(())
    }
}

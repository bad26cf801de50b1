//! How a lane loses a peer, and what is kept from a lost one.

use std::sync::Arc;

use weft_sync::atomic::Ordering;
use weft_transport::{Lost, Peer, Refused};

use super::Links;
use crate::base::GIVEN_UP;
use crate::connecting::Need;
use crate::endings::{End, Ending};
use crate::layout::LINK_BYTES;
use crate::peers::{Neighbour, lost};

impl Links {
    /// Loses `peer`, on all lanes of the process; the engine is told in this turn of progress or the next.
    #[cold]
    pub fn lose(&mut self, lost: Lost, peer: Peer) {
        let end = End::Ended;
        self.lose_by(Ending { peer, end, lost });
    }

    #[cold]
    fn lose_by(&mut self, ending: Ending) {
        if self.is_lost(ending.peer) {
            return;
        }
        // The first reason is the true one.
        let first = self.shared.end(ending, self.lane);
        self.to_give_up.push(first.peer);
        self.lose_here(first);
    }

    /// Ends what this lane has to do with a peer that the process has lost, bulk transfers and what comes from it apart.
    fn lose_here(&mut self, Ending { peer, lost, .. }: Ending) {
        if self.is_lost(peer) {
            return;
        }
        if let Some(link) = self.open.take(peer) {
            self.to_give_up.push(peer);
            self.quarantine
                .add(&self.shared, peer, link.offset, LINK_BYTES);
        }
        self.expected.remove(&peer);
        self.early.retain(|(other, _)| *other != peer);
        self.blocked.retain(|blocked| blocked.peer != peer);
        self.dead.insert(peer, lost);
        self.untold.push(peer);
        self.has_news = true;
    }

    /// Loses the peers that other lanes have lost. One that has died, and of which `may_have_left` says that something may be
    /// there, is lost later.
    #[cold]
    pub fn take_endings(&mut self, may_have_left: impl Fn(Peer) -> bool) {
        let endings = self.shared.endings.after(self.endings_seen);
        self.endings_seen += endings.len();
        self.dying.extend(endings);
        for ending in std::mem::take(&mut self.dying) {
            let peer = ending.peer;
            let waits =
                |&(other, need): &(Peer, Need)| other == peer && matches!(need, Need::Ring { .. });
            let later = ending.end == End::Died
                && !self.is_lost(peer)
                && (may_have_left(peer) || self.wants.iter().any(waits));
            match later {
                true => self.dying.push(ending),
                false => self.lose_here(ending),
            }
        }
    }

    /// This lane touches nothing of a lost peer's any more, of which it had something if `had`: if it had, or has found the
    /// loss, it tells the peer, which loses this process too if it runs, so that neither waits for the other.
    pub fn cleared(&mut self, peer: Peer, had: bool) {
        let known = self.to_give_up.len();
        self.to_give_up.retain(|&other| other != peer);
        if had || self.to_give_up.len() < known {
            self.give_up(peer);
        }
    }

    fn give_up(&mut self, peer: Peer) {
        if let Some(neighbour) = self.shared.peers.known(peer)
            && !neighbour.base.is_given_up(self.lane, self.shared.position)
        {
            let ring = neighbour.base.ring_of(self.lane, self.shared.position);
            ring.store(GIVEN_UP, Ordering::SeqCst);
            self.notify(&neighbour);
        }
    }

    /// A lost peer has notified this lane, and may not know yet that it is lost.
    #[cold]
    pub fn repeat_give_up(&mut self, peer: Peer) {
        if !self.untold.contains(&peer) {
            self.give_up(peer);
        }
    }

    /// Has a peer looked at among those that may die.
    pub fn expect(&mut self, peer: Peer) -> Result<(), Refused> {
        if self.is_open(peer) || self.expected.contains_key(&peer) {
            return Ok(());
        }
        match self.neighbour(peer) {
            Some(neighbour) => {
                self.expected.insert(peer, neighbour);
                Ok(())
            }
            None => Err(self.connect(peer, Need::Base)),
        }
    }

    #[inline]
    pub fn has_lost(&self) -> bool {
        !self.untold.is_empty()
    }

    pub fn is_lost(&self, peer: Peer) -> bool {
        self.dead.contains_key(&peer)
    }

    pub fn take_lost(&mut self) -> Option<(Peer, Lost)> {
        let peer = self.untold.pop()?;
        Some((peer, self.dead[&peer].clone()))
    }

    /// Loses peers whose process is gone, unless they left something to be received first.
    pub fn check_lives<'a>(
        &mut self,
        has_left_something: impl Fn(Peer) -> bool,
        others: impl Iterator<Item = &'a Arc<Neighbour>>,
    ) {
        let mut neighbours: Vec<Arc<Neighbour>> = others.cloned().collect();
        neighbours.extend(self.open.iter().map(|link| link.neighbour.clone()));
        neighbours.extend(self.expected.values().cloned());
        neighbours.sort_unstable_by_key(|neighbour| neighbour.rank);
        neighbours.dedup_by_key(|neighbour| neighbour.rank);
        // Asking whether the number is in use is quick; the whole truth costs reading a file, so it is
        // asked of one peer each time.
        self.next_life = (self.next_life + 1) % neighbours.len().max(1);
        for (index, neighbour) in neighbours.iter().enumerate() {
            let alive = match index == self.next_life {
                true => neighbour.is_alive(),
                false => neighbour.is_there(),
            };
            if !alive && !has_left_something(neighbour.rank) {
                let peer = neighbour.rank;
                let lost = lost(peer, "its process has ended");
                let end = End::Died;
                self.lose_by(Ending { peer, end, lost });
            }
        }
    }

    /// Gives memory back that lost peers could use and do not any more.
    pub fn look_at_quarantine(&mut self) {
        self.quarantine.look(&self.shared, self.lane);
    }

    pub fn quarantined_bytes(&self) -> u64 {
        self.quarantine.bytes() as u64
    }

    /// Puts a piece of the own segment aside that a lost peer may still use.
    pub fn quarantine_piece(&mut self, peer: Peer, offset: u64, bytes: usize) {
        self.quarantine.add(&self.shared, peer, offset, bytes);
    }
}

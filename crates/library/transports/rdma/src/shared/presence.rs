//! Peers that do not answer, looked for: see [`crate::presence`].

use std::collections::BTreeSet;
use std::time::Instant;

use weft_transport::Peer;
use weft_transport::endings::lost;

use super::Shared;
use crate::handshake::{LinkStep, Message};
use crate::presence::asked;

impl Shared {
    /// Looks for peers that have not answered, if it is time. Inside `making`.
    pub(super) fn look_for_unanswered(&self, now: Instant) {
        if !self.unanswered.enter().is_due(now) {
            return;
        }
        let mut silent = BTreeSet::new();
        for rail in &self.rails {
            silent.extend(rail.setup.enter().unanswered());
        }
        let silent = self.unanswered.enter().look(now, &silent);
        for (peer, times) in silent {
            self.look_for(peer, times);
        }
    }

    fn look_for(&self, peer: Peer, times: usize) {
        match self.has_ended(peer) {
            Some(true) => drop(self.lose(peer, lost(peer, "its process has ended"), true)),
            Some(false) => {}
            None => {
                let neighbours = self.neighbours(peer);
                asked(&neighbours, times)
                    .into_iter()
                    .for_each(|neighbour| self.ask_after(peer, neighbour));
            }
        }
    }

    /// Whether a peer's process has ended; none if only others can know.
    fn has_ended(&self, peer: Peer) -> Option<bool> {
        let own = self.identity.entry?;
        let entry = self.known(peer).ok()?.card.entry?;
        (entry.view == own.view).then(|| own.finds_ended(&entry))
    }

    /// The others on a peer's host, but for this process and those that are lost.
    fn neighbours(&self, peer: Peer) -> Vec<Peer> {
        let mut all = (self.identity.host_of)(peer);
        let own = self.identity.rank;
        all.retain(|&one| one != peer && one != own && self.endings.find(one).is_none());
        all
    }

    fn ask_after(&self, peer: Peer, neighbour: Peer) {
        let Ok(known) = self.known(neighbour) else {
            return;
        };
        let rail = known.routes.first().map(|route| route.rail);
        let way = rail.and_then(|rail| Some((rail, self.way(rail, neighbour).ok()?)));
        if let Some((rail, way)) = way {
            let question = self.message((neighbour, 0), LinkStep::HasEnded(peer));
            let question = question.put(&way.card.key);
            let mut setup = self.rails[rail].setup.enter();
            setup.datagrams().send(&way.handle, way.to(), &question);
        }
    }

    /// A process, whose words these certainly are, asks after one of this host. Inside `making`.
    pub(super) fn asked_after(&self, rail: usize, asks: &Message, peer: Peer) {
        let is_other = peer < self.identity.size && peer != self.identity.rank;
        if !is_other || self.has_ended(peer) != Some(true) {
            return;
        }
        let Ok(way) = self.way(rail, asks.from) else {
            return;
        };
        let answer = self.message((asks.from, asks.lane), LinkStep::Ended(peer));
        let answer = answer.put(&self.identity.key);
        let mut setup = self.rails[rail].setup.enter();
        setup.datagrams().send(&way.handle, way.to(), &answer);
    }

    /// A process, whose words these certainly are, says that a peer has ended. Inside `making`.
    pub(super) fn told_of_end(&self, says: &Message, peer: Peer) {
        let is_looked_for = self.unanswered.enter().contains(peer);
        if is_looked_for && self.neighbours(peer).contains(&says.from) {
            self.lose(peer, lost(peer, "its process has ended"), true);
        }
    }
}

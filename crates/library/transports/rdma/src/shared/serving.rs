//! Answers to who asks for links, and what becomes of answers.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{SERVE, Shared};
use crate::handshake::{End, LinkStep, Message, Refusal, is_signed};
use crate::identity::Identity;
use crate::left::Left;
use crate::setup::Outcome;

impl Shared {
    /// Answers who asks for links, and asks again who has not answered. Whether there was anything.
    #[cold]
    pub fn serve(&self) -> bool {
        let _making = self.making.enter();
        self.signalled.fetch_and(!SERVE, Ordering::AcqRel);
        let mut is_any = false;
        for rail in 0..self.rails.len() {
            is_any |= self.serve_rail(rail);
        }
        self.look_for_unanswered(Instant::now());
        is_any
    }

    fn serve_rail(&self, rail: usize) -> bool {
        let on = &self.rails[rail];
        let datagrams = on.setup.enter().datagrams().take();
        let is_any = !datagrams.is_empty();
        for datagram in datagrams {
            self.datagram_came(rail, &datagram);
        }
        on.setup.enter().repeat(Instant::now());
        self.serve_xrc(rail);
        is_any
    }

    /// Takes a datagram, which may be anything. Inside `making`.
    fn datagram_came(&self, rail: usize, datagram: &[u8]) {
        let message = Message::parse(datagram).filter(|message| {
            let Identity {
                rank,
                size,
                lanes,
                job,
                ..
            } = self.identity;
            let is_ours = message.to == rank && message.job == job;
            is_ours && message.from < size && message.from != rank && message.lane < lanes
        });
        if let Some(message) = message {
            self.message_came(rail, &message, datagram);
        }
    }

    #[cfg(test)]
    pub fn hear(&self, datagram: &[u8]) {
        let _making = self.making.enter();
        self.datagram_came(0, datagram);
    }

    fn message_came(&self, rail: usize, message: &Message, datagram: &[u8]) {
        let on = &self.rails[rail];
        match &message.step {
            LinkStep::Request(end) if is_signed(datagram, &self.identity.key) => {
                self.asked(rail, message, end);
            }
            LinkStep::Request(_) => {}
            LinkStep::XrcRequest(host, bytes) if is_signed(datagram, &self.identity.key) => {
                self.asked_over_xrc(rail, message, *host, bytes);
            }
            LinkStep::XrcRequest(..) => {}
            LinkStep::XrcAnswer(_) | LinkStep::XrcRefused(_) => {
                let way = on.ways.enter().get(&message.from).cloned();
                if way.is_some_and(|way| is_signed(datagram, &way.card.key)) {
                    self.answered_over_xrc(rail, message);
                }
            }
            LinkStep::HasEnded(peer) if is_signed(datagram, &self.identity.key) => {
                self.asked_after(rail, message, *peer);
            }
            LinkStep::HasEnded(_) => {}
            LinkStep::Ended(peer) => {
                let way = on.ways.enter().get(&message.from).cloned();
                if way.is_some_and(|way| is_signed(datagram, &way.card.key)) {
                    self.told_of_end(message, *peer);
                }
            }
            LinkStep::Answer(_) | LinkStep::Refused(_) => {
                let name = (message.from, message.lane);
                let key = on.setup.enter().key_of(name);
                if key.is_some_and(|key| is_signed(datagram, &key)) {
                    self.answered(rail, message);
                }
            }
        }
    }

    fn asked(&self, rail: usize, asks: &Message, end: &End) {
        let on = &self.rails[rail];
        let peer = asks.from;
        let Some(way) = self.way_of_asker(rail, peer) else {
            return;
        };
        let mut setup = on.setup.enter();
        if self.endings.find(peer).is_some() {
            return setup.refuse(asks, &way, Refusal::Ended, &self.identity);
        }
        let make = || self.queue_pairs(rail, asks.lane, &way);
        let made = setup.asked((asks, end), &way, &self.identity, &on.adapter, make);
        drop(setup);
        if let Some(made) = made {
            self.tell(rail, Outcome::Made(made));
        }
    }

    fn answered(&self, rail: usize, says: &Message) {
        let on = &self.rails[rail];
        let outcome = on.setup.enter().answered(says, &on.adapter);
        if let Some(outcome) = outcome {
            self.tell(rail, outcome);
        }
    }

    fn tell(&self, rail: usize, outcome: Outcome) {
        match outcome {
            Outcome::Made(made) => {
                let (peer, lane) = made.name;
                self.watching.connects(peer);
                let routes = self
                    .known
                    .enter()
                    .get(&peer)
                    .map(|known| known.routes.clone());
                if let Some(routes) = routes {
                    self.leave(lane, rail, Left::Link(made, routes));
                }
            }
            Outcome::Refused(name, why) => self.refused(rail, name, why),
            Outcome::Failed(name, why) => self.no_way(rail, name, why),
        }
    }
}

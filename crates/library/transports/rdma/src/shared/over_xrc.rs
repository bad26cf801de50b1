//! Links over XRC: what lanes want and peers ask, brought to the protocol (`xrc`), and what comes of it.

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use weft_pools::Kind;
use weft_pools::xrc::{
    Body, Connections, Event, Failure, Host, Message as XrcMessage, Process, Reason,
};
use weft_transport::Peer;
use weft_transport::endings::lost;
use weft_verbs::XrcDomain;

use super::Shared;
use crate::adapter::{Unusable, unusable};
use crate::card::Card;
use crate::domain;
use crate::handshake::{Message, Refusal, Step};
use crate::hosts::apart;
use crate::left::{Left, Name};
use crate::pool_pair::selected;
use crate::setup::{Setup, message};
use crate::xrc::{Actor, Done, LaneHands, LaneXrc};

impl Shared {
    /// Asks for a link over XRC.
    pub(super) fn dial_over_xrc(&self, (peer, lane): Name, card: &Card) -> Result<(), Unusable> {
        let Some(host) = card.host else {
            return Ok(());
        };
        self.make_xrc(lane)?;
        let host = self.hosts.of(peer, host);
        self.over_xrc(lane, |connections, now, hands| {
            connections.connect(Process(peer.into()), Host(host), now, hands);
        });
        Ok(())
    }

    /// Makes the lane's part of the protocol, if there is none. Inside `making`.
    fn make_xrc(&self, lane: u32) -> Result<(), Unusable> {
        if self.setup.enter().xrc.contains_key(&lane) {
            return Ok(());
        }
        let making = self.parts(lane)?;
        let file = self.host_file();
        let context = making.protection.context();
        let file = file.as_ref().map(|file| file.as_fd());
        let domain = XrcDomain::open(context, file).map_err(unusable)?;
        let own = selected(&self.adapter.pools, weft_pools::Reach::Xrc);
        let mut made = Vec::new();
        let queues = making.xrc_queues(&own, &domain, &mut made);
        self.leave_queues(lane, made);
        let made = LaneXrc::new(self.identity.rank, making, domain, queues?);
        self.setup.enter().xrc.insert(lane, made);
        Ok(())
    }

    /// The file of the host's domain; none if this process is apart.
    fn host_file(&self) -> Option<Arc<File>> {
        if let Some(known) = &*self.hosts.file.enter() {
            return known.clone();
        }
        let first = self.identity.host.map(|host| host.first);
        let place = first.and_then(|first| self.way(first).ok()?.card.host?.place);
        let file = place
            .and_then(|place| domain::open(place).ok())
            .map(Arc::new);
        *self.hosts.file.enter() = Some(file.clone());
        file
    }

    /// What requests call this process's host.
    fn own_host(&self) -> Option<u64> {
        let host = self.identity.host?;
        Some(match self.host_file() {
            Some(_) => host.first.into(),
            None => apart(self.identity.rank),
        })
    }

    /// A peer, whose words these certainly are, asks for something. Inside `making`.
    pub(super) fn asked_over_xrc(&self, asks: &Message, host: u64, bytes: &[u8]) {
        let is_its = |text: &XrcMessage| text.from == Process(asks.from.into());
        if !XrcMessage::read(bytes).is_ok_and(|text| is_its(&text)) {
            return;
        }
        let peer = asks.from;
        let way = match self.way(peer) {
            Ok(way) => way,
            Err(why) => return drop(self.lose(peer, lost(peer, why), true)),
        };
        let refusal = match () {
            () if self.endings.find(peer).is_some() => Some(Refusal::Ended),
            () if self.own_host() != Some(host) => Some(Refusal::Apart),
            () => self.make_xrc(asks.lane).err().map(|_| Refusal::Full),
        };
        if let Some(why) = refusal {
            let refusal = self.message((peer, asks.lane), Step::XrcRefused(why));
            let refusal = refusal.put(&self.identity.key);
            let mut setup = self.setup.enter();
            return setup.datagrams().send(&way.handle, &way.card, &refusal);
        }
        self.over_xrc(asks.lane, |connections, now, hands| {
            // What is malformed has no answer.
            let _ = connections.datagram(bytes, now, hands);
        });
    }

    /// A peer, whose words these certainly are, answers. Inside `making`.
    pub(super) fn answered_over_xrc(&self, says: &Message) {
        let (peer, lane) = (says.from, says.lane);
        match &says.step {
            Step::XrcAnswer(bytes) => {
                let is_its = |text: XrcMessage| text.from == Process(peer.into());
                if XrcMessage::read(bytes).is_ok_and(is_its) {
                    self.over_xrc(lane, |connections, now, hands| {
                        let _ = connections.datagram(bytes, now, hands);
                    });
                }
            }
            Step::XrcRefused(Refusal::Apart) => self.is_apart((peer, lane)),
            Step::XrcRefused(why) => drop(self.lose(peer, lost(peer, why), true)),
            _ => {}
        }
    }

    /// A peer shares nothing with its host: it is asked as a host of its own.
    fn is_apart(&self, name: Name) {
        let peer = Process(name.0.into());
        let is_new = self.hosts.apart.enter().insert(name.0);
        if !is_new {
            return;
        }
        let lanes: Vec<u32> = self.setup.enter().xrc.keys().copied().collect();
        for lane in lanes {
            self.over_xrc(lane, |connections, now, hands| {
                connections.forget(peer, now, hands);
            });
            self.begin_again((name.0, lane));
        }
    }

    /// Asks again for a link that was not to be had so far.
    fn begin_again(&self, name: Name) {
        let begun = self
            .way(name.0)
            .and_then(|way| self.dial_over_xrc(name, &way.card));
        if let Err(why) = begun {
            self.lose(name.0, lost(name.0, why), true);
        }
    }

    /// A queue pair to a host does nothing more: [`serve`](Shared::serve) has the protocol know.
    pub fn send_failed(&self, lane: u32, host: u64) {
        self.hosts.failed.enter().push((lane, host));
        self.ask_to_serve();
    }

    /// What the time, or a failure, has the protocol do. Inside `making`.
    pub(super) fn serve_xrc(&self) {
        let failed = std::mem::take(&mut *self.hosts.failed.enter());
        for (lane, host) in failed {
            self.over_xrc(lane, |connections, now, hands| {
                connections.send_failed(Host(host), now, hands);
            });
        }
        let (now, mut due) = (Instant::now(), Vec::new());
        for (&lane, xrc) in &self.setup.enter().xrc {
            due.extend(xrc.due().filter(|&due| due <= now).map(|_| lane));
        }
        for lane in due {
            self.over_xrc(lane, |connections, now, hands| connections.tick(now, hands));
        }
    }

    /// A lane receives nothing over XRC any more.
    pub fn leave_hosts(&self, lane: u32) {
        self.over_xrc(lane, |connections, now, hands| {
            connections.leave(now, hands)
        });
    }

    /// A peer is lost, whatever it was to this process.
    pub(super) fn lost_over_xrc(&self, peer: Peer) {
        let lanes: Vec<u32> = self.setup.enter().xrc.keys().copied().collect();
        for lane in lanes {
            self.over_xrc(lane, |connections, now, hands| {
                connections.lost(Process(peer.into()), now, hands);
            });
        }
    }

    /// Does something with a lane's connections, and what follows from it.
    fn over_xrc(&self, lane: u32, action: impl FnOnce(&mut Connections, u64, &mut LaneHands<'_>)) {
        let cards = |peer: Peer| self.ways.enter().get(&peer).map(|way| way.card.clone());
        let actor = Actor {
            adapter: &self.adapter,
            timeout: self.identity.timeout,
            cards: &cards,
        };
        let mut setup = self.setup.enter();
        let Some(xrc) = setup.xrc.get_mut(&lane) else {
            return;
        };
        let Done {
            left,
            datagrams,
            events,
        } = xrc.act(&actor, action);
        // A lane knows of what it receives before the peer does.
        left.into_iter().for_each(|left| self.leave(lane, left));
        for (to, bytes) in datagrams {
            self.send_over_xrc(&mut setup, (to.0 as Peer, lane), bytes);
        }
        drop(setup);
        for event in events {
            self.become_of_xrc(lane, event);
        }
    }

    fn send_over_xrc(&self, setup: &mut Setup, name: Name, bytes: Vec<u8>) {
        let Some(way) = self.ways.enter().get(&name.0).cloned() else {
            return;
        };
        let is_request = XrcMessage::read(&bytes).map(|text| matches!(text.body, Body::Request(_)));
        let (step, key) = match (is_request, way.card.host) {
            (Ok(true), Some(host)) => {
                let host = self.hosts.of(name.0, host);
                (Step::XrcRequest(host, bytes), way.card.key)
            }
            _ => (Step::XrcAnswer(bytes), self.identity.key),
        };
        let datagram = self.message(name, step).put(&key);
        setup.datagrams().send(&way.handle, &way.card, &datagram);
    }

    fn message(&self, name: Name, step: Step) -> Message {
        message(step, name, [0; 16], &self.identity)
    }

    fn become_of_xrc(&self, lane: u32, event: Event) {
        match event {
            Event::Connected { peer, send, queues } => {
                let peer = peer.0 as Peer;
                let Some(way) = self.ways.enter().get(&peer).cloned() else {
                    return;
                };
                self.watching.connects(peer);
                self.leave(
                    lane,
                    Left::Reached {
                        peer,
                        pools: selected(&way.card.pools, self.adapter.reach(&way.card)),
                        send,
                        queues,
                    },
                );
            }
            // The lane sees itself that the queue pair is gone.
            Event::Down { .. } => {}
            // It computes, or its words were lost: there is no end to asking it.
            Event::Failed {
                peer,
                why: Failure::Silent,
            } => self.begin_again((peer.0 as Peer, lane)),
            Event::Failed { peer, why } => {
                let peer = peer.0 as Peer;
                let why = match why {
                    Failure::Refused(Reason::Leaving) => "its process has finished".to_owned(),
                    why => why.to_string(),
                };
                self.lose(peer, lost(peer, why), true);
            }
        }
    }

    /// Receive queue pairs to which this process refers.
    pub fn receive_queue_pairs(&self) -> usize {
        let setup = self.setup.enter();
        setup.xrc.values().map(LaneXrc::receive_queue_pairs).sum()
    }

    /// Whether this process sends to a peer with that card over XRC.
    pub(super) fn sends_over_xrc(&self, card: &Card) -> bool {
        let pools = selected(&card.pools, self.adapter.reach(card));
        pools.iter().any(|pool| pool.kind == Kind::Xrc)
    }

    /// Whether it sends to it by queue pairs of its own.
    pub(super) fn sends_connected(&self, card: &Card) -> bool {
        let pools = selected(&card.pools, self.adapter.reach(card));
        pools.iter().any(|pool| pool.kind != Kind::Xrc)
    }
}

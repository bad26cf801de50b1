//! Links over XRC: what lanes want and peers ask, brought to the protocol (`xrc`), and what comes of it.

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use weft_pools::xrc::{
    Body, Connections, Event, Failure, Host, Message as XrcMessage, Process, Reason, SharedQueue,
};
use weft_transport::Peer;
use weft_transport::endings::lost;
use weft_verbs::XrcDomain;

use super::Shared;
use crate::adapter::{Unusable, unusable};
use crate::card::Card;
use crate::domain;
use crate::handshake::{LinkStep, Message, Refusal};
use crate::hosts::apart;
use crate::left::{Left, Name};
use crate::parts::Making;
use crate::pool_pair::selected;
use crate::rail::Rail;
use crate::setup::{Setup, message};
use crate::xrc::{Actor, Done, LaneHands, LaneXrc};

impl Shared {
    /// Asks for a link over XRC.
    pub(super) fn dial_over_xrc(
        &self,
        rail: usize,
        (peer, lane): Name,
        card: &Card,
    ) -> Result<(), Unusable> {
        let Some(host) = card.host else {
            return Ok(());
        };
        self.make_xrc(rail, lane)?;
        let host = self.hosts.of(peer, host);
        self.over_xrc(rail, lane, |connections, now, hands| {
            connections.connect(Process(peer.into()), Host(host), now, hands);
        });
        Ok(())
    }

    /// Makes the lane's part of the protocol, if there is none. Inside `making`.
    fn make_xrc(&self, rail: usize, lane: u32) -> Result<(), Unusable> {
        let on = &self.rails[rail];
        if on.setup.enter().xrc.contains_key(&lane) {
            return Ok(());
        }
        let making = self.parts(rail, lane)?;
        self.make_xrc_in(rail, lane, making)
    }

    /// Out of line: a thread's stack may be small, and parts may have to be made first.
    #[inline(never)]
    fn make_xrc_in(&self, rail: usize, lane: u32, making: Arc<Making>) -> Result<(), Unusable> {
        let on = &self.rails[rail];
        let file = self.host_file();
        let context = making.protection.context();
        let file = file.as_ref().map(|file| file.as_fd());
        let domain = XrcDomain::open(context, file).map_err(unusable)?;
        let own = selected(&on.adapter.pools, weft_pools::Reach::Xrc);
        let mut made = Vec::new();
        let queues = making.xrc_queues(&own, &domain, &mut made);
        self.leave_queues(rail, lane, made);
        self.add_xrc(on, lane, (making, domain, queues?));
        Ok(())
    }

    #[inline(never)]
    fn add_xrc(
        &self,
        on: &Rail,
        lane: u32,
        (making, domain, queues): (Arc<Making>, XrcDomain, Vec<SharedQueue>),
    ) {
        let made = LaneXrc::new(self.identity.rank, making, domain, queues);
        on.setup.enter().xrc.insert(lane, made);
    }

    /// The file of the host's domain; none if this process is apart.
    fn host_file(&self) -> Option<Arc<File>> {
        if let Some(known) = &*self.hosts.file.enter() {
            return known.clone();
        }
        let first = self.identity.host.map(|host| host.first);
        let place = first.and_then(|first| self.known(first).ok()?.card.host?.place);
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
    pub(super) fn asked_over_xrc(&self, rail: usize, asks: &Message, host: u64, bytes: &[u8]) {
        let is_its = |text: &XrcMessage| text.from == Process(asks.from.into());
        if !XrcMessage::read(bytes).is_ok_and(|text| is_its(&text)) {
            return;
        }
        let peer = asks.from;
        let Some(way) = self.way_of_asker(rail, peer) else {
            return;
        };
        let refusal = match () {
            () if self.endings.find(peer).is_some() => Some(Refusal::Ended),
            () if self.own_host() != Some(host) => Some(Refusal::Apart),
            () => self.make_xrc(rail, asks.lane).err().map(|_| Refusal::Full),
        };
        if let Some(why) = refusal {
            let refusal = self.message((peer, asks.lane), LinkStep::XrcRefused(why));
            let refusal = refusal.put(&self.identity.key);
            let mut setup = self.rails[rail].setup.enter();
            return setup.datagrams().send(&way.handle, way.to(), &refusal);
        }
        self.over_xrc(rail, asks.lane, |connections, now, hands| {
            // What is malformed has no answer.
            let _ = connections.datagram(bytes, now, hands);
        });
    }

    /// A peer, whose words these certainly are, answers. Inside `making`.
    pub(super) fn answered_over_xrc(&self, rail: usize, says: &Message) {
        let (peer, lane) = (says.from, says.lane);
        match &says.step {
            LinkStep::XrcAnswer(bytes) => {
                let is_its = |text: XrcMessage| text.from == Process(peer.into());
                if XrcMessage::read(bytes).is_ok_and(is_its) {
                    self.over_xrc(rail, lane, |connections, now, hands| {
                        let _ = connections.datagram(bytes, now, hands);
                    });
                }
            }
            LinkStep::XrcRefused(Refusal::Apart) => self.is_apart(peer),
            LinkStep::XrcRefused(why) => self.refused(rail, (peer, lane), *why),
            _ => {}
        }
    }

    /// A peer shares nothing with its host: it is asked as a host of its own.
    fn is_apart(&self, peer: Peer) {
        let is_new = self.hosts.apart.enter().insert(peer);
        if !is_new {
            return;
        }
        for rail in 0..self.rails.len() {
            for lane in self.lanes_over_xrc(rail) {
                self.over_xrc(rail, lane, |connections, now, hands| {
                    connections.forget(Process(peer.into()), now, hands);
                });
                self.begin_again(rail, (peer, lane));
            }
        }
    }

    /// Lanes that have connections over XRC by a rail.
    fn lanes_over_xrc(&self, rail: usize) -> Vec<u32> {
        self.rails[rail].setup.enter().xrc.keys().copied().collect()
    }

    /// Asks again for a link that was not to be had so far.
    fn begin_again(&self, rail: usize, name: Name) {
        let begun = self
            .way(rail, name.0)
            .and_then(|way| self.dial_over_xrc(rail, name, &way.card));
        if let Err(why) = begun {
            self.no_way(rail, name, why.to_string());
        }
    }

    /// A queue pair to a host does nothing more: [`serve`](Shared::serve) has the protocol know.
    pub fn send_failed(&self, rail: usize, lane: u32, host: u64) {
        self.rails[rail].failed.enter().push((lane, host));
        self.ask_to_serve();
    }

    /// What the time, or a failure, has the protocol do. Inside `making`.
    pub(super) fn serve_xrc(&self, rail: usize) {
        let on = &self.rails[rail];
        let failed = std::mem::take(&mut *on.failed.enter());
        for (lane, host) in failed {
            self.over_xrc(rail, lane, |connections, now, hands| {
                connections.send_failed(Host(host), now, hands);
            });
        }
        let (now, mut due) = (Instant::now(), Vec::new());
        for (&lane, xrc) in &on.setup.enter().xrc {
            due.extend(xrc.due().filter(|&due| due <= now).map(|_| lane));
        }
        for lane in due {
            self.over_xrc(rail, lane, |connections, now, hands| {
                connections.tick(now, hands)
            });
        }
    }

    /// A lane receives nothing over XRC any more.
    pub fn leave_hosts(&self, lane: u32) {
        for rail in 0..self.rails.len() {
            self.over_xrc(rail, lane, |connections, now, hands| {
                connections.leave(now, hands)
            });
        }
    }

    /// A peer is lost, whatever it was to this process.
    pub(super) fn lost_over_xrc(&self, peer: Peer) {
        for rail in 0..self.rails.len() {
            for lane in self.lanes_over_xrc(rail) {
                self.over_xrc(rail, lane, |connections, now, hands| {
                    connections.lost(Process(peer.into()), now, hands);
                });
            }
        }
    }

    /// Does something with a lane's connections, and what follows from it.
    fn over_xrc(
        &self,
        rail: usize,
        lane: u32,
        action: impl FnOnce(&mut Connections, u64, &mut LaneHands<'_>),
    ) {
        let on = &self.rails[rail];
        let ways = |peer: Peer| on.ways.enter().get(&peer).cloned();
        let actor = Actor {
            adapter: &on.adapter,
            ways: &ways,
        };
        let mut setup = on.setup.enter();
        let Some(xrc) = setup.xrc.get_mut(&lane) else {
            return;
        };
        let Done {
            left,
            datagrams,
            events,
        } = xrc.act(&actor, action);
        // A lane knows of what it receives before the peer does.
        left.into_iter()
            .for_each(|left| self.leave(lane, rail, left));
        for (to, bytes) in datagrams {
            self.send_over_xrc(rail, &mut setup, (to.0 as Peer, lane), bytes);
        }
        drop(setup);
        for event in events {
            self.become_of_xrc(rail, lane, event);
        }
    }

    fn send_over_xrc(&self, rail: usize, setup: &mut Setup, name: Name, bytes: Vec<u8>) {
        let Some(way) = self.rails[rail].ways.enter().get(&name.0).cloned() else {
            return;
        };
        let is_request = XrcMessage::read(&bytes).map(|text| matches!(text.body, Body::Request(_)));
        let (step, key) = match (is_request, way.card.host) {
            (Ok(true), Some(host)) => {
                let host = self.hosts.of(name.0, host);
                (LinkStep::XrcRequest(host, bytes), way.card.key)
            }
            _ => (LinkStep::XrcAnswer(bytes), self.identity.key),
        };
        let datagram = self.message(name, step).put(&key);
        setup.datagrams().send(&way.handle, way.to(), &datagram);
    }

    pub(super) fn message(&self, name: Name, step: LinkStep) -> Message {
        message(step, name, [0; 16], &self.identity)
    }

    fn become_of_xrc(&self, rail: usize, lane: u32, event: Event) {
        match event {
            Event::Connected { peer, send, queues } => {
                let peer = peer.0 as Peer;
                let Some(way) = self.rails[rail].ways.enter().get(&peer).cloned() else {
                    return;
                };
                self.watching.connects(peer);
                self.leave(
                    lane,
                    rail,
                    Left::Reached {
                        peer,
                        routes: way.routes,
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
            } => self.begin_again(rail, (peer.0 as Peer, lane)),
            Event::Failed { peer, why } => {
                let peer = peer.0 as Peer;
                match why {
                    Failure::Refused(Reason::Leaving) => {
                        self.lose(peer, lost(peer, "its process has finished"), true);
                    }
                    why => self.no_way(rail, (peer, lane), why.to_string()),
                }
            }
        }
    }

    /// Receive queue pairs to which this process refers.
    pub fn receive_queue_pairs(&self) -> usize {
        let of = |rail: &Rail| {
            let setup = rail.setup.enter();
            let all = setup.xrc.values().map(LaneXrc::receive_queue_pairs);
            all.sum::<usize>()
        };
        self.rails.iter().map(of).sum()
    }
}

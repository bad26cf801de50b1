//! How a lane's links come to their ways, and lose those to hosts.

use weft_pools::xrc::SharedQueue;
use weft_transport::Peer;
use weft_transport::endings::lost;

use super::{Links, name};
use crate::frame::{FrameKind, Malformed};
use crate::left::Made;
use crate::link::Link;
use crate::parts::MadePair;
use crate::routes::Route;
use crate::send_queue::SendQueue;

impl Links {
    /// The link to a peer, begun if there is none; none to a lost one.
    pub(super) fn link_to(&mut self, peer: Peer, routes: &[Route]) -> Option<usize> {
        if self.book.is_lost(peer) {
            return None;
        }
        if let Some(&link) = self.by_peer.get(&peer) {
            return Some(link);
        }
        let number = self.links.len();
        self.by_peer.insert(peer, number);
        let rails = routes.iter().map(|route| &self.shared.rails[route.rail]);
        let most_bytes = rails.map(|rail| rail.adapter.most_bytes).min();
        let most_bytes = most_bytes.expect("a way to the peer");
        let link = Link::new(number, self.lane, peer, routes, most_bytes);
        self.links.push(Some(Box::new(link)));
        self.counts().links.add(1);
        Some(number)
    }

    pub(super) fn attach(&mut self, rail: usize, made: Made, routes: &[Route]) {
        let peer = made.name.0;
        let Some(number) = self.link_to(peer, routes) else {
            return;
        };
        let counts = self.counts();
        counts.queue_pairs.add(made.pairs.len() as u64);
        for own in made.pairs.iter().filter_map(|made| made.own.as_ref()) {
            counts.buffers.add(own.count() as u64);
            counts.buffer_bytes.add(own.buffer_bytes() as u64);
        }
        let first = self.queues.len();
        for MadePair { pair, own } in made.pairs {
            let name = name(rail, pair.number());
            self.by_send.insert(name, self.queues.len());
            self.by_receive.insert(name, number);
            let queue = SendQueue::to_peer(rail, pair, own, routes.len() == 1);
            self.queues.push(Some(queue));
        }
        let pairs = first..self.queues.len();
        let there = self.links[number].as_mut().expect("a link of the lane's");
        let place = there.connect(rail, pairs.clone(), made.is_open, &mut self.queues);
        let Some(place) = place else {
            // The path has failed meanwhile.
            return pairs.for_each(|queue| self.retire(queue));
        };
        if made.is_open {
            there.say(FrameKind::Ready, [place as u64, 0]);
        }
        self.changed(number);
    }

    /// A peer is reached over XRC.
    pub(super) fn reached(
        &mut self,
        rail: usize,
        peer: Peer,
        routes: &[Route],
        send: u32,
        theirs: &[SharedQueue],
    ) {
        let Some(number) = self.link_to(peer, routes) else {
            return;
        };
        let there = self.links[number].as_mut().expect("a link of the lane's");
        let Some(&queue) = self.by_send.get(&name(rail, send)) else {
            // The queue pair has failed meanwhile.
            there.asks_again(rail);
            return self.ask_again(number);
        };
        let connected = there.connect_over_xrc(rail, queue, theirs, &mut self.queues);
        if let Err(Malformed(what)) = connected {
            return self.lose(peer, lost(peer, format!("it has {what}")), false);
        }
        self.changed(number);
    }

    /// A link has a further way.
    fn changed(&mut self, link: usize) {
        let there = self.at(link);
        let (peer, is_open) = (there.peer, there.is_open);
        if is_open {
            self.book.opened(peer);
        } else if self.book.awaits_link(peer) {
            self.ask_again(link);
        }
        self.activate(link);
    }

    /// Has what is missing of a link be made, if somebody waits for it.
    pub fn ask_again(&mut self, link: usize) {
        let Some(there) = &self.links[link] else {
            return;
        };
        let peer = there.peer;
        let is_needed = there.has_queued() || self.book.awaits_link(peer);
        if is_needed && !self.at(link).stands() {
            self.want(peer, link);
            self.book.connect(peer);
        }
    }

    /// Ends the queue pair to a host. What was under way on it goes again by the next one.
    pub(super) fn drop_queue(&mut self, queue: usize) {
        for link in self.end_queue(queue) {
            self.ask_again(link);
        }
    }

    /// Ends the queue pair to a host, and takes back what was under way on it. The links that it was of.
    pub(super) fn end_queue(&mut self, queue: usize) -> Vec<usize> {
        let Some(mut dropped) = self.queues[queue].take() else {
            return Vec::new();
        };
        let rail = dropped.rail;
        self.by_send.remove(&name(rail, dropped.pair.number()));
        let Some(parts) = &mut self.parts[rail] else {
            return Vec::new();
        };
        // One that has failed already is as it should be.
        let _ = dropped.pair.fail();
        parts.forget(dropped.pair.number());
        for request in dropped.take_rest(&mut parts.posting).into_iter().rev() {
            match &mut self.links[request.link] {
                Some(there) => there.take_back(request, rail, &mut parts.posting),
                None => request.give_back(&mut parts.posting),
            }
        }
        drop(dropped);
        self.counts().send_queue_pairs.take(1);
        let all = self.links.iter_mut().enumerate();
        let its = all.filter_map(|(link, there)| there.as_mut()?.disconnect(queue).then_some(link));
        its.collect()
    }
}

//! How a lane's links come to their ways, and lose those to hosts.

use weft_pools::Pool;
use weft_pools::xrc::SharedQueue;
use weft_transport::Peer;
use weft_transport::endings::lost;

use super::Links;
use crate::frame::{Kind, Malformed};
use crate::left::Made;
use crate::link::Link;
use crate::parts::MadePair;
use crate::send_queue::SendQueue;

impl Links {
    /// The link to a peer, begun if there is none; none to a lost one.
    pub(super) fn link_to(&mut self, peer: Peer, pools: &[Pool]) -> Option<usize> {
        if self.lost.contains_key(&peer) {
            return None;
        }
        if let Some(&link) = self.by_peer.get(&peer) {
            return Some(link);
        }
        let number = self.links.len();
        self.by_peer.insert(peer, number);
        let most_bytes = self.shared.adapter.most_bytes;
        let link = Link::new(number, peer, pools, most_bytes);
        self.links.push(Some(Box::new(link)));
        self.counts().links.add(1);
        Some(number)
    }

    pub(super) fn attach(&mut self, made: Made) {
        let peer = made.name.0;
        let Some(number) = self.link_to(peer, &made.pools) else {
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
            self.by_send.insert(pair.number(), self.queues.len());
            self.by_receive.insert(pair.number(), number);
            self.queues.push(Some(SendQueue::to_peer(pair, own)));
        }
        let pairs = first..self.queues.len();
        let (there, queues, _) = self.all(number);
        there.connect(pairs, made.is_open, queues);
        if made.is_open {
            there.say(Kind::Ready, [0; 2]);
        }
        self.changed(number);
    }

    /// A peer is reached over XRC.
    pub(super) fn reached(
        &mut self,
        peer: Peer,
        pools: &[Pool],
        send: u32,
        theirs: &[SharedQueue],
    ) {
        let Some(number) = self.link_to(peer, pools) else {
            return;
        };
        let Some(&queue) = self.by_send.get(&send) else {
            // The queue pair has failed meanwhile.
            self.at(number).is_asked = false;
            return self.ask_again(number);
        };
        let (there, queues, _) = self.all(number);
        if let Err(Malformed(what)) = there.connect_over_xrc(queue, theirs, queues) {
            return self.lose(peer, lost(peer, format!("it has {what}")), false);
        }
        self.changed(number);
    }

    /// A link has a further way.
    fn changed(&mut self, link: usize) {
        let there = self.at(link);
        let (peer, is_open) = (there.peer, there.is_open);
        if is_open {
            self.opened(peer);
        } else if self.waiting.contains(&peer) {
            self.ask_again(link);
        }
        self.activate(link);
    }

    /// Has what is missing of a link be made, if somebody waits for it.
    pub fn ask_again(&mut self, link: usize) {
        let there = self.at(link);
        let peer = there.peer;
        let is_needed = there.has_queued() || self.waiting.contains(&peer);
        if is_needed && !self.at(link).stands() {
            self.want(peer, link);
            self.wanted.push(peer);
        }
    }

    /// Ends the queue pair to a host. What was under way on it goes again by the next one.
    pub(super) fn drop_queue(&mut self, queue: usize) {
        let (Some(mut dropped), Some(parts)) = (self.queues[queue].take(), &mut self.parts) else {
            return;
        };
        self.by_send.remove(&dropped.pair.number());
        // One that has failed already is as it should be.
        let _ = dropped.pair.fail();
        parts.forget(dropped.pair.number());
        for request in dropped.take_rest(&mut parts.posting).into_iter().rev() {
            match &mut self.links[request.link] {
                Some(there) => there.take_back(request, &mut parts.posting),
                None => request.give_back(&mut parts.posting),
            }
        }
        drop(dropped);
        self.counts().send_queue_pairs.take(1);
        for link in 0..self.links.len() {
            if let Some(there) = &mut self.links[link]
                && there.disconnect(queue)
            {
                self.ask_again(link);
            }
        }
    }

    /// A link can be sent on.
    pub(super) fn opened(&mut self, peer: Peer) {
        if self.waiting.remove(&peer) {
            self.connected.push(peer);
        }
    }
}

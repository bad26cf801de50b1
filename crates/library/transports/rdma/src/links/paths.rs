//! How a lane's links change from a path that has failed to another.
//!
//! A path fails when the port of its rail is down, when a request by it was tried in vain until its time-out, or when the peer says that it
//! has failed. What was under way by it goes again by another one: frames with the numbers that they had, by which the peer knows those
//! that it has had; reads and accesses in the pieces that were not done. What had come by the path before it failed, and was answered by the adapter, is
//! taken first: a queue pair of it that receives goes only once the completion queue has been emptied since.

use std::time::{Duration, Instant};

use weft_transport::endings::lost;
use weft_transport::progress_clock::ProgressClock;

use super::{Links, PATIENCE, name};
use crate::frame::FrameKind;
use crate::send_queue::SendQueue;

impl Links {
    /// A path of a link's has failed. If there is no other, the peer is lost: `why` tells of what is known, and whether it died.
    #[cold]
    pub(super) fn path_failed(
        &mut self,
        link: usize,
        rail: usize,
        why: impl FnOnce(&Links) -> (String, bool),
        is_told: bool,
    ) {
        let Some(there) = &self.links[link] else {
            return;
        };
        let peer = there.peer;
        let is_known = there.paths().any(|path| path.rail == rail && path.is_down);
        if is_known {
            return;
        }
        if !there.has_beside(rail) {
            let (why, died) = why(self);
            return self.lose(peer, lost(peer, why), died);
        }
        let path = there.paths().find(|path| path.rail == rail);
        let Some((place, pairs)) = path.map(|path| (path.place, path.pairs.clone())) else {
            return;
        };
        pairs.for_each(|queue| self.retire(queue));
        self.leave_host_by(link, rail);
        let Some(there) = &mut self.links[link] else {
            return;
        };
        if there.path.rail == rail
            && let Some(parts) = &mut self.parts[rail]
        {
            there.copy_parts(&mut parts.posting);
        }
        there.fail_path(rail);
        if is_told {
            there.say(FrameKind::Down, [place as u64, 0]);
        }
        if !there.is_open {
            there.waits = Some(ProgressClock::default());
        }
        let is_open = there.is_open;
        self.counts().failovers.add(1);
        match is_open {
            true => self.book.opened(peer),
            false => self.ask_again(link),
        }
        self.activate(link);
    }

    /// What is under way to a peer by a queue pair to its host that is to be used for others still goes again by another path.
    fn leave_host_by(&mut self, link: usize, rail: usize) {
        let Some(there) = &self.links[link] else {
            return;
        };
        let path = there.paths().find(|path| path.rail == rail);
        let over_xrc = path.and_then(|path| path.ways.iter().find(|way| way.is_over_xrc())?.queue);
        let Some(queue) = over_xrc else {
            return;
        };
        let host = self.queues[queue].as_ref().and_then(|queue| queue.host);
        self.drop_queue(queue);
        host.into_iter()
            .for_each(|host| self.shared.send_failed(rail, self.lane, host));
    }

    /// Nothing more is posted to a queue pair (RC), and what was under way on it is taken back.
    pub(super) fn retire(&mut self, queue: usize) {
        let Some(there) = &mut self.queues[queue] else {
            return;
        };
        let Some(parts) = &mut self.parts[there.rail] else {
            return;
        };
        if std::mem::replace(&mut there.is_retired, true) {
            return;
        }
        // One that has failed already is as it should be.
        let _ = there.pair.fail();
        for request in there.take_rest(&mut parts.posting).into_iter().rev() {
            match &mut self.links[request.link] {
                Some(link) => link.take_back(request, there.rail, &mut parts.posting),
                None => request.give_back(&mut parts.posting),
            }
        }
        self.retired.push(queue);
    }

    /// All that had come by a rail until it was looked at is taken: those of its queue pairs go that had failed before, the first so many.
    #[cold]
    pub(super) fn drop_retired(&mut self, rail: usize, before: usize) {
        let later = self.retired.split_off(before);
        for queue in std::mem::replace(&mut self.retired, later) {
            let Some(there) = self.queues[queue].take_if(|there| there.rail == rail) else {
                if self.queues[queue].is_some() {
                    self.retired.push(queue);
                }
                continue;
            };
            let name = name(rail, there.pair.number());
            self.by_send.remove(&name);
            self.by_receive.remove(&name);
            if let Some(parts) = &mut self.parts[rail] {
                parts.forget(there.pair.number());
            }
            let counts = self.counts();
            counts.queue_pairs.take(1);
            if let Some(own) = &there.own {
                counts.buffers.take(own.count() as u64);
                counts.buffer_bytes.take(own.buffer_bytes() as u64);
            }
        }
    }

    /// The port of a rail is down: what has another way goes by that.
    #[cold]
    pub(super) fn rail_down(&mut self, rail: usize) {
        let to_host = |(number, queue): (usize, &Option<SendQueue>)| {
            let queue = queue.as_ref().filter(|queue| queue.rail == rail)?;
            Some((number, queue.host?))
        };
        let all = self.queues.iter().enumerate();
        let to_hosts: Vec<(usize, u64)> = all.filter_map(to_host).collect();
        let mut its = Vec::new();
        for (queue, host) in to_hosts {
            its.extend(self.end_queue(queue));
            self.shared.send_failed(rail, self.lane, host);
        }
        for link in 0..self.links.len() {
            let there = self.links[link].as_ref();
            if there.is_some_and(|there| there.has_beside(rail)) {
                self.path_failed(link, rail, |_| (String::new(), false), true);
            }
        }
        its.into_iter().for_each(|link| self.ask_again(link));
    }

    /// The peer says that a path has failed.
    pub(super) fn path_is_down(&mut self, link: usize, place: u64) {
        let there = self.at(link);
        let path = there.paths().find(|path| path.place as u64 == place);
        if let Some(rail) = path.map(|path| path.rail)
            && there.has_beside(rail)
        {
            self.path_failed(link, rail, |_| (String::new(), false), false);
        }
    }

    /// Links whose first path does not come to stand go by another that does. One that has failed with all the others is lost in time.
    pub(super) fn look_after_paths(&mut self, now: Instant) {
        for link in 0..self.links.len() {
            let Some(there) = &mut self.links[link] else {
                continue;
            };
            let is_wanted = there.has_queued() || self.book.awaits_link(there.peer);
            if there.others.is_empty() || there.is_open || !is_wanted {
                there.waits = None;
                continue;
            }
            let timeout = self.shared.identity.timeout;
            let waits = there.waits.get_or_insert_default();
            waits.look_at_one_try(timeout.unwrap_or(Duration::MAX), now);
            let is_over = timeout.is_some_and(|timeout| waits.is_over(timeout));
            if waits.time() >= PATIENCE && there.has_open_beside() {
                self.leave_path(link);
                continue;
            }
            let has_failed = there.others.iter().any(|path| path.is_down);
            if has_failed && is_over {
                let peer = there.peer;
                let why = "the one way to it has failed, and there has been no other in time";
                self.lose(peer, lost(peer, why), true);
            }
        }
    }

    /// Frames of a link go by another path that stands. This one has carried none.
    fn leave_path(&mut self, link: usize) {
        let Some(there) = &mut self.links[link] else {
            return;
        };
        if let Some(parts) = &mut self.parts[there.path.rail] {
            there.copy_parts(&mut parts.posting);
        }
        there.change_path();
        let peer = there.peer;
        self.book.opened(peer);
        self.activate(link);
    }

    #[cfg(test)]
    pub fn break_rail(&mut self, rail: usize) {
        let all = self.queues.iter().flatten();
        for queue in all.filter(|queue| queue.rail == rail) {
            queue.pair.fail().expect("a queue pair may fail");
        }
    }
}

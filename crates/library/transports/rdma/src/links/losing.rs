//! How a lane loses a peer: see the crate's text.

use std::time::{Duration, Instant};

use weft_transport::endings::lost;
use weft_transport::watching::Watched;
use weft_transport::{Header, Lost, Peer, Refused, Sink};
use weft_verbs::Error;

use super::Links;
use crate::frame::FrameKind;
use crate::path::Path;
use crate::send_queue::SendQueue;

/// Whether a queue pair is one link's.
fn is_one_s(queue: &Option<SendQueue>) -> bool {
    queue.as_ref().is_some_and(|queue| queue.host.is_none())
}

fn finished(peer: Peer) -> Lost {
    lost(peer, "its process has finished")
}

/// Hears nothing: the engine is no more.
struct Nobody;

impl Sink for Nobody {
    fn packet(&mut self, _: Peer, _: Header, _: &[u8]) {}
    fn sent(&mut self, _: u64) {}
    fn received(&mut self, _: u64) {}
    fn writable(&mut self, _: Peer) {}
    fn connect(&mut self, _: Peer) {}
    fn lost(&mut self, _: Peer, _: &Lost) {}
}

impl Links {
    /// Something is awaited of a peer: its loss is to be told here.
    pub fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        if self.by_peer.contains_key(&peer) {
            self.shared.expect(peer);
            return self.reach(peer).map(|_| ());
        }
        if self.book.is_lost(peer) {
            return Err(Refused::Lost);
        }
        match self.shared.watching.of(peer, one_of_many) {
            Watched::Enough => {
                self.shared.expect(peer);
                Ok(())
            }
            Watched::Not => {
                self.shared.expect(peer);
                self.reach(peer).map(|_| ())
            }
            // Told in the next turn, once a link that it had made before has been read.
            Watched::HasLeft => {
                self.shared.lose(peer, finished(peer), true);
                Ok(())
            }
        }
    }

    /// A peer has said goodbye.
    pub(super) fn left(&mut self, peer: Peer, link: usize) {
        self.shared.watching.left(peer);
        let there = self.at(link);
        if there.sending.count() > 0 || there.has_memory() {
            self.lose_left(peer);
        }
    }

    /// Something is wanted of a peer that has left.
    #[cold]
    pub(super) fn lose_left(&mut self, peer: Peer) {
        self.lose(peer, finished(peer), true);
    }

    /// A call for a link has failed.
    #[cold]
    pub(super) fn failed(&mut self, peer: Peer, error: &Error) {
        self.lose(
            peer,
            lost(peer, format!("the link to it failed: {error}")),
            false,
        );
    }

    /// Loses a peer for all lanes.
    #[cold]
    pub fn lose(&mut self, peer: Peer, why: Lost, died: bool) {
        let first = self.shared.lose(peer, why, died);
        self.lose_here(peer, first);
    }

    /// Ends all that this lane has to do with a peer.
    fn lose_here(&mut self, peer: Peer, why: Lost) {
        if self.book.is_lost(peer) {
            return;
        }
        if let Some(link) = self.by_peer.remove(&peer) {
            self.drop_link(link);
        }
        self.book.lose(peer, why);
    }

    /// Ends a link: from here on the adapter touches no memory for it. What has come on others is kept, for a queue pair that is
    /// destroyed may take its completions with it, and buffers in them.
    fn drop_link(&mut self, link: usize) {
        self.active.retain(|&other| other != link);
        self.refused.retain(|&other| other != link);
        self.leave_host(link);
        let Some(mut there) = self.links[link].take() else {
            return;
        };
        let (mut dropped, mut own) = (Vec::new(), Vec::new());
        let (by_send, queues) = (&self.by_send, &self.queues);
        self.by_receive.retain(|number, of| {
            let queue = by_send.get(number).filter(|_| *of == link);
            // Receive queue pairs (XRC) are none of these, although a number may be one's too.
            let queue = queue.filter(|&&queue| is_one_s(&queues[queue]));
            dropped.extend(queue.map(|&queue| (*number, queue)));
            *of != link
        });
        for &(number, queue) in &dropped {
            self.by_send.remove(&number);
            if let Some(mut queue) = self.queues[queue].take() {
                // One that has failed already is as it should be.
                let _ = queue.pair.fail();
                if let Some(parts) = &mut self.parts[queue.rail] {
                    parts.forget(queue.pair.number());
                    queue.abandon(&mut parts.posting);
                }
                own.extend(queue.own);
            }
        }
        if let Some(parts) = &mut self.parts[there.path.rail] {
            there.abandon(&mut parts.posting);
        }
        // After its queue pairs: the memory of its transfers goes with it.
        drop(there);
        let counts = self.counts();
        counts.links.take(1);
        counts.queue_pairs.take(dropped.len() as u64);
        for own in own {
            counts.buffers.take(own.count() as u64);
            counts.buffer_bytes.take(own.buffer_bytes() as u64);
        }
    }

    /// The peer's host is to read nothing into memory that the peer's transfers had: its queue pair is another one from here on.
    fn leave_host(&mut self, link: usize) {
        let Some(there) = self.links[link].as_ref().filter(|there| there.has_memory()) else {
            return;
        };
        let to_host = |queue: &usize| {
            self.queues[*queue]
                .as_ref()
                .is_some_and(|q| q.host.is_some())
        };
        let of_path = |path: &Path| {
            let mut queues = path.ways.iter().filter_map(|way| way.queue);
            queues.find(to_host)
        };
        let queues: Vec<usize> = there.paths().filter_map(of_path).collect();
        for queue in queues {
            let to = self.queues[queue].as_ref();
            let host = to.and_then(|queue| Some((queue.rail, queue.host?)));
            self.drop_queue(queue);
            host.into_iter()
                .for_each(|(rail, host)| self.shared.send_failed(rail, self.lane, host));
        }
    }

    /// Loses the peers that other lanes have lost.
    #[cold]
    pub fn take_endings(&mut self) -> bool {
        let endings = self.book.take_endings(&self.shared.endings);
        let is_any = !endings.is_empty();
        for ending in endings {
            self.lose_here(ending.peer, ending.lost);
        }
        is_any
    }

    pub fn has_endings(&self) -> bool {
        self.book.has_endings(&self.shared.endings)
    }

    /// Says goodbye to all peers, and sees to it, for no longer than `patience`, that what was sent has arrived.
    pub fn leave(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        self.take_left();
        for link in 0..self.links.len() {
            let there = self.links[link].as_mut();
            if let Some(there) = there.filter(|there| !there.has_left && there.stands()) {
                there.say(FrameKind::Bye, [0; 2]);
                self.activate(link);
            }
        }
        let mut pause = Duration::from_micros(20);
        loop {
            self.pump();
            for link in 0..self.links.len() {
                if let Some(there) = &mut self.links[link] {
                    there.probe_rest(&mut self.queues);
                    self.post_all(link);
                    self.post_pairs(link);
                }
            }
            self.turn(&mut Nobody);
            self.connect_again();
            let mut links = self.links.iter().flatten();
            if !links.any(|there| there.is_leaving()) || Instant::now() >= end {
                break;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        self.shared.leave_hosts(self.lane);
    }

    /// Nobody else has links made any more.
    fn connect_again(&mut self) {
        let mut links = self.links.iter().flatten();
        if links.any(|there| there.is_leaving() && !there.stands()) {
            self.shared.serve();
        }
        for peer in self.book.take_to_connect() {
            self.shared.connect(peer);
        }
        if self.has_arrivals() {
            self.take_left();
        }
    }

    #[cfg(test)]
    pub fn drop_all(&mut self) {
        for link in 0..self.links.len() {
            self.drop_link(link);
        }
        self.by_peer.clear();
    }
}

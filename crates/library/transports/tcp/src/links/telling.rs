//! What the engine is told of a lane's links and transfers.

use weft_transport::{Cookie, Sink};

use super::Links;

impl Links {
    /// Takes note of the transfers that are complete.
    pub fn take_done(&mut self, link: usize) {
        let Some(link) = self.links.at_mut(link) else {
            return;
        };
        let peer = link.peer;
        if link.sending.has_done() {
            let done = link.sending.take_done();
            self.sent.extend(done.map(|cookie| (peer, cookie)));
        }
        if link.receiving.has_done() {
            let done = link.receiving.take_done();
            self.received.extend(done.map(|cookie| (peer, cookie)));
        }
    }

    /// Forgets that a transfer is complete.
    pub fn forget_sent(&mut self, cookie: Cookie) {
        self.sent.retain(|&(_, sent)| sent != cookie);
    }

    /// Tells the engine what has become of links and transfers.
    #[inline]
    pub fn tell(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = false;
        if !self.refused.is_empty() {
            moved |= self.tell_room(sink);
        }
        if !self.sent.is_empty() || !self.received.is_empty() {
            self.sent
                .drain(..)
                .for_each(|(_, cookie)| sink.sent(cookie));
            self.received
                .drain(..)
                .for_each(|(_, cookie)| sink.received(cookie));
            moved = true;
        }
        if self.has_news() {
            self.tell_news(sink);
            moved = true;
        }
        moved
    }

    pub(super) fn has_news(&self) -> bool {
        !(self.connected.is_empty() && self.untold.is_empty() && self.to_connect.is_empty())
    }

    #[cold]
    fn tell_news(&mut self, sink: &mut impl Sink) {
        self.connected
            .drain(..)
            .for_each(|peer| sink.writable(peer));
        self.to_connect
            .drain(..)
            .for_each(|peer| sink.connect(peer));
        for (peer, why) in self.untold.drain(..) {
            sink.lost(peer, &why);
        }
    }

    /// Tells of busy peers that are so no more. A peer to which a burst was sent is none, in a turn.
    pub fn tell_room(&mut self, sink: &mut impl Sink) -> bool {
        let before = self.refused.len();
        let links = &mut self.links;
        self.refused.retain(|&link| {
            let Some(link) = links.at_mut(link).filter(|link| link.has_room()) else {
                return true;
            };
            sink.writable(link.peer);
            false
        });
        self.refused.len() != before
    }

    pub fn has_refused(&self) -> bool {
        !self.refused.is_empty()
    }
}

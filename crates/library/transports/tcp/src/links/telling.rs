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
            done.for_each(|cookie| self.book.sent(peer, cookie));
        }
        if link.receiving.has_done() {
            let done = link.receiving.take_done();
            done.for_each(|cookie| self.book.received(peer, cookie));
        }
    }

    /// Forgets that a transfer is complete.
    pub fn forget_sent(&mut self, cookie: Cookie) {
        self.book.forget_sent(cookie);
    }

    /// Tells the engine what has become of links and transfers.
    #[inline]
    pub fn tell(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = false;
        if !self.refused.is_empty() {
            moved |= self.tell_room(sink);
        }
        moved | self.book.tell(sink)
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

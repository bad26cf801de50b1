//! What a lane knows of peers besides the links that it has: those that it waits for, those that are lost; and what its engine is
//! to be told of all that.

use std::collections::{BTreeMap, BTreeSet};

use crate::endings::{Ending, Endings};
use crate::{Cookie, Lost, Peer, Sink};

/// One lane's.
#[derive(Default)]
pub struct Book {
    /// Peers to which a link is awaited.
    awaited: BTreeSet<Peer>,
    /// Every peer that is lost, and why.
    lost: BTreeMap<Peer, Lost>,
    endings_seen: usize,
    /// The rest is for the engine: peers that can be sent to now,
    connected: Vec<Peer>,
    /// peers to which it is to have a link made,
    to_connect: Vec<Peer>,
    /// peers that are lost,
    untold: Vec<(Peer, Lost)>,
    /// and transfers that are complete, by the peer whose loss takes that back.
    sent: Vec<(Peer, Cookie)>,
    received: Vec<(Peer, Cookie)>,
}

impl Book {
    pub fn is_lost(&self, peer: Peer) -> bool {
        self.lost.contains_key(&peer)
    }

    /// The lane waits for a link from here on. Whether it did not before.
    pub fn await_link(&mut self, peer: Peer) -> bool {
        self.awaited.insert(peer)
    }

    pub fn awaits_link(&self, peer: Peer) -> bool {
        self.awaited.contains(&peer)
    }

    pub fn awaited(&self) -> impl Iterator<Item = Peer> {
        self.awaited.iter().copied()
    }

    /// A link can be sent on, of which the engine hears if the lane waited for it.
    pub fn opened(&mut self, peer: Peer) {
        if self.awaited.remove(&peer) {
            self.connected.push(peer);
        }
    }

    /// The engine is to have a link made.
    pub fn connect(&mut self, peer: Peer) {
        self.to_connect.push(peer);
    }

    /// Those for whom nobody told the engine so yet.
    pub fn take_to_connect(&mut self) -> Vec<Peer> {
        std::mem::take(&mut self.to_connect)
    }

    /// A transfer to the peer is complete.
    pub fn sent(&mut self, peer: Peer, cookie: Cookie) {
        self.sent.push((peer, cookie));
    }

    /// Its sender has given it up.
    pub fn forget_sent(&mut self, cookie: Cookie) {
        self.sent.retain(|&(_, sent)| sent != cookie);
    }

    /// A transfer from the peer is complete.
    pub fn received(&mut self, peer: Peer, cookie: Cookie) {
        self.received.push((peer, cookie));
    }

    /// The peer is lost: of what was to be told of it only that remains. Only the first loss counts.
    pub fn lose(&mut self, peer: Peer, why: Lost) {
        if self.is_lost(peer) {
            return;
        }
        self.awaited.remove(&peer);
        self.connected.retain(|&other| other != peer);
        self.to_connect.retain(|&other| other != peer);
        self.sent.retain(|&(other, _)| other != peer);
        self.received.retain(|&(other, _)| other != peer);
        self.lost.insert(peer, why.clone());
        self.untold.push((peer, why));
    }

    /// Whether other lanes have lost peers since this one looked.
    #[inline]
    pub fn has_endings(&self, endings: &Endings) -> bool {
        endings.count() != self.endings_seen
    }

    /// The peers that any lane has lost since this one looked.
    pub fn take_endings(&mut self, endings: &Endings) -> Vec<Ending> {
        let new = endings.after(self.endings_seen);
        self.endings_seen += new.len();
        new
    }

    /// Whether there is something to tell.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.has_transfers() || self.has_peers()
    }

    #[inline]
    fn has_transfers(&self) -> bool {
        !(self.sent.is_empty() && self.received.is_empty())
    }

    #[inline]
    fn has_peers(&self) -> bool {
        !(self.connected.is_empty() && self.to_connect.is_empty() && self.untold.is_empty())
    }

    /// Tells the engine. Whether there was something.
    #[inline]
    pub fn tell(&mut self, sink: &mut impl Sink) -> bool {
        let mut told = false;
        if self.has_transfers() {
            let sent = self.sent.drain(..);
            sent.for_each(|(_, cookie)| sink.sent(cookie));
            let received = self.received.drain(..);
            received.for_each(|(_, cookie)| sink.received(cookie));
            told = true;
        }
        if self.has_peers() {
            self.tell_of_peers(sink);
            told = true;
        }
        told
    }

    #[cold]
    fn tell_of_peers(&mut self, sink: &mut impl Sink) {
        let connected = self.connected.drain(..);
        connected.for_each(|peer| sink.writable(peer));
        let to_connect = self.to_connect.drain(..);
        to_connect.for_each(|peer| sink.connect(peer));
        for (peer, why) in self.untold.drain(..) {
            sink.lost(peer, &why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Header;
    use crate::endings::lost;

    /// What an engine hears, a line each.
    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Sink for Heard {
        fn packet(&mut self, _: Peer, _: Header, _: &[u8]) {}
        fn sent(&mut self, cookie: Cookie) {
            self.0.push(format!("sent {cookie}"));
        }
        fn received(&mut self, cookie: Cookie) {
            self.0.push(format!("received {cookie}"));
        }
        fn writable(&mut self, peer: Peer) {
            self.0.push(format!("writable {peer}"));
        }
        fn connect(&mut self, peer: Peer) {
            self.0.push(format!("connect {peer}"));
        }
        fn lost(&mut self, peer: Peer, why: &Lost) {
            self.0.push(format!("lost {peer}: {why}"));
        }
    }

    fn heard(book: &mut Book) -> Vec<String> {
        let mut heard = Heard::default();
        assert_eq!(book.has_news(), book.tell(&mut heard));
        assert!(!book.has_news());
        heard.0
    }

    #[test]
    fn who_waits_for_a_link_hears_of_it_once() {
        let mut book = Book::default();
        book.opened(3);
        assert!(heard(&mut book).is_empty(), "nobody waited");
        assert!(book.await_link(3) && !book.await_link(3));
        book.connect(3);
        assert_eq!(heard(&mut book), ["connect 3"]);
        assert!(book.awaits_link(3) && book.awaited().eq([3]));
        book.opened(3);
        book.opened(3);
        assert_eq!(heard(&mut book), ["writable 3"]);
        assert!(!book.awaits_link(3));
    }

    #[test]
    fn a_loss_takes_back_what_was_to_be_told() {
        let mut book = Book::default();
        for peer in [3, 5] {
            let cookie = Cookie::from(peer);
            book.sent(peer, 10 + cookie);
            book.received(peer, 20 + cookie);
            book.connect(peer);
            assert!(book.await_link(peer));
        }
        book.opened(3);
        book.sent(5, 30);
        book.forget_sent(30);
        book.lose(3, lost(3, "gone"));
        book.lose(3, lost(3, "gone again"));
        assert!(book.is_lost(3) && !book.is_lost(5) && !book.awaits_link(3));
        let rest = [
            "sent 15",
            "received 25",
            "connect 5",
            "lost 3: rank 3 is lost: gone",
        ];
        assert_eq!(heard(&mut book), rest);
        assert!(book.is_lost(3), "for ever");
    }

    #[test]
    fn each_lane_sees_all_endings() {
        let endings = Endings::new();
        let mut lanes = [Book::default(), Book::default()];
        for peer in [7, 8] {
            let ending = Ending {
                peer,
                lost: lost(peer, "gone"),
                died: true,
            };
            endings.enter(ending);
            assert!(lanes[0].has_endings(&endings));
            let seen = lanes[0].take_endings(&endings);
            assert_eq!(seen.iter().map(|one| one.peer).collect::<Vec<_>>(), [peer]);
        }
        assert!(!lanes[0].has_endings(&endings));
        assert_eq!(lanes[1].take_endings(&endings).len(), 2);
    }
}

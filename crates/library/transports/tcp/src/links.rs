//! A lane's links: which there are, which are hot, which have something to write, what the engine is to be told of them.

mod losing;
mod seeking;
mod silent;
mod sleeping;
mod telling;
mod turn;
mod writing;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_transport::links::Book;
use weft_transport::{Peer, Refused};

use crate::channel::MOST_READ_BYTES;
use crate::counters::Counts;
use crate::frame::FrameKind;
use crate::handshake::Purpose;
use crate::identity::ConnectionName as Name;
use crate::link::Link;
use crate::shared::Shared;
use crate::slab::Slab;
use crate::system::Poller;

/// A connection among those that are read each turn.
struct Hot {
    place: ConnectionId,
    /// Turns without anything.
    idle: u32,
    /// Turns since it became hot, or the lane last slept.
    turns: u32,
}

/// A connection of the lane's.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ConnectionId {
    link: usize,
    purpose: Purpose,
}

impl ConnectionId {
    fn token(self) -> u64 {
        (self.link as u64) << 8 | u64::from(self.purpose.code())
    }

    fn of(token: u64) -> ConnectionId {
        ConnectionId {
            link: (token >> 8) as usize,
            purpose: Purpose::of_code(token as u8),
        }
    }
}

/// One lane's.
pub struct Links {
    pub shared: Arc<Shared>,
    pub lane: u32,
    poller: Poller,
    links: Slab<Box<Link>>,
    by_peer: BTreeMap<Peer, usize>,
    hot: Vec<Hot>,
    /// Connections that wait for room.
    blocked: Vec<ConnectionId>,
    /// Links to which something was gathered in this turn.
    gathered: Vec<usize>,
    /// Links whose peers the engine takes for busy.
    refused: Vec<usize>,
    book: Book,
    looks_for_silence_at: Instant,
    /// For reading, and for packing what is written.
    buffer: Box<[u8]>,
}

impl Links {
    pub fn new(shared: Arc<Shared>, lane: u32, poller: Poller) -> Links {
        Links {
            shared,
            lane,
            poller,
            links: Slab::new(),
            by_peer: BTreeMap::new(),
            hot: Vec::new(),
            blocked: Vec::new(),
            gathered: Vec::new(),
            refused: Vec::new(),
            book: Book::default(),
            looks_for_silence_at: Instant::now(),
            buffer: vec![0; 2 * MOST_READ_BYTES].into(),
        }
    }

    fn counts(&self) -> &Counts {
        &self.shared.lanes[self.lane as usize].counts
    }

    /// The link to a peer. Without one, one is asked for.
    #[inline]
    pub fn reach(&mut self, peer: Peer) -> Result<usize, Refused> {
        let Some(&link) = self.by_peer.get(&peer) else {
            return Err(self.no_link(peer));
        };
        if self.links.at(link).is_some_and(|link| link.has_left) {
            self.lose_left(peer);
            return Err(Refused::Lost);
        }
        Ok(link)
    }

    #[cold]
    fn no_link(&mut self, peer: Peer) -> Refused {
        assert_ne!(
            peer, self.shared.identity.rank,
            "a message to itself came to a transport"
        );
        if self.book.is_lost(peer) {
            return Refused::Lost;
        }
        if self.book.await_link(peer) {
            self.shared.want(Name {
                peer,
                lane: self.lane,
                purpose: Purpose::Packets,
            });
        }
        Refused::Connecting
    }

    #[inline]
    pub fn at(&mut self, link: usize) -> &mut Link {
        self.links.at_mut(link).expect("a link of the lane's")
    }

    /// A peer was told to be busy: it is told when it is not.
    pub fn refuse(&mut self, link: usize) {
        if !self.refused.contains(&link) {
            self.refused.push(link);
        }
    }

    fn heat(&mut self, place: ConnectionId) {
        let Some(link) = self.links.at_mut(place.link) else {
            return;
        };
        let channel = link.channel(place.purpose);
        if channel.socket.is_some() && !std::mem::replace(&mut channel.is_hot, true) {
            self.hot.push(Hot {
                place,
                idle: 0,
                turns: 0,
            });
        }
    }

    /// What stood on the connections for bulk data is wanted now, or something behind it.
    pub fn unstall(&mut self, link: usize) {
        self.unstall_one(link, Purpose::Bulk);
        self.each_stripe(link, Links::unstall_one);
        self.seek_if_due(link);
    }

    fn unstall_one(&mut self, link: usize, purpose: Purpose) {
        if let Some(there) = self.links.at_mut(link) {
            there.channel(purpose).is_stalled = false;
            // A connection that is hot rings when it is to: `arm` sees to that.
            self.heat(ConnectionId { link, purpose });
        }
    }

    /// Does something with each connection for stripes that stands.
    fn each_stripe(&mut self, link: usize, mut what: impl FnMut(&mut Links, usize, Purpose)) {
        let Some(there) = self.links.at_mut(link) else {
            return;
        };
        let numbers: Vec<u8> = there.channels.stripes().collect();
        for number in numbers {
            what(self, link, Purpose::Stripe(number));
        }
    }

    /// Gives credit for what was taken, once it is worth a frame, and tells what has come in stripes.
    pub fn give_credit(&mut self, link: usize) {
        let there = self.at(link);
        if there.receiving.has_wholes() {
            let Link {
                channels,
                receiving,
                ..
            } = there;
            let wholes = receiving.take_wholes();
            wholes.for_each(|id| channels.lane.out.push(FrameKind::Whole, [id, 0]));
            self.gather(link);
        }
        let there = self.at(link);
        if let Some(credit) = there.receiving.take_credit() {
            there.out().push(FrameKind::Credit, [credit as u64, 0]);
            self.gather(link);
        }
    }

    /// One line for each peer with something pending.
    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for peer in self.book.awaited() {
            writeln!(out, "  a connection to rank {peer} is being made")?;
        }
        for (_, link) in self.links.iter() {
            link.describe(out)?;
        }
        Ok(())
    }

    #[cfg(test)]
    pub fn drop_all(&mut self) {
        for link in self.links.which(|_| true) {
            self.links.remove(link);
        }
    }

    /// Says goodbye to all peers, and sees to it, for no longer than `patience`, that what was sent has arrived.
    pub fn leave(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        for link in self.links.which(|_| true) {
            self.at(link).out().push(FrameKind::Bye, [0, 0]);
        }
        let mut pause = Duration::from_micros(50);
        loop {
            let counts = &self.shared.lanes[self.lane as usize].counts;
            let mut waits = false;
            for link in self.links.which(|_| true) {
                let link = self.links.at_mut(link).expect("just seen");
                waits |= !link.has_parted(&mut self.buffer, counts);
            }
            if !waits || Instant::now() >= end {
                return;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
    }
}

//! A lane's turn: what has come is looked for, read and taken.

use socket2::Socket;
use weft_transport::Sink;

use super::{ConnectionId, Hot, Links};
use crate::handshake::Purpose;
use crate::identity::ConnectionName as Name;
use crate::link::Link;
use crate::sending::Stream;
use crate::shared::STRIPES;
use crate::system::{Interest, explained};
use weft_transport::endings::lost;

/// A connection that brings nothing for so many turns is no longer hot, and for so many where it is the only one.
const COOLS_AFTER: u32 = 256;
const ALONE_COOLS_AFTER: u32 = 1 << 16;
/// One that was read in so many turns since the lane slept rings no more.
const QUIET_AFTER: u32 = 64;

impl Links {
    /// One turn: takes what has come, writes what waits for room. Whether anything moved.
    pub fn turn(&mut self, looks: bool, sink: &mut impl Sink) -> bool {
        let mut moved = false;
        if looks || self.hot.is_empty() || self.shared.is_signalled(self.lane) {
            moved |= self.look();
        }
        if self.book.has_endings(&self.shared.endings) {
            moved |= self.take_endings();
        }
        moved |= self.read_hot(sink);
        if !self.blocked.is_empty() {
            moved |= self.write_blocked();
        }
        moved
    }

    /// Looks at all that may have come.
    #[cold]
    fn look(&mut self) -> bool {
        if !self.shared.is_signalled(self.lane) {
            self.counts().idle_calls.add(1);
            self.shared.look(0);
        }
        if !self.shared.is_signalled(self.lane) {
            return false;
        }
        self.shared.take_signal(self.lane);
        let moved = self.attach_arrived();
        let mut places = Vec::new();
        self.poller
            .wait(0, |token| places.push(ConnectionId::of(token)));
        places.into_iter().for_each(|place| self.heat(place));
        moved
    }

    /// Takes the connections that stand since the lane last looked.
    pub(super) fn attach_arrived(&mut self) -> bool {
        let arrived = self.shared.take_arrived(self.lane);
        let any = !arrived.is_empty();
        for (name, socket) in arrived {
            self.attach(name, socket);
        }
        any
    }

    /// A connection stands.
    fn attach(&mut self, name: Name, socket: Socket) {
        let Name { peer, purpose, .. } = name;
        if self.book.is_lost(peer) {
            return;
        }
        let link = *self
            .by_peer
            .entry(peer)
            .or_insert_with(|| self.links.insert(Box::new(Link::new(peer))));
        let place = ConnectionId { link, purpose };
        let channels = &mut self.links.at_mut(link).expect("just there").channels;
        if let Purpose::Stripe(number) = purpose {
            if channels.has_stripe(number) || channels.stripes().count() >= STRIPES {
                return;
            }
            channels.add_stripe(number);
        }
        let channel = channels.of(purpose);
        let identity = &self.shared.identity;
        if let Err(error) = channel.open(socket, identity, &self.poller, place.token()) {
            if purpose.is_stripe() {
                return;
            }
            let error = explained(error);
            let why = lost(peer, format!("its connection cannot be watched: {error}"));
            return self.lose(peer, why, false);
        }
        let count = self.shared.lanes[self.lane as usize].counts.links.value();
        self.counts().links.set(count + 1);
        match purpose {
            Purpose::Packets => {}
            Purpose::Bulk => self.begin_to_seek(link),
            Purpose::Stripe(_) => self.counts().stripes.add(1),
        }
        if purpose == Purpose::Packets {
            self.book.opened(peer);
        }
        self.heat(place);
        self.write(link, purpose);
    }

    fn read_hot(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = false;
        let mut index = 0;
        let cools_after = if self.hot.len() == 1 {
            ALONE_COOLS_AFTER
        } else {
            COOLS_AFTER
        };
        while let Some(&Hot { place, idle, .. }) = self.hot.get(index) {
            let came = self.read(place, sink);
            moved |= came;
            // A link that is lost is gone from here too.
            if self.hot.get(index).is_none_or(|hot| hot.place != place) {
                continue;
            }
            let hot = &mut self.hot[index];
            hot.idle = if came { 0 } else { idle + 1 };
            hot.turns = hot.turns.saturating_add(1);
            let is_quiet = hot.turns == QUIET_AFTER;
            if !came && idle >= cools_after || !self.stays_hot(place, is_quiet) {
                self.hot.swap_remove(index);
                self.cool(place);
            } else {
                index += 1;
            }
        }
        moved
    }

    /// Whether a connection is to be read in the next turn too. One that has been for long rings nobody until the lane sleeps: the
    /// kernel then does less for what comes.
    fn stays_hot(&mut self, place: ConnectionId, is_quiet: bool) -> bool {
        let poller = &self.poller;
        let Some(link) = self.links.at_mut(place.link) else {
            return false;
        };
        let channel = link.channel(place.purpose);
        if is_quiet {
            channel.wait_for(Interest::Nothing, poller, place.token());
        }
        let is_read = channel.socket.is_some() && !channel.is_stalled;
        // What comes for long messages is read once one of them is taken up.
        is_read && (place.purpose == Purpose::Packets || link.receiving.awaits_bulk())
    }

    /// A connection is read no more each turn. If it is because nobody wants what would be read, it does not ring either.
    fn cool(&mut self, place: ConnectionId) {
        let poller = &self.poller;
        let Some(link) = self.links.at_mut(place.link) else {
            return;
        };
        let awaits_bulk = link.receiving.awaits_bulk();
        let channel = link.channel(place.purpose);
        channel.is_hot = false;
        channel.is_stalled |= place.purpose != Purpose::Packets && !awaits_bulk;
        channel.wait_for(channel.interest_at_rest(), poller, place.token());
    }

    fn read(&mut self, place: ConnectionId, sink: &mut impl Sink) -> bool {
        let counts = &self.shared.lanes[self.lane as usize].counts;
        let Some(link) = self.links.at_mut(place.link) else {
            return false;
        };
        let read = link.read(place.purpose, &mut self.buffer, counts, sink);
        let is_dying = link.is_dying;
        self.take_done(place.link);
        let link = self.at(place.link);
        let copied = link.receiving.take_copied();
        if link.receiving.awaits_bulk() && link.channel(Purpose::Bulk).is_stalled {
            self.unstall(place.link);
        }
        if copied != 0 {
            self.counts().copied_bytes.add(copied as u64);
        }
        match read {
            Ok(found) => {
                if found.stripes_lost != 0 {
                    self.stripes_lost(found.stripes_lost);
                }
                if found.writes[Stream::Lane as usize] {
                    self.gather(place.link);
                }
                if found.writes[Stream::Bulk as usize] {
                    self.write_bulk(place.link);
                }
                self.give_credit(place.link);
                if is_dying && !found.moved {
                    self.end_dying(place.link);
                }
                found.moved
            }
            Err(fault) => {
                self.fault(place, fault);
                true
            }
        }
    }
}

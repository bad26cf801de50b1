//! What a lane writes: packets at once, what was gathered, what waits for room.

use weft_transport::Header;

use super::{ConnectionId, Links};
use crate::handshake::Purpose;
use crate::identity::ConnectionName as Name;
use crate::link::Link;

/// Connections that wait for room and are tried in a turn.
const WRITTEN_AT_ONCE: usize = 4;

impl Links {
    /// Writes a packet at once.
    #[inline]
    pub fn write_now(&mut self, link: usize, header: Header, payload: &[u8]) {
        let counts = &self.shared.lanes[self.lane as usize].counts;
        let there = self.links.at_mut(link).expect("a link of the lane's");
        if !there.write_now(header, payload, &mut self.buffer, counts) {
            self.write(link, Purpose::Packets);
        }
    }

    /// Something was gathered for a link.
    pub fn gather(&mut self, link: usize) {
        if !std::mem::replace(&mut self.at(link).is_gathering, true) {
            self.gathered.push(link);
        }
    }

    /// Writes what was gathered.
    pub fn write_gathered(&mut self) {
        while let Some(link) = self.gathered.pop() {
            if let Some(there) = self.links.at_mut(link) {
                there.is_gathering = false;
                self.write(link, Purpose::Packets);
            }
        }
    }

    /// Writes what waits, as far as there is room.
    pub fn write(&mut self, link: usize, purpose: Purpose) {
        let counts = &self.shared.lanes[self.lane as usize].counts;
        let Some(there) = self.links.at_mut(link) else {
            return;
        };
        let Link {
            channels, sending, ..
        } = &mut **there;
        let channel = channels.of(purpose);
        let takes_stripes = purpose != Purpose::Packets && sending.stripes.has_left();
        if takes_stripes {
            channel.take_stripe(purpose, sending);
        }
        let mut waits = channel.write(sending, &mut self.buffer, counts);
        // The next stripe goes in the next turn, after others have had one.
        waits |= takes_stripes && channel.socket.is_some() && sending.stripes.has_left();
        let is_broken = channel.broken.is_some();
        let place = ConnectionId { link, purpose };
        if waits && !std::mem::replace(&mut channel.is_blocked, true) {
            self.blocked.push(place);
        }
        let writes_bulk = std::mem::take(&mut there.writes_bulk);
        self.take_done(link);
        if is_broken {
            self.heat(place);
        }
        if writes_bulk {
            self.write_bulk(link);
        }
    }

    /// As [`write`](Self::write), where something may not have been written when the last attempt left off.
    pub(super) fn write_blocked(&mut self) -> bool {
        let before = self.counts().sends.value();
        let count = self.blocked.len().min(WRITTEN_AT_ONCE);
        let some: Vec<ConnectionId> = self.blocked.drain(..count).collect();
        for place in some {
            if let Some(there) = self.links.at_mut(place.link) {
                there.channel(place.purpose).is_blocked = false;
                self.write(place.link, place.purpose);
            }
        }
        self.counts().sends.value() != before
    }

    /// Bulk data are queued: they leave, or a connection for them is asked for.
    pub fn write_bulk(&mut self, link: usize) {
        let there = self.at(link);
        if there.channel(Purpose::Bulk).socket.is_some() {
            self.write(link, Purpose::Bulk);
            if self.at(link).sending.stripes.has_left() {
                self.each_stripe(link, Links::write);
            }
            return self.seek_if_due(link);
        }
        if !std::mem::replace(&mut there.wants_bulk, true) {
            let peer = there.peer;
            self.shared.want(Name {
                peer,
                lane: self.lane,
                purpose: Purpose::Bulk,
            });
            self.book.connect(peer);
        }
    }
}

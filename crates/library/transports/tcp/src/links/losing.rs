//! How a lane loses a peer: see the crate's text.

use std::io;

use weft_transport::{Lost, Peer, Refused};

use super::{ConnectionId, Links};
use crate::handshake::Purpose;
use crate::link::Fault;
use weft_transport::endings::lost;
use weft_transport::watching::Watched;

fn finished(peer: Peer) -> Lost {
    lost(peer, "its process has finished")
}

impl Links {
    /// A connection is over.
    #[cold]
    pub(super) fn fault(&mut self, place: ConnectionId, fault: Fault) {
        if let (Purpose::Stripe(number), Fault::Gone | Fault::Failed(_)) = (place.purpose, &fault) {
            return self.lose_stripe(place.link, number);
        }
        let link = self.at(place.link);
        let peer = link.peer;
        let died = matches!(fault, Fault::Gone);
        let why = match fault {
            Fault::Gone if self.ends_well(place) => {
                // Nothing more comes that would end it.
                if self.at(place.link).is_dying && place.purpose == Purpose::Packets {
                    self.end_dying(place.link);
                }
                return;
            }
            Fault::Gone => "its process has ended".to_owned(),
            Fault::Ended => "it has given up the connection to this process".to_owned(),
            Fault::Lie(what) => format!("it sent {what}"),
            Fault::Failed(error) => match (error.kind(), self.shared.identity.timeout) {
                (io::ErrorKind::TimedOut, Some(timeout)) => {
                    format!("its host has not answered for {} s", timeout.as_secs_f32())
                }
                _ => format!("the connection to it failed: {error}"),
            },
        };
        self.lose(peer, lost(peer, why), died);
    }

    /// Whether the end of a connection is an orderly one, after which the link does without it.
    fn ends_well(&mut self, place: ConnectionId) -> bool {
        let link = self.at(place.link);
        let ends_well = match place.purpose {
            Purpose::Packets => link.has_left && !link.has_transfers(),
            // If the process has died, the other connection says so.
            Purpose::Bulk | Purpose::Stripe(_) => {
                !link.receiving.awaits_bulk() && link.channel(Purpose::Bulk).out.is_empty()
            }
        };
        if ends_well {
            link.channel(place.purpose).close();
            if place.purpose == Purpose::Packets {
                let peer = link.peer;
                self.shared.watching.left(peer);
            }
        }
        ends_well
    }

    /// Something is awaited of a peer: its loss is to be told here.
    pub fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        if self.by_peer.contains_key(&peer) {
            return self.reach(peer).map(|_| ());
        }
        if self.book.is_lost(peer) {
            return Err(Refused::Lost);
        }
        match self.shared.watching.of(peer, one_of_many) {
            Watched::Enough => Ok(()),
            Watched::Not => self.reach(peer).map(|_| ()),
            // Told in the next turn, once a connection that it had made before has been read.
            Watched::HasLeft => {
                self.shared.lose(peer, finished(peer), true);
                Ok(())
            }
        }
    }

    /// Something is wanted of a peer that has left.
    #[cold]
    pub(super) fn lose_left(&mut self, peer: Peer) {
        self.lose(peer, finished(peer), true);
    }

    /// Loses a peer for all lanes.
    #[cold]
    pub fn lose(&mut self, peer: Peer, why: Lost, died: bool) {
        let first = self.shared.lose(peer, why, died);
        self.lose_here(peer, first);
    }

    /// Ends all that this lane has to do with a peer.
    pub(super) fn lose_here(&mut self, peer: Peer, why: Lost) {
        if self.book.is_lost(peer) {
            return;
        }
        if let Some(link) = self.by_peer.remove(&peer) {
            self.hot.retain(|hot| hot.place.link != link);
            self.blocked.retain(|place| place.link != link);
            self.gathered.retain(|&other| other != link);
            self.refused.retain(|&other| other != link);
            if let Some(mut link) = self.links.remove(link) {
                let open = link.channels.count();
                let stripes = link.channels.stripes().count() as u64;
                let counts = &self.shared.lanes[self.lane as usize].counts;
                counts
                    .links
                    .set(counts.links.value().saturating_sub(open as u64));
                counts
                    .stripes
                    .set(counts.stripes.value().saturating_sub(stripes));
                link.give_up(&mut self.buffer);
            }
        }
        self.book.lose(peer, why);
    }

    /// Loses the peers that other lanes have lost.
    #[cold]
    pub(super) fn take_endings(&mut self) -> bool {
        // A peer may have connected and sent something before.
        self.attach_arrived();
        for ending in self.book.take_endings(&self.shared.endings) {
            let link = self.by_peer.get(&ending.peer).copied();
            match link.filter(|_| ending.died) {
                // It may have sent something before.
                Some(link) => {
                    self.at(link).is_dying = true;
                    self.heat(ConnectionId {
                        link,
                        purpose: Purpose::Packets,
                    });
                    let socket = &self.at(link).channel(Purpose::Packets).socket;
                    if socket.is_none() {
                        self.end_dying(link);
                    }
                }
                None => self.lose_here(ending.peer, ending.lost),
            }
        }
        true
    }

    /// Nothing more is there of a peer whose process has ended.
    pub(super) fn end_dying(&mut self, link: usize) {
        let peer = self.at(link).peer;
        if let Some(why) = self.shared.endings.find(peer) {
            self.lose_here(peer, why);
        }
    }
}

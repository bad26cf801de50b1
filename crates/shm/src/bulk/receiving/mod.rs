//! The receiver's side of bulk transfers.

mod fetching;
mod taking;

use std::fmt;
use std::sync::Arc;

use weft_transport::{Cookie, Lost, Memory, Offer, Peer};

use super::byte_ring::{ByteRing, Place, RING_MAPPED};
use super::control::{Control, Offered, TransferId};
use super::transfers::{Step, Transfer, Transfers};
use super::{Common, copying};
use crate::endpoint::Links;
use crate::peers::{Neighbour, lost};
use fetching::{Fetching, Pool};
use taking::{After, Taking};

/// A transfer to here.
struct Incoming {
    neighbour: Arc<Neighbour>,
    target: Memory,
    /// The offer's bytes, of which the first `target.bytes` are wanted.
    offered: u64,
    cookie: Cookie,
    state: State,
}

enum State {
    /// The sender was asked for a ring.
    NeedsRing,
    Taking(Taking),
    Copying(Fetching),
}

/// A lane's transfers from peers.
pub struct Receiving {
    transfers: Transfers<Incoming>,
    claims: Pool,
}

/// An offer that is taken up.
pub struct Taken {
    pub offer: Offer,
    /// In all.
    pub bytes: usize,
    pub target: Memory,
    pub cookie: Cookie,
}

impl Transfer for Incoming {
    fn peer(&self) -> Peer {
        self.neighbour.rank
    }

    fn cookie(&self) -> Cookie {
        self.cookie
    }
}

impl Incoming {
    fn step(&mut self, links: &mut Links, budget: usize) -> Step {
        match &mut self.state {
            State::NeedsRing => Step::Idle,
            State::Taking(taking) => taking.step(&self.target, &self.neighbour, links, budget),
            State::Copying(fetching) => fetching.step(&self.target, &self.neighbour, links),
        }
    }

    /// Gives back, or keeps, what the transfer has used.
    fn end(self, claims: &mut Pool, common: &mut Common) {
        let peer = self.peer();
        match self.state {
            State::NeedsRing => {}
            State::Taking(taking) => taking.end(peer, common),
            // Only now: the sender may have released them long before this side has seen that all is copied.
            State::Copying(fetching) => claims.give_back(fetching.own),
        }
    }
}

/// A transfer through a ring in the peer's segment.
fn through(
    links: &Links,
    common: &mut Common,
    peer: Peer,
    place: Place,
    offered: u64,
    after: After,
) -> Result<Taking, Lost> {
    let ring = ByteRing::new(common.map(links, peer, place.offset, RING_MAPPED)?);
    Ok(Taking::new(ring, place.begin, offered, after))
}

impl Receiving {
    pub fn new() -> Receiving {
        Receiving {
            transfers: Transfers::new(),
            claims: Pool::new(),
        }
    }

    pub fn accept(
        &mut self,
        links: &mut Links,
        common: &mut Common,
        peer: Peer,
        taken: Taken,
    ) -> Result<(), Lost> {
        let Taken {
            offer,
            bytes,
            mut target,
            cookie,
        } = taken;
        let (offered, mark) =
            Offered::parse(offer).ok_or_else(|| lost(peer, "it made an offer that is none"))?;
        common.both_ways.accept(peer, mark);
        target.bytes = target.bytes.min(bytes);
        let neighbour = links.neighbour(peer)?;
        let bytes = bytes as u64;
        let (state, call) = match offered {
            Offered::Nothing if bytes == 0 => {
                self.transfers.finished.push_back(cookie);
                return Ok(());
            }
            Offered::Nothing => return Err(lost(peer, "it offered nothing of something")),
            Offered::Ring { place, spare } => {
                let after = match spare && common.keeping.wants(peer) {
                    true => After::Spare(place),
                    false => After::Back,
                };
                let taking = through(links, common, peer, place, bytes, after)?;
                (State::Taking(taking), None)
            }
            Offered::Back(place) => {
                let Some((index, ring)) = common.rings.come_back(peer, place.offset) else {
                    return Err(lost(peer, "it sends through a ring that it did not keep"));
                };
                let taking = Taking::new(ring, place.begin, bytes, After::Own { index });
                (State::Taking(taking), None)
            }
            Offered::Call { transfer, address } => {
                let source = address.filter(|_| {
                    target.layout.is_none() && target.bytes > 0 && copying::is_allowed(links, peer)
                });
                let words = source.and_then(|source| Some((source, self.claims.take(links)?)));
                let state = match words {
                    Some((source, own)) => State::Copying(Fetching::new(&target, source, own)),
                    None => State::NeedsRing,
                };
                (state, Some(transfer))
            }
        };
        let answer = match &state {
            State::Copying(fetching) => Some(fetching.target),
            _ => None,
        };
        let needs_ring = matches!(state, State::NeedsRing);
        let receiver = self.transfers.enter(Incoming {
            neighbour,
            target,
            offered: bytes,
            cookie,
            state,
        });
        if !needs_ring {
            self.transfers.activate(receiver);
        }
        let Some(transfer) = call else {
            return Ok(());
        };
        let control = match answer {
            Some(target) => {
                links.counters.copy_transfers += 1;
                Control::Copy { transfer, target }
            }
            None => Control::NeedRing { transfer, receiver },
        };
        common.post(peer, control);
        Ok(())
    }

    /// The sender has a ring for a transfer.
    pub fn ring(
        &mut self,
        links: &mut Links,
        common: &mut Common,
        peer: Peer,
        id: TransferId,
        place: Place,
    ) -> Result<(), Lost> {
        let incoming = self.transfers.named(peer, id);
        let Some(incoming) = incoming.filter(|one| matches!(one.state, State::NeedsRing)) else {
            return Ok(());
        };
        let offered = incoming.offered;
        let taking = through(links, common, peer, place, offered, After::Back)?;
        incoming.state = State::Taking(taking);
        self.transfers.activate(id);
        Ok(())
    }

    #[inline]
    pub fn is_active(&self) -> bool {
        self.transfers.is_active()
    }

    /// A target that is complete.
    pub fn pop_finished(&mut self) -> Option<Cookie> {
        self.transfers.finished.pop_front()
    }

    /// Moves up to about `budget` bytes.
    pub fn go_on(&mut self, links: &mut Links, common: &mut Common, budget: usize) -> bool {
        let claims = &mut self.claims;
        self.transfers
            .go_on(links, budget, Incoming::step, |incoming| {
                incoming.end(claims, common)
            })
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        let mut ready = !self.transfers.finished.is_empty();
        for incoming in self.transfers.active() {
            ready |= match &incoming.state {
                State::NeedsRing => false,
                State::Taking(taking) => taking.wait(),
                State::Copying(fetching) => fetching.wait(),
            };
        }
        ready
    }

    pub fn stop_waiting(&mut self) {
        for incoming in self.transfers.active() {
            match &incoming.state {
                State::NeedsRing => {}
                State::Taking(taking) => taking.stop_waiting(),
                State::Copying(fetching) => fetching.stop_waiting(),
            }
        }
    }

    pub fn forget(&mut self, common: &mut Common, peer: Peer) {
        let claims = &mut self.claims;
        self.transfers.drop_if(
            |incoming| incoming.neighbour.rank == peer,
            |incoming| incoming.end(claims, common),
        );
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for incoming in self.transfers.all() {
            let (rank, bytes) = (incoming.neighbour.rank, incoming.target.bytes);
            match &incoming.state {
                State::NeedsRing => {
                    writeln!(
                        out,
                        "rank {rank} has no free ring for {bytes} bytes to here"
                    )
                }
                State::Taking(Taking { consumed, .. }) => {
                    writeln!(
                        out,
                        "{consumed} of {bytes} bytes from rank {rank} have come"
                    )
                }
                State::Copying(Fetching { own, target, .. }) => writeln!(
                    out,
                    "{} of {} chunks from rank {rank} are copied",
                    own.claims.done(),
                    target.chunks()
                ),
            }?;
        }
        Ok(())
    }
}

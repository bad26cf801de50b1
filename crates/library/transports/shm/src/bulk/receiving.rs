//! The receiver's side of bulk transfers.

mod accepting;
mod copying;
mod taking;

use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;
use weft_transport::{BulkDescriptor, Cookie, Lost, Peer};

use super::byte_ring::{ByteRing, RING_MAPPED, RingPosition};
use super::common::{Common, Missing};
use super::control::{Control, TransferId};
use super::transfers::{Step, Transfer, Transfers};
use crate::links::Links;
use crate::peers::{Neighbour, lost};
use copying::Copying;
use taking::{After, Taking};

/// An offer that is taken up.
pub struct BulkReceive {
    pub offer: BulkDescriptor,
    /// In all.
    pub bytes: usize,
    pub target: Memory,
    pub cookie: Cookie,
}

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
    /// The sender is told of its transfer when all is copied.
    Copying {
        copying: Copying,
        transfer: TransferId,
    },
}

/// A lane's transfers from peers.
pub struct Receiving {
    transfers: Transfers<Incoming>,
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
        let step = match &mut self.state {
            State::NeedsRing => Step::Idle,
            State::Taking(taking) => taking.step(&self.target, &self.neighbour, links, budget),
            State::Copying { copying, .. } => copying.step(&self.target, &self.neighbour, links),
        };
        if let Step::Finished = step
            && let Err(lost) = self.check_sender(links)
        {
            return Step::Lost(lost);
        }
        step
    }

    /// An error if the sender has ended this process: it may have used its memory for something else since, but only after it has said so.
    fn check_sender(&self, links: &Links) -> Result<(), Lost> {
        let Neighbour { rank, position, .. } = *self.neighbour;
        match links.shared.base.is_given_up(links.lane, position) {
            true => Err(lost(rank, "it has given up the connection to this process")),
            false => Ok(()),
        }
    }

    /// Gives back, or borrows, what the transfer has used; tells a sender that waits for it.
    fn end(self, common: &mut Common) {
        let peer = self.peer();
        match self.state {
            State::NeedsRing => {}
            State::Taking(taking) => taking.end(peer, common),
            State::Copying { transfer, .. } => {
                common.post(peer, Control::Copied { transfer });
            }
        }
    }
}

/// A transfer through a ring in the peer's segment.
fn through(
    common: &Common,
    peer: Peer,
    place: RingPosition,
    offered: u64,
    after: After,
) -> Result<Taking, Missing> {
    let ring = ByteRing::new(common.map(peer, place.offset, RING_MAPPED)?);
    Ok(Taking::new(ring, place.begin, offered, after))
}

impl Receiving {
    pub fn new() -> Receiving {
        Receiving {
            transfers: Transfers::new(),
        }
    }

    /// Enters a transfer. It can be stepped unless it needs a ring first.
    fn begin(&mut self, incoming: Incoming) -> TransferId {
        let needs_ring = matches!(incoming.state, State::NeedsRing);
        let id = self.transfers.enter(incoming);
        if !needs_ring {
            self.transfers.activate(id);
        }
        id
    }

    /// The sender has a ring for a transfer.
    pub fn ring(
        &mut self,
        common: &mut Common,
        peer: Peer,
        id: TransferId,
        place: RingPosition,
    ) -> Result<(), Missing> {
        let incoming = self.transfers.named(peer, id);
        let Some(incoming) = incoming.filter(|one| matches!(one.state, State::NeedsRing)) else {
            return Ok(());
        };
        let offered = incoming.offered;
        let taking = through(common, peer, place, offered, After::Back)?;
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
        self.transfers
            .finished
            .pop_front()
            .map(|(_, cookie)| cookie)
    }

    /// Moves up to about `budget` bytes.
    pub fn go_on(&mut self, links: &mut Links, common: &mut Common, budget: usize) -> bool {
        let moved = self
            .transfers
            .go_on(links, budget, Incoming::step, |incoming| {
                incoming.end(common)
            });
        while let Some((peer, id)) = self.transfers.refused.pop() {
            self.ask_for_ring(common, peer, id);
        }
        moved
    }

    /// A message cannot be copied to its end: all of it comes through a ring.
    #[cold]
    fn ask_for_ring(&mut self, common: &mut Common, peer: Peer, id: TransferId) {
        if let Some(incoming) = self.transfers.named(peer, id)
            && let State::Copying { transfer, .. } = incoming.state
        {
            incoming.state = State::NeedsRing;
            let receiver = id;
            common.post(peer, Control::NeedRing { transfer, receiver });
        }
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        let mut ready = !self.transfers.finished.is_empty();
        for incoming in self.transfers.active() {
            ready |= match &incoming.state {
                State::NeedsRing => false,
                State::Taking(taking) => taking.wait(),
                State::Copying { .. } => true,
            };
        }
        ready
    }

    pub fn end_wait(&mut self) {
        for incoming in self.transfers.active() {
            match &incoming.state {
                State::NeedsRing | State::Copying { .. } => {}
                State::Taking(taking) => taking.end_wait(),
            }
        }
    }

    /// Ends the transfers from a lost peer. A ring is not given to another while the peer may use it.
    pub fn forget(&mut self, peer: Peer) {
        self.transfers.forget(peer, drop);
    }

    /// Whether data of `peer`'s are there that were not taken yet.
    pub fn has_from(&self, peer: Peer) -> bool {
        let mut from = self.transfers.active().filter(|one| one.peer() == peer);
        from.any(|incoming| match &incoming.state {
            State::Taking(taking) => taking.has_data(),
            State::NeedsRing | State::Copying { .. } => false,
        })
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
                State::Copying { copying, .. } => {
                    let copied = copying.copied;
                    writeln!(out, "{copied} of {bytes} bytes from rank {rank} are copied")
                }
            }?;
        }
        Ok(())
    }
}

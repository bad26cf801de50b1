//! The receiver's side of bulk transfers.

use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;
use weft_transport::{BulkDescriptor, Cookie, Lost, Peer};

use super::byte_ring::{ByteRing, RING_MAPPED, RingPosition};
use super::common::{Common, Missing};
use super::control::{Call, Control, Descriptor, TransferId};
use super::transfers::{Transfer, Transfers};
use super::ways::copy::{CopyWay, Copying};
use super::ways::ring::{RingWay, Taking};
use super::ways::{LongWay, Part, Request, Step};
use crate::connecting::Need;
use crate::links::Links;
use crate::peers::{Neighbour, lost};

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

    fn part(&mut self) -> Option<&mut dyn Part> {
        match &mut self.state {
            State::NeedsRing => None,
            State::Taking(taking) => Some(taking),
            State::Copying { copying, .. } => Some(copying),
        }
    }

    fn step(&mut self, links: &mut Links, budget: usize) -> Step {
        let (target, neighbour) = (&self.target, &self.neighbour);
        let step = match &mut self.state {
            State::NeedsRing => Step::Idle,
            State::Taking(taking) => taking.step(target, neighbour, links, budget),
            State::Copying { copying, .. } => copying.step(target, neighbour, links, budget),
        };
        if let Step::Finished = step
            && let Err(lost) = self.check_sender(links)
        {
            return Step::Lost(lost);
        }
        step
    }

    /// It cannot be copied to its end: all of it comes through a ring.
    fn change_way(&mut self, id: TransferId, common: &mut Common) {
        if let State::Copying { transfer, .. } = self.state {
            self.state = State::NeedsRing;
            let receiver = id;
            common.post(self.peer(), Control::NeedRing { transfer, receiver });
        }
    }

    /// Tells a sender that waits for it; gives back, or borrows, the ring.
    fn finish(self, common: &mut Common) {
        let peer = self.peer();
        match self.state {
            State::NeedsRing => {}
            State::Taking(taking) => taking.end(peer, common),
            State::Copying { transfer, .. } => common.post(peer, Control::Copied { transfer }),
        }
    }

    /// A ring is not given to another while a peer that was lost may use it.
    fn abandon(self, _: &mut Common) {}
}

impl Incoming {
    fn request(&self) -> Request<'_> {
        Request {
            neighbour: &self.neighbour,
            target: &self.target,
            offered: self.offered,
        }
    }

    /// An error if the sender has ended this process: it may have used its memory for something else since, but only
    /// after it has said so.
    fn check_sender(&self, links: &Links) -> Result<(), Lost> {
        let Neighbour { rank, position, .. } = *self.neighbour;
        match links.shared.base.is_given_up(links.lane, position) {
            true => Err(lost(rank, "it has given up the connection to this process")),
            false => Ok(()),
        }
    }
}

impl Receiving {
    pub fn new() -> Receiving {
        Receiving {
            transfers: Transfers::new(),
        }
    }

    pub fn begin_receive(
        &mut self,
        links: &mut Links,
        common: &mut Common,
        peer: Peer,
        taken: BulkReceive,
    ) -> Result<(), Missing> {
        let offered = Descriptor::parse(taken.offer)
            .ok_or_else(|| lost(peer, "it made an offer that is none"))?;
        let Some(neighbour) = links.neighbour(peer) else {
            return Err(Missing::Need(Need::Base));
        };
        let mut target = taken.target;
        target.bytes = target.bytes.min(taken.bytes);
        let incoming = Incoming {
            neighbour,
            target,
            offered: taken.bytes as u64,
            cookie: taken.cookie,
            state: State::NeedsRing,
        };
        match offered {
            Descriptor::Nothing if taken.bytes > 0 => {
                Err(lost(peer, "it offered nothing of something").into())
            }
            Descriptor::Nothing => {
                self.transfers.report(peer, incoming.cookie);
                Ok(())
            }
            Descriptor::Ring(terms) => {
                let taking = RingWay::accept(links, common, &incoming.request(), terms)?;
                self.begin(incoming, taking.map(State::Taking));
                Ok(())
            }
            // The answer needs a link.
            Descriptor::Call(_) if !links.is_open(peer) => Err(Missing::Need(Need::Link)),
            Descriptor::Call(call) => self.answer(links, common, incoming, call),
        }
    }

    /// Enters a transfer. It can be stepped unless it needs a ring first.
    fn begin(&mut self, incoming: Incoming, state: Option<State>) -> TransferId {
        let can_be_stepped = state.is_some();
        let state = state.unwrap_or(State::NeedsRing);
        let id = self.transfers.name();
        self.transfers.enter(id, Incoming { state, ..incoming });
        if can_be_stepped {
            self.transfers.activate(id);
        }
        id
    }

    /// Copies, or asks for a ring.
    fn answer(
        &mut self,
        links: &mut Links,
        common: &mut Common,
        mut incoming: Incoming,
        call: Call,
    ) -> Result<(), Missing> {
        let (peer, transfer) = (incoming.peer(), call.transfer);
        let Some(copying) = CopyWay::accept(links, common, &incoming.request(), call)? else {
            let receiver = self.begin(incoming, None);
            common.post(peer, Control::NeedRing { transfer, receiver });
            return Ok(());
        };
        links.counters.copy_transfers += 1;
        let is_complete = copying.is_complete(&incoming.target);
        let state = State::Copying { copying, transfer };
        if !is_complete {
            self.begin(incoming, Some(state));
            return Ok(());
        }
        incoming.check_sender(links)?;
        incoming.state = state;
        self.transfers.report(peer, incoming.cookie);
        incoming.finish(common);
        Ok(())
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
        let ring = ByteRing::new(common.map(peer, place.offset, RING_MAPPED)?);
        incoming.state = State::Taking(Taking::new(ring, place, incoming.offered));
        self.transfers.activate(id);
        Ok(())
    }

    #[inline]
    pub fn is_active(&self) -> bool {
        self.transfers.is_active()
    }

    /// A target that is complete.
    pub fn pop_finished(&mut self) -> Option<Cookie> {
        self.transfers.pop_finished()
    }

    /// Moves up to about `budget` bytes.
    pub fn go_on(&mut self, links: &mut Links, common: &mut Common, budget: usize) -> bool {
        self.transfers.go_on(links, common, budget)
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        self.transfers.wait()
    }

    pub fn end_wait(&mut self) {
        self.transfers.end_wait();
    }

    pub fn forget(&mut self, common: &mut Common, peer: Peer) {
        self.transfers.forget(common, peer);
    }

    /// Whether data of `peer`'s are there that were not taken yet.
    pub fn has_from(&self, peer: Peer) -> bool {
        let mut from = self.transfers.all().filter(|one| one.peer() == peer);
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

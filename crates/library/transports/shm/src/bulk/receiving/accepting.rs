//! Taking up an offer: a transfer begins as its kind says.

use weft_transport::{Lost, Peer};

use super::copying::Copying;
use super::taking::{After, Taking};
use super::{BulkReceive, Incoming, Receiving, State, through};
use crate::bulk::byte_ring::RingPosition;
use crate::bulk::common::{Common, Missing};
use crate::bulk::control::{BesideRing, Control, Descriptor, TransferId};
use crate::bulk::transfers::{Step, Transfer};
use crate::connecting::Need;
use crate::links::Links;
use crate::peers::lost;

impl Receiving {
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
            Descriptor::Nothing => self.finish_empty(&incoming)?,
            Descriptor::Ring { place, beside } => {
                let after = match beside {
                    BesideRing::Borrow(room) if common.borrowed.would_borrow(peer) => {
                        After::Spare(place, room)
                    }
                    _ => After::Back,
                };
                let mut taking = through(common, peer, place, incoming.offered, after)?;
                if let BesideRing::Copy(source) = beside
                    && can_copy(links, &incoming)
                {
                    taking.may_copy_from(source);
                }
                self.begin_taking(incoming, taking);
            }
            Descriptor::Back { place } => {
                let taking = begin_return(common, &incoming, place)?;
                self.begin_taking(incoming, taking);
            }
            // The answer needs a link.
            Descriptor::Call { .. } if !links.is_open(peer) => {
                return Err(Missing::Need(Need::Link));
            }
            Descriptor::Call { transfer, address } => {
                let source = address.filter(|_| can_copy(links, &incoming));
                self.answer(links, common, incoming, transfer, source)?;
            }
        }
        Ok(())
    }

    /// An offer of nothing, which is there already.
    fn finish_empty(&mut self, incoming: &Incoming) -> Result<(), Lost> {
        if incoming.offered > 0 {
            return Err(lost(incoming.peer(), "it offered nothing of something"));
        }
        self.transfers
            .finished
            .push_back((incoming.peer(), incoming.cookie));
        Ok(())
    }

    fn begin_taking(&mut self, incoming: Incoming, taking: Taking) {
        let state = State::Taking(taking);
        self.begin(Incoming { state, ..incoming });
    }

    /// Answers a call: copies from an address of the sender's, if there is one and the kernel does, else asks for a
    /// ring.
    fn answer(
        &mut self,
        links: &mut Links,
        common: &mut Common,
        mut incoming: Incoming,
        transfer: TransferId,
        source: Option<u64>,
    ) -> Result<(), Lost> {
        let peer = incoming.peer();
        let begun = source.and_then(|source| begin_copying(links, &incoming, source));
        let Some((copying, is_complete)) = begun else {
            let receiver = self.begin(incoming);
            common.post(peer, Control::NeedRing { transfer, receiver });
            return Ok(());
        };
        links.counters.copy_transfers += 1;
        incoming.state = State::Copying { copying, transfer };
        if is_complete {
            incoming.check_sender(links)?;
            self.transfers.finished.push_back((peer, incoming.cookie));
            incoming.end(common);
        } else {
            self.begin(incoming);
        }
        Ok(())
    }
}

/// Whether the kernel and the target allow a copy from the sender's memory.
fn can_copy(links: &Links, incoming: &Incoming) -> bool {
    let target = &incoming.target;
    target.layout.is_none() && target.bytes > 0 && links.copies_allowed(&incoming.neighbour)
}

/// Copies from an address of the sender's what one call of the kernel copies, and whether that is all. None, and nothing
/// has happened that matters, if the kernel does not.
fn begin_copying(links: &mut Links, incoming: &Incoming, source: u64) -> Option<(Copying, bool)> {
    let mut copying = Copying::new(source, 0);
    let step = copying.step(&incoming.target, &incoming.neighbour, links);
    if let Step::Refused = step {
        return None;
    }
    let is_complete = copying.is_complete(&incoming.target);
    Some((copying, is_complete))
}

/// A transfer through an own ring, which the sender has borrowed.
fn begin_return(
    common: &mut Common,
    incoming: &Incoming,
    place: RingPosition,
) -> Result<Taking, Lost> {
    let peer = incoming.peer();
    let (index, ring) = common
        .rings
        .begin_return(peer, place.offset)
        .ok_or_else(|| lost(peer, "it sends through a ring that it did not borrow"))?;
    let after = After::OwnClaims { index };
    Ok(Taking::new(ring, place.begin, incoming.offered, after))
}

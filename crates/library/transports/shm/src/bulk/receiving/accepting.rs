//! Taking up an offer: a transfer begins as its kind says.

use std::time::Instant;

use weft_transport::{Lost, Peer};

use super::fetching::{self, Fetching};
use super::taking::{After, Taking};
use super::{BulkReceive, Incoming, Receiving, State, through};
use crate::bulk::byte_ring::RingPosition;
use crate::bulk::common::{Common, Missing};
use crate::bulk::control::{BesideRing, Control, Descriptor, TransferId};
use crate::bulk::traffic::Work;
use crate::bulk::transfers::Transfer;
use crate::byte_times;
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
        let (offered, mark) = Descriptor::parse(taken.offer)
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
            begun: mark.is_timed.then(|| (Instant::now(), mark.class)),
            state: State::NeedsRing,
        };
        match offered {
            Descriptor::Nothing => self.finish_empty(&incoming)?,
            Descriptor::Ring { place, beside } => {
                let (pull, after) = match beside {
                    BesideRing::Borrow(room) if common.borrowed.would_borrow(peer) => {
                        (None, After::Spare(place, room))
                    }
                    BesideRing::Borrow(_) | BesideRing::Nothing => (None, After::Back),
                    BesideRing::Pull(address) => {
                        let source = Some(address).filter(|_| {
                            incoming.target.layout.is_none()
                                && links.copies_allowed(&incoming.neighbour)
                        });
                        (source, After::Back)
                    }
                };
                let mut taking = through(common, peer, place, incoming.offered, after)?;
                taking.pull_from(pull);
                self.begin_taking(incoming, taking);
            }
            Descriptor::Back(place) => {
                let taking = begin_return(common, &incoming, place)?;
                self.begin_taking(incoming, taking);
            }
            // The answer needs a link.
            Descriptor::Call { .. } if !links.is_open(peer) => {
                return Err(Missing::Need(Need::Link));
            }
            Descriptor::Call { transfer, address } => {
                let [own, theirs] = links.byte_times(&incoming.neighbour);
                let is_helped = common.traffic.seen(peer, mark) == Work::Together
                    && byte_times::is_help_chosen(theirs, own, mark.class, mark.number);
                let control = self.answer(links, incoming, transfer, address, is_helped)?;
                common.post(peer, control);
            }
        }
        common.traffic.received(peer, mark);
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

    fn begin_taking(&mut self, incoming: Incoming, mut taking: Taking) {
        taking.timed = incoming.begun.map(|(_, class)| class);
        let state = State::Taking(taking);
        self.begin(Incoming { state, ..incoming });
    }

    /// The answer to a call: both sides copy where they can, else the sender is asked for a ring.
    fn answer(
        &mut self,
        links: &mut Links,
        incoming: Incoming,
        transfer: TransferId,
        address: Option<u64>,
        is_helped: bool,
    ) -> Result<Control, Lost> {
        let Some(fetching) = self.fetching(links, &incoming, address, is_helped)? else {
            let receiver = self.begin(incoming);
            return Ok(Control::NeedRing { transfer, receiver });
        };
        links.counters.copy_transfers += 1;
        let target = fetching.copying.target;
        let state = State::Copying(fetching);
        self.begin(Incoming { state, ..incoming });
        Ok(Control::Copy { transfer, target })
    }

    /// A copy from an address of the sender's, if there is one and the kernel and the target allow it.
    fn fetching(
        &mut self,
        links: &mut Links,
        incoming: &Incoming,
        address: Option<u64>,
        is_helped: bool,
    ) -> Result<Option<Fetching>, Lost> {
        let target = &incoming.target;
        let Some(source) = address.filter(|_| target.layout.is_none() && target.bytes > 0) else {
            return Ok(None);
        };
        if !links.copies_allowed(&incoming.neighbour) {
            return Ok(None);
        }
        let own = self.claims.take(links, incoming.peer())?;
        let chunk = fetching::chunk(target.bytes, is_helped, links);
        let timed = incoming.begun.map(|(_, class)| class);
        Ok(own.map(|own| Fetching::new(target, source, own, chunk, timed)))
    }
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

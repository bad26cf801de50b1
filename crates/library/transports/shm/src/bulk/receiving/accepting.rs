//! Taking up an offer: a transfer begins as its kind says.

use std::time::Instant;

use weft_transport::{Lost, Peer};

use super::fetching::{self, Fetching};
use super::taking::{After, Taking};
use super::{BulkReceive, Incoming, Receiving, State, through};
use crate::bulk::byte_ring::RingPosition;
use crate::bulk::common::{Common, Missing};
use crate::bulk::control::{BesideRing, Control, Descriptor, TransferId};
use crate::bulk::rings::is_taken_over;
use crate::bulk::traffic::Work;
use crate::bulk::transfers::Transfer;
use crate::byte_times;
use crate::cma::Way;
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
            Descriptor::Ring { place, beside, .. } => {
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
                taking.takes_over = is_taken_over(mark.class.pattern, incoming.offered);
                self.begin_taking(incoming, taking, offered)?;
            }
            Descriptor::Back { place, .. } => {
                let taking = begin_return(common, &incoming, place)?;
                self.begin_taking(incoming, taking, offered)?;
            }
            // The answer needs a link.
            Descriptor::Call { .. } if !links.is_open(peer) => {
                return Err(Missing::Need(Need::Link));
            }
            Descriptor::Call { transfer, address } => {
                let [own, theirs] = links.byte_times(&incoming.neighbour);
                let is_helped = common.traffic.seen(peer, mark) == Work::Together
                    && byte_times::is_help_chosen(theirs, own, mark.class, mark.number);
                let source = address.filter(|_| can_copy(links, &incoming));
                let control = match source {
                    Some(source) if copy_at_once(links, &incoming, source, is_helped)? => {
                        let done = (peer, incoming.cookie);
                        self.transfers.finished.push_back(done);
                        Control::Copied { transfer }
                    }
                    source => self.answer(links, incoming, transfer, source, is_helped)?,
                };
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

    fn begin_taking(
        &mut self,
        incoming: Incoming,
        mut taking: Taking,
        offered: Descriptor,
    ) -> Result<(), Lost> {
        if offered.is_filled() {
            taking.note_filled(incoming.peer())?;
        }
        taking.timed = incoming.begun.map(|(_, class)| class);
        let state = State::Taking(taking);
        self.begin(Incoming { state, ..incoming });
        Ok(())
    }

    /// The answer to a call: both sides copy where they can, else the sender is asked for a ring.
    fn answer(
        &mut self,
        links: &mut Links,
        incoming: Incoming,
        transfer: TransferId,
        source: Option<u64>,
        is_helped: bool,
    ) -> Result<Control, Lost> {
        let Some(fetching) = self.fetching(links, &incoming, source, is_helped)? else {
            let receiver = self.begin(incoming);
            return Ok(Control::NeedRing { transfer, receiver });
        };
        links.counters.copy_transfers += 1;
        let target = fetching.copying.target;
        let state = State::Copying(fetching);
        self.begin(Incoming { state, ..incoming });
        Ok(Control::Copy { transfer, target })
    }

    /// A copy from an address of the sender's, if there is one.
    fn fetching(
        &mut self,
        links: &mut Links,
        incoming: &Incoming,
        source: Option<u64>,
        is_helped: bool,
    ) -> Result<Option<Fetching>, Lost> {
        let target = &incoming.target;
        let Some(source) = source else {
            return Ok(None);
        };
        let own = self.claims.take(links, incoming.peer())?;
        let chunk = fetching::chunk(target.bytes, is_helped, links);
        let timed = incoming.begun.map(|(_, class)| class);
        Ok(own.map(|own| Fetching::new(target, source, own, chunk, timed)))
    }
}

/// Whether the kernel and the target allow a copy from the sender's memory.
fn can_copy(links: &Links, incoming: &Incoming) -> bool {
    let target = &incoming.target;
    target.layout.is_none() && target.bytes > 0 && links.copies_allowed(&incoming.neighbour)
}

/// Copies from an address of the sender's what one call of the kernel copies. False, and nothing has happened that matters, if more calls are to, or this one
/// did not.
fn copy_at_once(
    links: &mut Links,
    incoming: &Incoming,
    source: u64,
    is_helped: bool,
) -> Result<bool, Lost> {
    let (target, neighbour) = (&incoming.target, &incoming.neighbour);
    if fetching::chunk(target.bytes, is_helped, links) < target.bytes as u64 {
        return Ok(false);
    }
    // SAFETY: the target is writable until it is reported as received, and has no gaps.
    let copied = unsafe { neighbour.copy(Way::Read, target.base, source, target.bytes) };
    if copied.is_err() {
        return Ok(false);
    }
    incoming.check_sender(links)?;
    links.counters.copy_transfers += 1;
    links.counters.chunks_read += 1;
    if let Some((begun, class)) = incoming.begun {
        incoming.note_copy(begun.elapsed(), class, links);
    }
    Ok(true)
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

//! Taking up an offer: a transfer begins as its kind says.

use weft_transport::{Lost, Peer};

use super::fetching::Fetching;
use super::taking::{After, Taking};
use super::{Incoming, Receiving, State, Taken, through};
use crate::bulk::byte_ring::Place;
use crate::bulk::common::Common;
use crate::bulk::control::{Control, Offered, TransferId};
use crate::bulk::transfers::Transfer;
use crate::links::Links;
use crate::peers::lost;

impl Receiving {
    pub fn accept(
        &mut self,
        links: &mut Links,
        common: &mut Common,
        peer: Peer,
        taken: Taken,
    ) -> Result<(), Lost> {
        let (offered, mark) = Offered::parse(taken.offer)
            .ok_or_else(|| lost(peer, "it made an offer that is none"))?;
        common.both_ways.accept(peer, mark);
        let mut target = taken.target;
        target.bytes = target.bytes.min(taken.bytes);
        let incoming = Incoming {
            neighbour: links.neighbour(peer)?,
            target,
            offered: taken.bytes as u64,
            cookie: taken.cookie,
            state: State::NeedsRing,
        };
        match offered {
            Offered::Nothing => self.finish_empty(&incoming),
            Offered::Ring { place, spare } => {
                let after = match spare && common.keeping.wants(peer) {
                    true => After::Spare(place),
                    false => After::Back,
                };
                let taking = through(links, common, peer, place, incoming.offered, after)?;
                self.begin_taking(incoming, taking);
                Ok(())
            }
            Offered::Back(place) => {
                let taking = come_back(common, &incoming, place)?;
                self.begin_taking(incoming, taking);
                Ok(())
            }
            Offered::Call { transfer, address } => {
                let control = self.answer(links, incoming, transfer, address);
                common.post(peer, control);
                Ok(())
            }
        }
    }

    /// An offer of nothing, which is there already.
    fn finish_empty(&mut self, incoming: &Incoming) -> Result<(), Lost> {
        if incoming.offered > 0 {
            return Err(lost(incoming.peer(), "it offered nothing of something"));
        }
        self.transfers.finished.push_back(incoming.cookie);
        Ok(())
    }

    fn begin_taking(&mut self, incoming: Incoming, taking: Taking) {
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
    ) -> Control {
        let Some(fetching) = self.fetching(links, &incoming, address) else {
            let receiver = self.begin(incoming);
            return Control::NeedRing { transfer, receiver };
        };
        links.counters.copy_transfers += 1;
        let target = fetching.copying.target;
        let state = State::Copying(fetching);
        self.begin(Incoming { state, ..incoming });
        Control::Copy { transfer, target }
    }

    /// A copy from an address of the sender's, if there is one and the kernel and the target allow it.
    fn fetching(
        &mut self,
        links: &mut Links,
        incoming: &Incoming,
        address: Option<u64>,
    ) -> Option<Fetching> {
        let target = &incoming.target;
        let source = address.filter(|_| target.layout.is_none() && target.bytes > 0)?;
        if !links.copies_allowed(incoming.peer()) {
            return None;
        }
        let own = self.claims.take(links)?;
        Some(Fetching::new(target, source, own))
    }
}

/// A transfer through an own ring, which the sender has kept.
fn come_back(common: &mut Common, incoming: &Incoming, place: Place) -> Result<Taking, Lost> {
    let peer = incoming.peer();
    let (index, ring) = common
        .rings
        .come_back(peer, place.offset)
        .ok_or_else(|| lost(peer, "it sends through a ring that it did not keep"))?;
    let after = After::Own { index };
    Ok(Taking::new(ring, place.begin, incoming.offered, after))
}

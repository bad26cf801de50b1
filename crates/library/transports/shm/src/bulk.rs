//! Bulk transfers: messages longer than a packet.
//!
//! Two ways ([`ways`]), chosen by the sender when it begins and agreed by the receiver when it takes the transfer up:
//! - *ring*: through a ring of bytes in the sender's segment, copied in and out in chunks, so that both copies
//!   overlap. Any memory, any size.
//! - *copy*: by the receiver, from process to process (process_vm_readv(2)). Contiguous memory, where the kernel
//!   allows it.
//!
//! Which costs less is computed from a few facts ([`choice`]).
//!
//! A transfer's descriptor either names a ring that is being filled from the start, so that the source is soon free and the
//! receiver finds data at once; or it is a *call*: the sender waits until the receiver answers by a control message, which asks
//! for a ring or says that the receiver has copied all. A receiver that cannot copy, or cannot go on, asks for a ring.
//!
//! No deadlock: an endpoint has [`rings::COUNT`] rings. Transfers that were not taken up may hold all but one, for as long as
//! their receivers like. The last is only for calls that were answered, whose receivers take the data out in each turn of
//! progress, whatever else they wait for; so it comes back, and answered calls are served in order. Receivers may borrow half
//! of the rings for a while to answer in them ([`rings`]), never the last.
//!
//! What a transfer waits for is written by the other side into shared words ([`weft_sync::bulk`]); a side that goes to sleep says
//! so there, looks once more, and is notified.

mod byte_ring;
mod choice;
mod common;
mod control;
mod facts;
mod receiving;
mod rings;
mod sending;
mod transfers;
mod ways;

#[cfg(test)]
mod lent_tests;
#[cfg(test)]
mod rings_tests;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;
use weft_sync::cells::Malformed;
use weft_transport::{BulkDescriptor, Cookie, Peer, Refused, Sink};

use crate::links::Links;
use crate::peers::lost;
use crate::segment::Mapping;
use choice::Choice;
use common::{Common, Missing};
use control::Control;
use receiving::{BulkReceive, Receiving};
use sending::Sending;
use ways::TURN_BYTES;

pub use byte_ring::RING_BYTES;

/// A lane's bulk transfers.
pub struct Bulk {
    sending: Sending,
    receiving: Receiving,
    common: Common,
    /// Whether a turn may find something to do or to look at; kept by `poll`.
    active: bool,
}

impl Bulk {
    pub fn new() -> Bulk {
        Bulk {
            sending: Sending::new(),
            receiving: Receiving::new(),
            active: false,
            common: Common::new(),
        }
    }

    pub fn send(
        &mut self,
        links: &mut Links,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        let neighbour = links.linked(peer)?;
        links.wake_sleeper();
        self.active = true;
        Ok(self
            .sending
            .send(links, &mut self.common, neighbour, source, cookie))
    }

    /// How the last message goes that was sent; none of no bytes.
    pub fn last_choice(&self) -> Option<Choice> {
        self.sending.choice
    }

    pub fn cancel(&mut self, peer: Peer, cookie: Cookie) {
        self.sending.cancel(&mut self.common, peer, cookie);
    }

    pub fn receive(
        &mut self,
        links: &mut Links,
        peer: Peer,
        offer: BulkDescriptor,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Refused> {
        links.wake_sleeper();
        self.active = true;
        let taken = BulkReceive {
            offer,
            bytes,
            target,
            cookie,
        };
        let begun = self
            .receiving
            .begin_receive(links, &mut self.common, peer, taken);
        self.common.flush(links);
        begun.map_err(|missing| match missing {
            Missing::Need(need) => links.connect(peer, need),
            Missing::Sense(lost) => {
                links.lose(lost, peer);
                Refused::Lost
            }
        })
    }

    /// A piece of a peer's segment is mapped for which something waits: control messages of it, or the engine.
    #[cold]
    pub fn mapped(&mut self, links: &mut Links, peer: Peer, offset: u64, mapping: Mapping) {
        self.active = true;
        self.common.mapped.insert((peer, offset), Arc::new(mapping));
        let waiting = self
            .common
            .waiting
            .extract_if(.., |(other, _)| *other == peer);
        for (_, control) in waiting.collect::<Vec<_>>() {
            if let Err(Malformed(why)) = self.take_control(links, peer, control) {
                links.lose(lost(peer, why), peer);
            }
        }
    }

    /// Whether an offer was made whose data can go on moving now that the receiver has been told.
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.sending.has_begun()
    }

    #[cold]
    pub fn go_on_sending(&mut self, links: &mut Links) {
        self.sending.go_on(links, &mut self.common, TURN_BYTES);
    }

    /// Whether a turn would find something to do or to look at.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Moves transfers along, by a bounded number of bytes, and reports the finished.
    #[cold]
    pub fn poll(&mut self, links: &mut Links, sink: &mut impl Sink) -> bool {
        let mut moved = self.receiving.go_on(links, &mut self.common, TURN_BYTES);
        moved |= self.sending.go_on(links, &mut self.common, TURN_BYTES);
        moved |= self.common.flush(links);
        while let Some(cookie) = self.sending.pop_finished() {
            moved = true;
            sink.sent(cookie);
        }
        while let Some(cookie) = self.receiving.pop_finished() {
            moved = true;
            sink.received(cookie);
        }
        self.active = self.sending.is_active()
            || self.receiving.is_active()
            || !self.common.controls.is_empty();
        moved
    }

    /// Takes a control message.
    #[cold]
    #[inline(never)]
    pub fn control(
        &mut self,
        links: &mut Links,
        peer: Peer,
        header: [u64; 2],
        payload: &[u8],
    ) -> Result<(), Malformed> {
        // What waits for this transfer now, a sleeper has not looked at.
        links.wake_sleeper();
        self.active = true;
        let control = Control::parse(header, payload)
            .ok_or(Malformed("it sent a control message that is none"))?;
        if self.common.waits(peer, control) {
            return Err(Malformed("it answered one message twice"));
        }
        self.take_control(links, peer, control)
    }

    fn take_control(
        &mut self,
        links: &mut Links,
        peer: Peer,
        control: Control,
    ) -> Result<(), Malformed> {
        let answered = match control {
            Control::NeedRing { transfer, receiver } => {
                self.sending.need_ring(peer, transfer, receiver);
                Ok(())
            }
            Control::Ring { receiver, place } => {
                self.receiving.ring(&mut self.common, peer, receiver, place)
            }
            Control::Copied { transfer } => {
                self.sending.copied(peer, transfer);
                Ok(())
            }
        };
        match answered {
            Ok(()) => {}
            Err(Missing::Need(need)) => {
                self.common.waiting.push((peer, control));
                links.connect_later(peer, need);
            }
            Err(Missing::Sense(lost)) => {
                links.lose(lost, peer);
                return Err(Malformed("a transfer with it failed"));
            }
        }
        Ok(())
    }

    /// Called a few times a second: gives back memory that has not been used for a while.
    pub fn release_idle(&mut self, links: &mut Links) {
        self.common.rings.release_idle(links);
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        self.sending.wait() | self.receiving.wait()
    }

    pub fn end_wait(&mut self) {
        self.sending.end_wait();
        self.receiving.end_wait();
    }

    /// Ends all transfers with a lost peer. When this returns, neither this process nor, as far as it can be kept from it, the
    /// peer touches user memory for them.
    pub fn forget(&mut self, links: &mut Links, peer: Peer) {
        self.sending.forget(&mut self.common, peer);
        self.receiving.forget(&mut self.common, peer);
        self.common.forget(links, peer);
    }

    /// Whether data of `peer`'s are there that were not taken yet.
    pub fn has_from(&self, peer: Peer) -> bool {
        self.receiving.has_from(peer)
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.sending.describe(out)?;
        self.receiving.describe(out)
    }
}

//! Starting a send: eager, by an RTS with the descriptor of a bulk transfer, or by an RTS alone to a peer that asked for no more payload.

use weft_transport::{Cookie, Endpoint, Header, Peer, Refused};
use weft_wire::{
    Body, COOKIE_BYTES, CTS_BYTES, ENQUIRY_BYTES, FAILED_BYTES, Packet, PacketKind, RTS_ONLY_BYTES,
    Rts, SYNCHRONOUS,
};

use crate::outbound::Control;
use crate::pending::Pending;
use crate::slot::{Cells, awaits, flag};
use crate::state::{Afterwards, Core, State};
use crate::status::Failure;

/// While messages wait for a peer, one in so many new ones tries whether there is room again.
const TRY_EVERY: usize = 16;

/// Bytes of the longest payload that is words.
const CONTROL_BYTES: usize = ENQUIRY_BYTES;

/// No room: the message keeps its place in the queue.
pub(crate) struct Full;

/// The longest message that goes eagerly where a packet carries up to `limit` bytes.
pub const fn longest_eager(limit: usize) -> usize {
    limit - COOKIE_BYTES
}

impl<E: Endpoint> State<E> {
    /// The longest message that goes eagerly to `peer`: it must fit a packet with a cookie before it.
    #[inline]
    pub(crate) fn eager_bytes(&self, peer: Peer) -> usize {
        longest_eager(self.endpoint.eager_limit(peer))
    }

    /// As [`eager_bytes`](Self::eager_bytes), a length that every peer's admits.
    pub(crate) const EAGER_BYTES_TO_ALL: usize = longest_eager(E::EAGER_TO_ALL);

    /// Starts a send that its lane has just been given.
    pub(crate) fn start_send(&mut self, slot: Pending) {
        let peer = self.core.cells(slot).peer;
        if peer == self.core.me {
            return self.core.send_to_self(slot, Self::EAGER_BYTES_TO_ALL);
        }
        if self.core.outbound.waits(peer) {
            let waiting = self.enqueue(slot, peer);
            if waiting.is_multiple_of(TRY_EVERY) {
                self.flush(peer);
            }
        } else if self.transmit(slot).is_err() {
            self.enqueue(slot, peer);
        }
    }

    fn enqueue(&mut self, slot: Pending, peer: Peer) -> usize {
        self.core.cells(slot).flags |= flag::QUEUED;
        let slots = self.core.slots.clone();
        self.core.outbound.push(peer, slot, &slots)
    }

    /// Sends a message, or its envelope, if there is room.
    #[inline(never)]
    pub(crate) fn transmit(&mut self, slot: Pending) -> Result<(), Full> {
        let cells = self.core.cells(slot);
        let (peer, bytes) = (cells.peer, cells.bytes);
        let refused = if bytes <= self.eager_bytes(peer) {
            match self.transmit_eager(slot) {
                // Once it is asked for, the payload is to fit in a packet still.
                Err(Refused::Throttled) => match bytes <= Self::EAGER_BYTES_TO_ALL {
                    true => self.transmit_rts_only(slot),
                    false => self.transmit_rts(slot),
                },
                other => other,
            }
        } else {
            self.transmit_rts(slot)
        };
        match refused {
            Ok(()) => Ok(()),
            Err(Refused::Lost) => {
                self.core.fail(slot, Failure::PeerLost);
                Ok(())
            }
            Err(refused) => Err(self.core.full(peer, refused)),
        }
    }

    fn transmit_eager(&mut self, slot: Pending) -> Result<(), Refused> {
        let State { endpoint, core } = self;
        let cells = core.cells(slot);
        let peer = cells.peer;
        if cells.has(flag::SYNCHRONOUS | flag::FAILED) {
            return self.transmit_unusual(slot);
        }
        let header = envelope(cells, PacketKind::Eager);
        match cells.contiguous() {
            Some(payload) => endpoint.send(peer, header, payload, true)?,
            None => {
                endpoint.send_with(peer, header, cells.bytes, true, |out| cells.read(0, out))?
            }
        }
        core.tally.eager += 1;
        core.complete(slot);
        Ok(())
    }

    /// A short message whose sender waits for the match, or a failure in place of one.
    fn transmit_unusual(&mut self, slot: Pending) -> Result<(), Refused> {
        let cookie = self.core.slots.id(slot.index()).bits();
        let State { endpoint, core } = self;
        let cells = core.cells(slot);
        let peer = cells.peer;
        if cells.has(flag::FAILED) {
            let header = envelope(cells, PacketKind::Failed);
            let mut body = [0; FAILED_BYTES];
            Body([cells.extra().failure.into()]).put(&mut body);
            endpoint.send(peer, header, &body, false)?;
            core.complete(slot);
            return Ok(());
        }
        let header = envelope(cells, PacketKind::Eager);
        let bytes = cells.bytes + COOKIE_BYTES;
        endpoint.send_with(peer, header, bytes, true, |out| {
            Body([cookie]).put(&mut out[..COOKIE_BYTES]);
            cells.read(0, &mut out[COOKIE_BYTES..]);
        })?;
        core.tally.eager += 1;
        core.announce(slot, awaits::ACK);
        Ok(())
    }

    /// The envelope alone; the payload waits for the receiver's `Cts`.
    fn transmit_rts_only(&mut self, slot: Pending) -> Result<(), Refused> {
        let cookie = self.core.slots.id(slot.index()).bits();
        let cells = self.core.cells(slot);
        let (peer, header) = (cells.peer, envelope(cells, PacketKind::RtsOnly));
        let mut body = [0; RTS_ONLY_BYTES];
        Body([cookie, cells.bytes as u64]).put(&mut body);
        self.endpoint.send(peer, header, &body, false)?;
        self.core.tally.rts_only += 1;
        self.core.announce(slot, awaits::CTS);
        Ok(())
    }

    fn transmit_rts(&mut self, slot: Pending) -> Result<(), Refused> {
        let cookie = self.core.slots.id(slot.index()).bits();
        let State { endpoint, core } = self;
        let cells = core.cells(slot);
        let (peer, header, length) = (
            cells.peer,
            envelope(cells, PacketKind::Rts),
            cells.bytes as u64,
        );
        let matched = match cells.has(flag::SYNCHRONOUS) {
            true => awaits::ACK,
            false => 0,
        };
        let memory = cells.memory();
        let opened = cells.extra().descriptor;
        let descriptor = match opened {
            Some(descriptor) => descriptor,
            None => {
                // The transfer may end before this function returns.
                cells.awaits = awaits::BULK | matched;
                let descriptor = endpoint.bulk_send(peer, memory, cookie)?;
                cells.extra().descriptor = Some(descriptor);
                descriptor
            }
        };
        let rts = Rts {
            cookie,
            bytes: length,
            transport: descriptor.0,
        };
        rts.emit(|payload| endpoint.send(peer, header, payload, false))?;
        core.tally.rts += 1;
        core.announce_begun(slot);
        Ok(())
    }

    /// Sends the payload that the receiver asked for.
    pub(crate) fn transmit_data(&mut self, slot: Pending) -> Result<(), Refused> {
        let State { endpoint, core } = self;
        let cells = core.cells(slot);
        let remote = cells.extra().remote;
        let bytes = cells.bytes + COOKIE_BYTES;
        endpoint.send_with(
            cells.peer,
            Header(Packet::control(PacketKind::Data).words()),
            bytes,
            false,
            |out| {
                Body([remote]).put(&mut out[..COOKIE_BYTES]);
                cells.read(0, &mut out[COOKIE_BYTES..]);
            },
        )?;
        core.came(slot, awaits::PACKET).expect("it was asked for");
        Ok(())
    }

    /// Asks for the payload that the sender of a message has kept.
    fn transmit_cts(&mut self, slot: Pending, cookie: Cookie) -> Result<(), Refused> {
        let own = self.core.slots.id(slot.index()).bits();
        let peer = self.core.cells(slot).peer;
        let mut body = [0; CTS_BYTES];
        Body([cookie, own]).put(&mut body);
        let header = Header(Packet::control(PacketKind::Cts).words());
        self.endpoint.send(peer, header, &body, false)?;
        let cells = self.core.cells(slot);
        cells.awaits = cells.awaits & !awaits::PACKET | awaits::DATA;
        Ok(())
    }

    /// Sends an answer of the protocol, or queues it.
    pub(crate) fn control(&mut self, peer: Peer, control: Control) {
        if !self.core.outbound.waits(peer) {
            match self.transmit_control(peer, control) {
                Ok(()) | Err(Refused::Lost) => return,
                Err(refused) => drop(self.core.full(peer, refused)),
            }
        }
        self.core.outbound.push_control(peer, control);
    }

    #[inline(never)]
    pub(crate) fn transmit_control(&mut self, peer: Peer, control: Control) -> Result<(), Refused> {
        match control {
            Control::Words {
                header,
                body,
                words,
            } => {
                let mut bytes = [0; CONTROL_BYTES];
                Body(body).put(&mut bytes);
                self.endpoint
                    .send(peer, header, &bytes[..words as usize * 8], false)
            }
            Control::Cts { slot, cookie } => {
                let sent = self.transmit_cts(slot, cookie);
                self.or_lost(slot, sent)
            }
            Control::Data { slot } => {
                let sent = self.transmit_data(slot);
                self.or_lost(slot, sent)
            }
            Control::Access { slot } => {
                let begun = self.transmit_access(slot);
                self.or_lost(slot, begun)
            }
            Control::BulkReceive {
                slot,
                descriptor,
                bytes,
            } => {
                let begun = self.bulk_receive(slot, descriptor, bytes);
                self.or_lost(slot, begun)
            }
        }
    }

    /// What was to be done for a request: if its peer is lost, so is the request.
    fn or_lost(&mut self, slot: Pending, done: Result<(), Refused>) -> Result<(), Refused> {
        if done != Err(Refused::Lost) {
            return done;
        }
        self.core.fail(slot, Failure::PeerLost);
        Ok(())
    }
}

impl Core {
    /// A packet to `peer` was refused, and waits: for room, or for a link, which is to be made.
    #[cold]
    pub(crate) fn full(&mut self, peer: Peer, refused: Refused) -> Full {
        if refused == Refused::Connecting {
            self.afterwards.push(Afterwards::Connect(peer));
        }
        Full
    }
}

/// The header of a message of `cells`.
pub(crate) fn envelope(cells: &Cells, kind: PacketKind) -> Header {
    let flags = if cells.has(flag::SYNCHRONOUS) {
        SYNCHRONOUS
    } else {
        0
    };
    let (source, tag) = (cells.source as u32, cells.tag as u32);
    Header(
        Packet {
            kind,
            flags,
            source,
            context: cells.context,
            tag,
        }
        .words(),
    )
}

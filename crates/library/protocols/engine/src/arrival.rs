//! What comes from a peer.
//!
//! Nothing in it is trusted: a header that is none, a payload too short, a cookie that names no request of
//! this peer's are protocol errors; they end the connection and name the peer, not the process.

use std::sync::atomic::Ordering;

use weft_matching::{Envelope, Prepared};
use weft_sync::fetch;
use weft_transport::{BulkDescriptor, Cookie, Header, Lost, Peer, Sink};
use weft_wire::{
    ANSWER_BYTES, Body, CTS_BYTES, ENQUIRY_BYTES, Entries, FORGOTTEN, OF_SENDER, Packet,
    PacketKind, Rts, SYNCHRONOUS, View,
};

use crate::enquiry::Enquiry;
use crate::notice::Notice;
use crate::outbound::Control;
use crate::pending::Pending;
use crate::posted::Posted;
use crate::slot::{Outcome, PLAIN, Role, awaits, flag};
use crate::state::{Action, Afterwards, Core};
use crate::unexpected::{Payload, Unexpected};

/// Messages of an aggregate that are fetched ahead.
const AHEAD: usize = 96;

/// The packet makes no sense.
struct Nonsense;

impl Sink for Core {
    #[inline]
    fn looks_ahead(&self) -> bool {
        self.matching.prefetches()
    }

    #[inline]
    fn expects_nothing(&self) -> bool {
        self.matching.posted_len() == 0
    }

    #[inline]
    fn upcoming(&mut self, _from: Peer, header: Header) {
        let view = View(header.0);
        if view.is_plain_eager() {
            self.matching.prefetch_arrival(&envelope(view));
        }
    }

    #[inline]
    fn packet(&mut self, from: Peer, header: Header, payload: &[u8]) {
        // Words, and not the header, so that it is never written.
        let [low, high] = header.0;
        let view = View([low, high]);
        if view.is_plain_eager() {
            self.eager(from, view, payload);
        } else {
            self.others(from, low, high, payload);
        }
    }

    fn sent(&mut self, cookie: Cookie) {
        self.moved(cookie);
    }

    fn received(&mut self, cookie: Cookie) {
        self.moved(cookie);
    }

    fn writable(&mut self, peer: Peer) {
        self.actions.push_back(Action::Flush { peer });
    }

    fn connect(&mut self, peer: Peer) {
        self.afterwards.push(Afterwards::Connect(peer));
    }

    fn lost(&mut self, peer: Peer, lost: &Lost) {
        self.lose(peer, lost);
    }
}

/// The message of a packet other than a plain eager one.
fn unexpected(peer: Peer, packet: &Packet, payload: &[u8]) -> Option<Unexpected> {
    let (synchronous, cookie, payload) = match packet.kind {
        PacketKind::Eager => {
            let (Body([cookie]), rest) = Body::<1>::split(payload)?;
            (true, cookie, Payload::store(rest))
        }
        PacketKind::Rts => {
            let rts = Rts::parse(payload)?;
            let Rts { cookie, bytes, .. } = rts;
            let descriptor = BulkDescriptor(rts.transport);
            let synchronous = packet.flags & SYNCHRONOUS != 0;
            (synchronous, cookie, Payload::Rts { bytes, descriptor })
        }
        PacketKind::RtsOnly => {
            let Body([cookie, bytes]) = Body::whole(payload)?;
            // The payload is sent after the match, which is all that a synchronous send asks for.
            (false, cookie, Payload::RtsOnly { bytes })
        }
        PacketKind::Failed => {
            let Body([number]) = Body::whole(payload)?;
            (false, 0, Payload::Failed(number.try_into().ok()?))
        }
        _ => return None,
    };
    Some(Unexpected {
        payload,
        peer,
        synchronous,
        cookie,
    })
}

#[inline]
fn envelope(view: View) -> Envelope {
    let (source, context, tag) = view.address();
    Envelope {
        context,
        source: source as i32,
        tag: tag as i32,
    }
}

impl Core {
    #[inline(never)]
    fn others(&mut self, from: Peer, low: u64, high: u64, payload: &[u8]) {
        let view = View([low, high]);
        // What follows nonsense in the same turn is of no account; whole messages do no harm.
        if !self.is_ended(from) && self.dispatch(from, view, payload).is_err() {
            self.nonsense(from, view);
        }
    }

    fn dispatch(&mut self, from: Peer, view: View, payload: &[u8]) -> Result<(), Nonsense> {
        let packet = view.packet().ok_or(Nonsense)?;
        match packet.kind {
            PacketKind::Aggregate => self.aggregate(from, payload),
            _ => self.protocol(from, &packet, payload).ok_or(Nonsense),
        }
    }

    /// A whole message: into the oldest receive that matches, or kept.
    #[inline]
    fn eager(&mut self, from: Peer, view: View, payload: &[u8]) {
        // Whatever is not commonest goes on elsewhere and does not come back, so that this keeps nothing for it.
        match self.matching.arrive_in_order(&envelope(view)) {
            Some(posted) => self.deliver(&posted, view, payload),
            None => {
                let View([low, high]) = view;
                self.eager_searching(from, low, high, payload);
            }
        }
    }

    #[inline(never)]
    fn eager_searching(&mut self, from: Peer, low: u64, high: u64, payload: &[u8]) {
        let view = View([low, high]);
        match self.matching.arrive_searching(envelope(view)) {
            Some(posted) => self.deliver(&posted, view, payload),
            None => self.eager_unexpected(from, low, high, payload),
        }
    }

    /// Completes a posted receive by a whole message.
    #[inline]
    fn deliver(&mut self, posted: &Posted, view: View, payload: &[u8]) {
        let slot = posted.slot();
        // SAFETY: a posted receive's slot is pending, and so this lane's (slot protocol, rule 2); no other reference to
        // the cells lives.
        let cells = unsafe { &mut *slot.cells.get() };
        if payload.len() > cells.bytes || cells.has(flag::STRIDED | flag::DETACHED | flag::AWAITED)
        {
            let View([low, high]) = view;
            return self.deliver_specially(posted.pending(), low, high, payload);
        }
        debug_assert!(slot.is_pending(), "a request completes once");
        cells.write_together(payload);
        let (source, _, tag) = view.address();
        cells.outcome = Outcome {
            source: source as i32,
            tag: tag as i32,
            bytes: payload.len() as u64,
            failure: None,
            cancelled: false,
        };
        slot.state.store(PLAIN, Ordering::Release);
    }

    #[inline(never)]
    fn deliver_specially(&mut self, slot: Pending, low: u64, high: u64, payload: &[u8]) {
        let Envelope { source, tag, .. } = envelope(View([low, high]));
        let cells = self.cells(slot);
        let room = cells.bytes as u64;
        cells.outcome = Outcome::received(source, tag, payload.len() as u64, room);
        let taken = cells.outcome.bytes as usize;
        self.fill(slot, &payload[..taken]);
    }

    #[inline(never)]
    fn eager_unexpected(&mut self, from: Peer, low: u64, high: u64, payload: &[u8]) {
        let payload = Payload::store(payload);
        let unexpected = Unexpected {
            payload,
            peer: from,
            synchronous: false,
            cookie: 0,
        };
        self.store(envelope(View([low, high])), unexpected);
    }

    fn aggregate(&mut self, from: Peer, payload: &[u8]) -> Result<(), Nonsense> {
        if self.looks_ahead() {
            self.fetch_ahead(payload);
        }
        for entry in Entries::new(payload) {
            let entry = entry.map_err(|_| Nonsense)?;
            let view = View(entry.header);
            if !view.is_plain_eager() {
                return Err(Nonsense);
            }
            self.eager(from, view, entry.payload);
        }
        Ok(())
    }

    /// Fetches what delivering an aggregate's messages will touch, stage by stage, so that the cache misses of one
    /// stage overlap: buckets, then cells, then requests, then user buffers.
    #[inline(never)]
    fn fetch_ahead(&self, payload: &[u8]) {
        let mut prepared = [Prepared::default(); AHEAD];
        let views = Entries::new(payload)
            .flatten()
            .map(|entry| View(entry.header));
        let mut count = 0;
        for (place, view) in prepared.iter_mut().zip(views) {
            *place = self.matching.prepare(&envelope(view));
            count += 1;
        }
        let prepared = &prepared[..count];
        for one in prepared {
            self.matching.prefetch(one);
        }
        let candidates = || {
            prepared
                .iter()
                .flat_map(|one| self.matching.candidates(one))
        };
        candidates().for_each(|posted| fetch(posted.place()));
        candidates().for_each(|posted| fetch(posted.buffer().0));
    }

    /// Everything but plain eager messages.
    fn protocol(&mut self, from: Peer, packet: &Packet, payload: &[u8]) -> Option<()> {
        let view = View(packet.words());
        match packet.kind {
            PacketKind::Eager | PacketKind::Rts | PacketKind::RtsOnly | PacketKind::Failed => {
                let unexpected = unexpected(from, packet, payload)?;
                self.arrived(envelope(view), unexpected);
            }
            PacketKind::Cts => {
                let Body([cookie, remote]) = Body::<{ CTS_BYTES / 8 }>::whole(payload)?;
                let slot = self.named(cookie, Role::Send, from)?;
                self.came_and_awaits(slot, awaits::CTS, awaits::PACKET)?;
                self.cells(slot).extra().remote = remote;
                let control = Control::Data { slot };
                self.actions.push_back(Action::Control {
                    peer: from,
                    control,
                });
            }
            PacketKind::Data => {
                let (Body([cookie]), rest) = Body::<1>::split(payload)?;
                let slot = self.named(cookie, Role::Receive, from)?;
                let cells = self.cells(slot);
                // Of a message that was longer than the buffer, what fits in it.
                let taken = rest.get(..cells.outcome.bytes as usize)?;
                if cells.awaits & awaits::DATA == 0 {
                    return None;
                }
                cells.write(taken);
                self.came(slot, awaits::DATA)?;
            }
            PacketKind::Ack => {
                let Body([cookie]) = Body::whole(payload)?;
                let slot = self.named(cookie, Role::Send, from)?;
                self.came(slot, awaits::ACK)?;
            }
            PacketKind::Cancel => {
                let Body([cookie]) = Body::whole(payload)?;
                self.forget(from, cookie);
            }
            PacketKind::Cancelled => {
                let Body([cookie]) = Body::whole(payload)?;
                // The answer may be overtaken by the request's completion.
                if let Some(slot) = self.named(cookie, Role::Send, from) {
                    self.cancel_answered(from, slot, packet.flags & FORGOTTEN != 0)?;
                }
            }
            PacketKind::Enquiry => {
                let Body([cookie, own, other]) = Body::<{ ENQUIRY_BYTES / 8 }>::whole(payload)?;
                let enquiry = Enquiry {
                    peer: from,
                    context: packet.context,
                    source: packet.source,
                    tag: packet.tag,
                    is_of_sender: packet.flags & OF_SENDER != 0,
                    words: [own, other],
                };
                self.afterwards.push(Afterwards::Answer(enquiry, cookie));
            }
            PacketKind::Answer => {
                let Body([cookie, number]) = Body::<{ ANSWER_BYTES / 8 }>::whole(payload)?;
                self.answered(from, cookie, number.try_into().ok()?);
            }
            PacketKind::Notice => {
                let notice = Notice {
                    peer: from,
                    context: packet.context,
                    bytes: payload.to_vec(),
                };
                self.afterwards.push(Afterwards::Notice(notice));
            }
            PacketKind::Aggregate => return None,
        }
        Some(())
    }

    /// A message whose payload is not in the packet, or whose sender wants to hear.
    pub fn arrived(&mut self, envelope: Envelope, unexpected: Unexpected) {
        match self.matching.arrive(envelope) {
            Some(posted) => self.join(posted.pending(), envelope, unexpected),
            None => self.store(envelope, unexpected),
        }
    }

    /// Keeps a message until its receive is posted.
    pub fn store(&mut self, envelope: Envelope, unexpected: Unexpected) {
        let peer = unexpected.peer;
        let bytes = unexpected.payload.held_bytes();
        self.tally.unexpected += 1;
        self.tally.unexpected_bytes += bytes;
        let change = self.throttle.stored(peer, bytes);
        self.matching.enqueue(envelope, unexpected);
        self.tell_throttle(peer, change);
        if !self.probers.is_empty() {
            let wakes = self.probers.drain(..).map(Afterwards::Wake);
            self.afterwards.extend(wakes);
        }
    }
}

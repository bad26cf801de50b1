//! Forming packets from what has gathered while the way to a peer was full (Denis 2019 §III-A).

use weft_transport::{Endpoint, Header, Peer, Refused};
use weft_wire::{Packet, PacketKind, entry_bytes, put_entry};

use crate::outbound::Queue;
use crate::send::{Full, envelope};
use crate::slot::{Cells, flag};
use crate::slots::Slots;
use crate::state::State;

/// An aggregate's payload is at most this long, so that the receiver can work on one while the next is
/// being written.
const AGGREGATE_BYTES: usize = 2048;
/// Longer messages travel alone: aggregation would save them little.
const SMALL_BYTES: usize = 256;

impl<E: Endpoint> State<E> {
    /// Sends what waits for `peer`, as far as there is room.
    #[inline(never)]
    pub(crate) fn flush(&mut self, peer: Peer) {
        while let Some(queue) = self.core.outbound.queue(peer) {
            let sent = if let Some(control) = queue.controls.pop_front() {
                let sent = self.transmit_control(peer, control);
                self.put_back_if_full(peer, sent, |queue| queue.controls.push_front(control))
            } else if let Some(notice) = queue.notices.pop_front() {
                let sent = self.transmit_notice(&notice);
                self.put_back_if_full(peer, sent, |queue| queue.notices.push_front(notice))
            } else if queue.head().is_none()
                && let Some(answer) = queue.answer.take()
            {
                let sent = self.transmit_control(peer, answer);
                self.put_back_if_full(peer, sent, |queue| queue.answer = Some(answer))
            } else {
                self.flush_messages(peer)
            };
            self.core.outbound.tidy(peer);
            if sent.is_err() {
                return;
            }
        }
    }

    /// What was taken from the queue goes back if there was no room for it.
    fn put_back_if_full(
        &mut self,
        peer: Peer,
        sent: Result<(), Refused>,
        put_back: impl FnOnce(&mut Queue),
    ) -> Result<(), Full> {
        match sent {
            Err(refused) if refused != Refused::Lost => {
                let queue = self.core.outbound.queue(peer);
                put_back(queue.expect("it was not tidied"));
                Err(self.core.full(peer, refused))
            }
            _ => Ok(()),
        }
    }

    fn flush_messages(&mut self, peer: Peer) -> Result<(), Full> {
        let slots = self.core.slots.clone();
        if let Some((count, bytes)) = self.gather(peer, &slots) {
            match self.transmit_aggregate(peer, count, bytes, &slots) {
                Ok(()) => return Ok(()),
                // The receiver wants envelopes: one by one. Or it is lost, which the message will tell.
                Err(Refused::Throttled | Refused::Lost) => {}
                Err(refused) => return Err(self.core.full(peer, refused)),
            }
        }
        let Some(slot) = self.core.pop_queued(peer, &slots) else {
            return Ok(());
        };
        // Off the queue before it can complete: a complete request's link is no longer the lane's.
        let sent = self.transmit(slot);
        if sent.is_err() {
            self.core.cells(slot).flags |= flag::QUEUED;
            self.core.outbound.push_front(peer, slot, &slots);
        }
        sent
    }

    /// How many messages at the head of the queue fit an aggregate, and its length; `None` for fewer than two.
    fn gather(&mut self, peer: Peer, slots: &Slots) -> Option<(usize, usize)> {
        let limit = AGGREGATE_BYTES.min(self.endpoint.eager_limit(peer));
        let mut next = self.core.outbound.queue(peer)?.head();
        let (mut count, mut total) = (0, 0);
        while let Some(slot) = next {
            let cells = self.core.cells(slot);
            let grown = total + entry_bytes(cells.bytes);
            if !is_small(cells) || grown > limit {
                break;
            }
            (count, total) = (count + 1, grown);
            next = self.core.outbound.queue(peer)?.after(slot, slots);
        }
        (count >= 2).then_some((count, total))
    }

    fn transmit_aggregate(
        &mut self,
        peer: Peer,
        count: usize,
        bytes: usize,
        slots: &Slots,
    ) -> Result<(), Refused> {
        let State { endpoint, core } = self;
        let header = Header(Packet::control(PacketKind::Aggregate).words());
        let head = core.outbound.queue(peer).and_then(|queue| queue.head());
        let mut next = head;
        endpoint.send_with(peer, header, bytes, true, |mut out| {
            for _ in 0..count {
                let slot = next.expect("gathered");
                let cells = core.cells(slot);
                let (entry, rest) = out.split_at_mut(entry_bytes(cells.bytes));
                cells.read(
                    0,
                    put_entry(entry, envelope(cells, PacketKind::Eager).0, cells.bytes),
                );
                out = rest;
                next = core
                    .outbound
                    .queue(peer)
                    .and_then(|queue| queue.after(slot, slots));
            }
        })?;
        core.tally.aggregates += 1;
        core.tally.eager += count as u64;
        for _ in 0..count {
            let slot = core.pop_queued(peer, slots).expect("gathered");
            core.complete(slot);
        }
        Ok(())
    }
}

fn is_small(cells: &Cells) -> bool {
    cells.bytes <= SMALL_BYTES && !cells.has(flag::SYNCHRONOUS | flag::FAILED)
}

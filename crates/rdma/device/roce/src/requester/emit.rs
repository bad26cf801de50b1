//! From send requests to packets.

use super::work::Operation;
use super::{Queued, Requester};
use crate::batch::Batch;
use crate::host::{Atomic, Host, Immediate, Status};
use crate::packet::{AtomicEth, Header, MAX_MESSAGE_BYTES, PacketOperation, Reth};
use crate::responder::held::MOST_HELD;

/// Within a message, every so manieth packet asks for an acknowledgement, so that the window moves on.
const ACKNOWLEDGE_EVERY: u64 = 8;

/// What became of an attempt to send the packet at the cursor.
enum Step {
    /// Sent; the cursor moves on by so many positions.
    Sent(u64),
    Blocked,
    Failed(Status),
}

impl Requester {
    pub fn transmit(&mut self, now: u64, batch: &mut Batch, host: &mut impl Host) {
        while !batch.is_full() && self.may_send() {
            if let Some(position) = self.selective.repeat() {
                self.repeat(position, batch, host);
                continue;
            }
            if self.is_held_at_cursor() {
                self.pass_cursor(1);
                continue;
            }
            let Some(queued) = self.queue.get(self.cursor_index) else {
                break;
            };
            match self.send(queued, batch, host) {
                Step::Sent(positions) => self.advance_cursor(now, positions),
                Step::Blocked => break,
                Step::Failed(status) => self.poison(status, host),
            }
        }
        if !self.is_reliable() {
            self.complete_sent(host);
            self.settle_poison(host);
        }
    }

    /// Is anything posted that was not sent, or to be sent again?
    pub fn has_packets(&self) -> bool {
        let waits = self.cursor < self.posted || self.selective.repeat().is_some();
        waits && self.may_send()
    }

    fn may_send(&self) -> bool {
        !self.failed && self.poison.is_none() && !self.retry.is_paused()
    }

    /// Sends a single packet again. What cannot be sent any more, and what has to wait, is left to the time when everything is sent
    /// again.
    fn repeat(&mut self, position: u64, batch: &mut Batch, host: &mut impl Host) {
        self.selective.repeated();
        let index = self
            .queue
            .partition_point(|queued| queued.end() <= position);
        if let Some(queued) = self.queue.get(index) {
            self.send_at(position, queued, batch, host);
        }
    }

    /// Does the responder hold what comes next? READs and atomics are sent again all the same: their answers are counted.
    fn is_held_at_cursor(&self) -> bool {
        let queued = self.queue.get(self.cursor_index);
        self.cursor > self.acknowledged
            && self.selective.is_held(self.cursor)
            && queued.is_some_and(|queued| !queued.work.awaits_response())
    }

    fn pass_cursor(&mut self, positions: u64) {
        let end = self.cursor + positions;
        self.selective.pass(self.cursor..end);
        self.cursor = end;
        if self.queue[self.cursor_index].end() == self.cursor {
            self.cursor_index += 1;
        }
    }

    fn advance_cursor(&mut self, now: u64, positions: u64) {
        let position = self.cursor;
        if self.queue[self.cursor_index].work.awaits_response() {
            self.reads.push_back(position + positions);
        }
        self.pass_cursor(positions);
        let first = position >= self.sent;
        self.sent = self.sent.max(self.cursor);
        if self.is_reliable() {
            self.retry.sent(now, position, first);
        }
    }

    /// Sends the packet at the cursor, if it may go now.
    fn send(&self, queued: &Queued, batch: &mut Batch, host: &mut impl Host) -> Step {
        if queued.first == self.cursor {
            if let Err(status) = self.check(queued) {
                return Step::Failed(status);
            }
            if queued.work.fence && !self.reads.is_empty() {
                return Step::Blocked;
            }
        }
        if self.is_reliable() && !self.has_room(queued) {
            return Step::Blocked;
        }
        self.send_at(self.cursor, queued, batch, host)
    }

    /// Is there room in the window and at the responder, for all answers?
    fn has_room(&self, queued: &Queued) -> bool {
        let in_flight = self.in_flight();
        let packets = match queued.work.operation {
            Operation::Read { .. } => queued.read_packets(self.cursor),
            _ => 1,
        };
        let fits = in_flight + packets <= self.window.packets()
            && self.cursor - self.acknowledged < MOST_HELD;
        match queued.work.awaits_response() {
            // A chunk longer than the window goes alone.
            true => self.reads.len() < self.max_rd_atomic && (fits || in_flight == 0),
            false => fits,
        }
    }

    /// Sends the packet at this position.
    fn send_at(
        &self,
        position: u64,
        queued: &Queued,
        batch: &mut Batch,
        host: &mut impl Host,
    ) -> Step {
        match queued.work.operation {
            Operation::Send { .. } | Operation::Write { .. } => {
                self.send_data(position, queued, batch, host)
            }
            Operation::Read { address, rkey } => {
                self.send_read(position, queued, address, rkey, batch)
            }
            Operation::Atomic {
                address,
                rkey,
                atomic,
            } => self.send_atomic(position, queued, (address, rkey), atomic, batch),
        }
    }

    /// Whether the request can be sent at all.
    fn check(&self, queued: &Queued) -> Result<(), Status> {
        let bytes = queued.work.bytes();
        let is_atomic = matches!(queued.work.operation, Operation::Atomic { .. });
        if bytes > MAX_MESSAGE_BYTES || is_atomic && bytes != 8 {
            return Err(Status::LocalLength);
        }
        if queued.work.awaits_response() && (self.max_rd_atomic == 0 || !self.is_reliable()) {
            return Err(Status::LocalQpOperation);
        }
        Ok(())
    }

    /// Packets on their way; what the responder holds has arrived.
    fn in_flight(&self) -> u64 {
        (self.cursor - self.acknowledged).saturating_sub(self.selective.passed())
    }

    fn send_data(
        &self,
        position: u64,
        queued: &Queued,
        batch: &mut Batch,
        host: &mut impl Host,
    ) -> Step {
        let index = position - queued.first;
        let offset = index * self.link.mtu;
        let work = &queued.work;
        let bytes = (work.bytes() - offset).min(self.link.mtu) as usize;
        let is_last = index + 1 == queued.packets;
        let kind = data_kind(&work.operation, index == 0, is_last);
        let Some(mut header) = self.header(kind, position) else {
            return Step::Failed(Status::LocalQpOperation);
        };
        header.xrc_srq = work.xrc_srq;
        header.solicited = is_last && work.solicited;
        header.ack_request = self.is_reliable()
            && (is_last
                || position % ACKNOWLEDGE_EVERY == ACKNOWLEDGE_EVERY - 1
                || position < self.cursor
                || self.in_flight() + 1 >= self.window.packets());
        match work.operation {
            Operation::Send { immediate } => match immediate {
                Immediate::None => (),
                Immediate::Data(data) => header.immediate = data,
                Immediate::Invalidated(rkey) => header.invalidate = rkey,
            },
            Operation::Write {
                address,
                rkey,
                immediate,
            } => {
                header.reth = Reth {
                    address,
                    rkey,
                    length: work.bytes() as u32,
                };
                header.immediate = immediate.unwrap_or(0);
            }
            Operation::Read { .. } | Operation::Atomic { .. } => (),
        }
        let filled = batch.push(&self.link.route, &header, bytes, |out| {
            work.payload.read(offset, out, host)
        });
        match filled {
            Ok(()) => Step::Sent(1),
            Err(_) => Step::Failed(Status::LocalProtection),
        }
    }

    /// Asks for the rest of the chunk that the position is in.
    fn send_read(
        &self,
        position: u64,
        queued: &Queued,
        address: u64,
        rkey: u32,
        batch: &mut Batch,
    ) -> Step {
        let index = position - queued.first;
        let packets = queued.read_packets(position);
        let offset = index * self.link.mtu;
        let Some(mut header) = self.header(PacketOperation::ReadRequest, position) else {
            return Step::Failed(Status::LocalQpOperation);
        };
        header.xrc_srq = queued.work.xrc_srq;
        header.ack_request = true;
        header.reth = Reth {
            address: address.wrapping_add(offset),
            rkey,
            length: (queued.work.bytes() - offset).min(packets * self.link.mtu) as u32,
        };
        batch.push_bare(&self.link.route, &header);
        Step::Sent(packets)
    }

    fn send_atomic(
        &self,
        position: u64,
        queued: &Queued,
        (address, rkey): (u64, u32),
        atomic: Atomic,
        batch: &mut Batch,
    ) -> Step {
        let (kind, swap_or_add, compare) = match atomic {
            Atomic::CompareSwap { compare, swap } => (PacketOperation::CompareSwap, swap, compare),
            Atomic::FetchAdd { add } => (PacketOperation::FetchAdd, add, 0),
        };
        let Some(mut header) = self.header(kind, position) else {
            return Step::Failed(Status::LocalQpOperation);
        };
        header.xrc_srq = queued.work.xrc_srq;
        header.ack_request = true;
        header.atomic = AtomicEth {
            address,
            rkey,
            swap_or_add,
            compare,
        };
        batch.push_bare(&self.link.route, &header);
        Step::Sent(1)
    }

    fn header(&self, kind: PacketOperation, position: u64) -> Option<Header> {
        let mut header = self.link.header(kind, self.sequence.psn(position))?;
        header.selective = self.is_selective;
        Some(header)
    }
}

/// The kind of one packet of a SEND or WRITE.
fn data_kind(operation: &Operation, is_first: bool, is_last: bool) -> PacketOperation {
    let is_send = matches!(operation, Operation::Send { .. });
    match (is_first, is_last) {
        (true, false) if is_send => PacketOperation::SendFirst,
        (true, false) => PacketOperation::WriteFirst,
        (false, false) if is_send => PacketOperation::SendMiddle,
        (false, false) => PacketOperation::WriteMiddle,
        (is_whole, true) => last_kind(operation, is_whole),
    }
}

fn last_kind(operation: &Operation, is_whole: bool) -> PacketOperation {
    let (last, only) = match operation {
        Operation::Send { immediate } => match immediate {
            Immediate::None => (PacketOperation::SendLast, PacketOperation::SendOnly),
            Immediate::Data(_) => (
                PacketOperation::SendLastImmediate,
                PacketOperation::SendOnlyImmediate,
            ),
            Immediate::Invalidated(_) => (
                PacketOperation::SendLastInvalidate,
                PacketOperation::SendOnlyInvalidate,
            ),
        },
        Operation::Write {
            immediate: Some(_), ..
        } => (
            PacketOperation::WriteLastImmediate,
            PacketOperation::WriteOnlyImmediate,
        ),
        _ => (PacketOperation::WriteLast, PacketOperation::WriteOnly),
    };
    if is_whole { only } else { last }
}

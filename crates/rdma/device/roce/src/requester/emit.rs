//! From send requests to packets.

use super::work::Operation;
use super::{Queued, Requester};
use crate::batch::Batch;
use crate::host::{Atomic, Host, Immediate, Status};
use crate::packet::{AtomicEth, Header, Kind, MAX_MESSAGE_BYTES, Reth};

/// Packets of a READ's response that one request asks for. It divides the response into the same chunks each time.
const READ_CHUNK_PACKETS: u64 = 32;
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

    fn may_send(&self) -> bool {
        !self.failed && self.poison.is_none() && !self.retry.is_paused()
    }

    fn advance_cursor(&mut self, now: u64, positions: u64) {
        let position = self.cursor;
        self.cursor += positions;
        let queued = &self.queue[self.cursor_index];
        if queued.work.awaits_response() {
            self.reads.push_back(self.cursor);
        }
        if queued.end() == self.cursor {
            self.cursor_index += 1;
        }
        let first = position >= self.sent;
        self.sent = self.sent.max(self.cursor);
        if self.is_reliable() {
            self.retry.sent(now, position, first);
        }
    }

    fn send(&self, queued: &Queued, batch: &mut Batch, host: &mut impl Host) -> Step {
        if queued.first == self.cursor {
            if let Err(status) = self.check(queued) {
                return Step::Failed(status);
            }
            if queued.work.fence && !self.reads.is_empty() {
                return Step::Blocked;
            }
        }
        match queued.work.operation {
            Operation::Send { .. } | Operation::Write { .. } => self.send_data(queued, batch, host),
            Operation::Read { address, rkey } => self.send_read(queued, address, rkey, batch),
            Operation::Atomic {
                address,
                rkey,
                atomic,
            } => self.send_atomic(queued, address, rkey, atomic, batch),
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

    fn in_flight(&self) -> u64 {
        self.cursor - self.acknowledged
    }

    fn send_data(&self, queued: &Queued, batch: &mut Batch, host: &mut impl Host) -> Step {
        if self.is_reliable() && self.in_flight() >= self.window.packets() {
            return Step::Blocked;
        }
        let index = self.cursor - queued.first;
        let offset = index * self.link.mtu;
        let work = &queued.work;
        let bytes = (work.bytes() - offset).min(self.link.mtu) as usize;
        let is_last = index + 1 == queued.packets;
        let Some(mut header) = self.header(data_kind(&work.operation, index == 0, is_last)) else {
            return Step::Failed(Status::LocalQpOperation);
        };
        header.xrc_srq = work.xrc_srq;
        header.solicited = is_last && work.solicited;
        header.ack_request = self.is_reliable()
            && (is_last
                || self.cursor % ACKNOWLEDGE_EVERY == ACKNOWLEDGE_EVERY - 1
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

    /// Asks for the rest of the chunk that the cursor is in.
    fn send_read(&self, queued: &Queued, address: u64, rkey: u32, batch: &mut Batch) -> Step {
        let index = self.cursor - queued.first;
        let chunk_end = (index / READ_CHUNK_PACKETS + 1) * READ_CHUNK_PACKETS;
        let packets = chunk_end.min(queued.packets) - index;
        let in_flight = self.in_flight();
        if self.reads.len() >= self.max_rd_atomic
            || in_flight > 0 && in_flight + packets > self.window.packets()
        {
            return Step::Blocked;
        }
        let offset = index * self.link.mtu;
        let Some(mut header) = self.header(Kind::ReadRequest) else {
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
        queued: &Queued,
        address: u64,
        rkey: u32,
        atomic: Atomic,
        batch: &mut Batch,
    ) -> Step {
        if self.reads.len() >= self.max_rd_atomic || self.in_flight() >= self.window.packets() {
            return Step::Blocked;
        }
        let (kind, swap_or_add, compare) = match atomic {
            Atomic::CompareSwap { compare, swap } => (Kind::CompareSwap, swap, compare),
            Atomic::FetchAdd { add } => (Kind::FetchAdd, add, 0),
        };
        let Some(mut header) = self.header(kind) else {
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

    fn header(&self, kind: Kind) -> Option<Header> {
        self.link.header(kind, self.sequence.psn(self.cursor))
    }
}

/// The kind of one packet of a SEND or WRITE.
fn data_kind(operation: &Operation, is_first: bool, is_last: bool) -> Kind {
    let is_send = matches!(operation, Operation::Send { .. });
    match (is_first, is_last) {
        (true, false) if is_send => Kind::SendFirst,
        (true, false) => Kind::WriteFirst,
        (false, false) if is_send => Kind::SendMiddle,
        (false, false) => Kind::WriteMiddle,
        (is_whole, true) => last_kind(operation, is_whole),
    }
}

fn last_kind(operation: &Operation, is_whole: bool) -> Kind {
    let (last, only) = match operation {
        Operation::Send { immediate } => match immediate {
            Immediate::None => (Kind::SendLast, Kind::SendOnly),
            Immediate::Data(_) => (Kind::SendLastImmediate, Kind::SendOnlyImmediate),
            Immediate::Invalidated(_) => (Kind::SendLastInvalidate, Kind::SendOnlyInvalidate),
        },
        Operation::Write {
            immediate: Some(_), ..
        } => (Kind::WriteLastImmediate, Kind::WriteOnlyImmediate),
        _ => (Kind::WriteLast, Kind::WriteOnly),
    };
    if is_whole { only } else { last }
}

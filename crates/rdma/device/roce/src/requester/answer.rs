//! What comes back: acknowledgements, responses, silence.

use super::Requester;
use super::retry::Expiry;
use super::work::Operation;
use crate::host::{Host, Status};
use crate::packet::{Header, PacketOperation, Syndrome};

/// The response at `acknowledged` was lost: something behind it was acknowledged.
struct Missing;

impl Requester {
    /// A response arrived. What does not belong to anything in flight is a ghost of something earlier.
    pub fn receive(&mut self, now: u64, header: &Header, payload: &[u8], host: &mut impl Host) {
        if self.failed {
            return;
        }
        let Some(position) = self
            .sequence
            .position(header.psn, self.acknowledged)
            .filter(|&position| position < self.sent)
        else {
            return;
        };
        match header.opcode.kind() {
            PacketOperation::Acknowledge => {
                self.on_acknowledge(now, position, header.aeth.syndrome, payload, host);
            }
            PacketOperation::AtomicAcknowledge => {
                self.on_response(now, position, &header.original.to_ne_bytes(), host);
            }
            _ => self.on_response(now, position, payload, host),
        }
        self.settle_poison(host);
    }

    fn on_acknowledge(
        &mut self,
        now: u64,
        position: u64,
        syndrome: u8,
        held: &[u8],
        host: &mut impl Host,
    ) {
        let syndrome = Syndrome::from_byte(syndrome);
        let done = position + u64::from(syndrome == Syndrome::Ack);
        if self.acknowledge(now, done, host).is_err() {
            return self.on_missing();
        }
        if syndrome == Syndrome::Ack || position < self.acknowledged {
            return;
        }
        let status = match syndrome {
            Syndrome::SequenceError if self.is_selective && !held.is_empty() => {
                return self.on_report(position, held);
            }
            Syndrome::SequenceError => return self.on_sequence_error(host),
            Syndrome::ReceiverNotReady(code) => return self.on_not_ready(now, code, host),
            Syndrome::InvalidRequest => Status::RemoteInvalidRequest,
            Syndrome::RemoteAccess => Status::RemoteAccess,
            Syndrome::RemoteOperation => Status::RemoteOperation,
            Syndrome::Ack | Syndrome::Reserved => Status::BadResponse,
        };
        self.fail(status, host);
    }

    /// The responder did everything before `end`: ends requests up to there, or to a response that is missing.
    fn acknowledge(&mut self, now: u64, end: u64, host: &mut impl Host) -> Result<(), Missing> {
        let before = self.acknowledged;
        let mut missing = false;
        while self.acknowledged < end
            && let Some(queued) = self.queue.front()
        {
            if queued.work.awaits_response() {
                missing = true;
                break;
            }
            let queued_end = queued.end();
            self.acknowledged = end.min(queued_end);
            if self.acknowledged == queued_end {
                self.complete(host);
            }
        }
        self.moved_on(now, before);
        if missing { Err(Missing) } else { Ok(()) }
    }

    /// `acknowledged` may have grown.
    fn moved_on(&mut self, now: u64, before: u64) {
        let acknowledged = self.acknowledged;
        if acknowledged == before {
            return;
        }
        self.window.acknowledged(acknowledged - before);
        while self
            .reads
            .pop_front_if(|end| *end <= acknowledged)
            .is_some()
        {}
        self.selective.advance(acknowledged, self.cursor);
        if self.cursor < acknowledged {
            self.seek(acknowledged);
        }
        self.retry
            .progress(now, acknowledged, self.cursor > acknowledged);
    }

    /// A read or atomic response: the one that is due, or the sign that an earlier one was lost.
    fn on_response(&mut self, now: u64, position: u64, data: &[u8], host: &mut impl Host) {
        if self.acknowledge(now, position, host).is_err() {
            return self.on_missing();
        }
        let Some(queued) = self.queue.front() else {
            return;
        };
        if position != self.acknowledged || !queued.work.awaits_response() {
            return;
        }
        let offset = (position - queued.first) * self.link.mtu;
        let due = match queued.work.operation {
            Operation::Atomic { .. } => 8,
            _ => (queued.work.bytes() - offset).min(self.link.mtu),
        };
        if data.len() as u64 != due {
            return self.fail(Status::BadResponse, host);
        }
        if queued.work.payload.write(offset, data, host).is_err() {
            return self.fail(Status::LocalProtection, host);
        }
        let is_last = position + 1 == queued.end();
        self.acknowledged = position + 1;
        if is_last {
            self.complete(host);
        }
        self.moved_on(now, position);
    }

    /// An implied NAK; followed once for each response.
    fn on_missing(&mut self) {
        if self.implied_nak == Some(self.acknowledged) {
            return;
        }
        self.implied_nak = Some(self.acknowledged);
        self.window.lost(self.acknowledged, self.sent);
        self.go_back(self.acknowledged);
    }

    fn on_sequence_error(&mut self, host: &mut impl Host) {
        if self.cursor == self.acknowledged {
            return;
        }
        if !self.retry.spend() {
            return self.fail(Status::RetryExceeded, host);
        }
        self.window.lost(self.acknowledged, self.sent);
        self.go_back(self.acknowledged);
    }

    /// The responder expects this position, the oldest in flight, and holds some behind it.
    fn on_report(&mut self, position: u64, held: &[u8]) {
        let queue = &self.queue;
        let places = (self.cursor, self.sent);
        let lost = self.selective.report(position, places, held, |at| {
            let index = queue.partition_point(|queued| queued.end() <= at);
            queue.get(index).is_some_and(|queued| {
                at == position || !queued.work.is_read() || queued.begins_read_chunk(at)
            })
        });
        if lost {
            self.window.lost(position, self.sent);
            self.retry.forget_sample();
        }
    }

    fn on_not_ready(&mut self, now: u64, code: u8, host: &mut impl Host) {
        if self.retry.is_paused() {
            return;
        }
        if !self.retry.pause(now, code) {
            return self.fail(Status::RnrRetryExceeded, host);
        }
        self.send_again();
    }

    pub fn deadline(&self) -> Option<u64> {
        self.retry.deadline()
    }

    pub fn expire(&mut self, now: u64, host: &mut impl Host) {
        match self.retry.expire(now) {
            Expiry::Nothing => (),
            Expiry::Probe => self.send_again(),
            Expiry::Timeout if self.retry.spend() => {
                self.selective.clear();
                self.send_again();
            }
            Expiry::Timeout => self.fail(Status::RetryExceeded, host),
        }
    }

    fn send_again(&mut self) {
        self.window.silent();
        self.go_back(self.acknowledged);
    }
}

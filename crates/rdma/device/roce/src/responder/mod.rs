//! The responder: requests of the peer are executed in their order, once, and answered in their order.
//!
//! 1. `expected` is the position of the next request. One from before it is a duplicate (see `duplicate`), one from behind
//!    it means a loss: a single NAK, then silence until the expected one comes; or, from a peer that sends selectively, it is
//!    kept (see `held`).
//! 2. A request that cannot be executed now (receiver not ready) leaves `expected` where it is.
//! 3. A request that is wrong is answered by a NAK behind all that is still owed; after it nothing is executed.
//! 4. Answers stand in `responses` by position. READ responses are made only when they are sent, from the memory as it
//!    is then. Acknowledgements that nothing stands between are one.
//! 5. UC has no answers: what is out of order or wrong is dropped with the rest of its message, and the receive request
//!    that it had begun to fill serves the next.

mod answer;
mod behind;
mod duplicate;
mod execute;
pub(crate) mod held;
pub(crate) mod saved;

use std::collections::VecDeque;

use self::held::Held;
use super::host::{Fault, Host, Receive, ReceiveDone, Region, Status};
use super::link::Link;
use super::packet::{Header, Service, Syndrome};
use super::sequence::Sequence;

/// The attributes of RTR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponderConfig {
    /// `rq_psn`
    pub psn: u32,
    pub max_dest_rd_atomic: u8,
    pub min_rnr_timer: u8,
    /// Packets of a path MTU each that are held behind a loss at most.
    pub window: u64,
    /// `IBV_ACCESS_REMOTE_WRITE`, `_READ`, `_ATOMIC` of the queue pair.
    pub write: bool,
    pub read: bool,
    pub atomic: bool,
}

/// The message that the last request was part of, if it is not complete.
#[derive(Debug)]
enum Message {
    Send { receive: Receive, filled: u64 },
    Write { region: Region, written: u64 },
}

/// Packets `first .. end`, sent up to `next`.
#[derive(Clone, Copy, Debug)]
struct ReadResponse {
    first: u64,
    next: u64,
    end: u64,
    region: Region,
    msn: u32,
    /// Asked for before.
    again: bool,
}

#[derive(Debug)]
enum Response {
    Read(ReadResponse),
    Atomic {
        position: u64,
        original: u64,
        msn: u32,
        again: bool,
    },
    Acknowledge {
        position: u64,
        syndrome: Syndrome,
        msn: u32,
    },
}

impl Response {
    /// Is it of a READ or atomic that came for the first time, or again?
    fn is_read(&self, again: bool) -> bool {
        match self {
            Response::Read(read) => read.again == again,
            Response::Atomic { again: known, .. } => *known == again,
            Response::Acknowledge { .. } => false,
        }
    }

    /// The position of the next packet of it.
    fn position(&self) -> u64 {
        match self {
            Response::Read(read) => read.next,
            Response::Atomic { position, .. } | Response::Acknowledge { position, .. } => *position,
        }
    }
}

/// Why a request is not executed.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    NotReady,
    /// Wrong for ever: the NAK and what this end's queue pair hears of it.
    Wrong(Syndrome, Fault),
}

/// The refusal of what no peer may send.
const INVALID: Refusal = Refusal::Wrong(Syndrome::InvalidRequest, Fault::Request);

#[derive(Debug)]
pub(super) struct Responder {
    link: Link,
    config: ResponderConfig,
    sequence: Sequence,
    expected: u64,
    msn: u32,
    message: Option<Message>,
    /// UC: taken for a message that was dropped.
    spare: Option<Receive>,
    /// The expected request was asked for by a NAK.
    nak_sent: bool,
    held: Held,
    /// Whether it holds anything: what goes from process to process does not.
    holds: bool,
    responses: VecDeque<Response>,
    /// Results of the last atomics by position, for their duplicates.
    atomics: VecDeque<(u64, u64)>,
    /// One past the last READ or atomic.
    reads_end: u64,
    failed: bool,
}

impl Responder {
    pub fn new(link: Link, config: ResponderConfig) -> Responder {
        Responder {
            link,
            config,
            sequence: Sequence::new(config.psn),
            expected: 0,
            msn: 0,
            message: None,
            spare: None,
            nak_sent: false,
            held: Held::default(),
            holds: link.service == Service::Reliable,
            responses: VecDeque::new(),
            atomics: VecDeque::new(),
            reads_end: 0,
            failed: false,
        }
    }

    pub fn config(&mut self) -> &mut ResponderConfig {
        &mut self.config
    }

    pub fn expected_psn(&self) -> u32 {
        self.sequence.psn(self.expected)
    }

    pub fn receive(&mut self, header: &Header, payload: &[u8], host: &mut impl Host) {
        if self.failed {
            return;
        }
        if self.link.service == Service::Unreliable {
            return self.receive_unreliable(header, payload, host);
        }
        let Some(position) = self.sequence.position(header.psn, self.expected) else {
            return;
        };
        if position > self.expected {
            // A peer that was told what is held would take a bare NAK for all that it was told.
            if !self.hold(position, header, payload) && !self.nak_sent && self.held.is_empty() {
                self.nak(Syndrome::SequenceError);
            }
        } else if position < self.expected {
            self.duplicate(position, header, host);
        } else {
            self.nak_sent = false;
            self.due(header, payload, host);
            self.execute_held(host);
        }
    }

    /// The expected request.
    fn due(&mut self, header: &Header, payload: &[u8], host: &mut impl Host) {
        let position = self.expected;
        match self.execute(header, payload, host) {
            Ok(positions) => {
                self.expected += positions;
                let kind = header.opcode.kind();
                self.msn += u32::from(kind.ends());
                if (kind.is_send() || kind.is_write()) && header.ack_request {
                    self.acknowledge(position);
                }
            }
            Err(Refusal::NotReady) => {
                self.nak(Syndrome::ReceiverNotReady(self.config.min_rnr_timer));
            }
            Err(Refusal::Wrong(syndrome, fault)) => {
                self.nak(syndrome);
                self.fail(fault, host);
            }
        }
    }

    /// UC: see rule 5.
    fn receive_unreliable(&mut self, header: &Header, payload: &[u8], host: &mut impl Host) {
        /// A packet so little behind the expected one is late or doubled; farther off, the peer began anew.
        const LATE_PLACES: u64 = 1024;
        let kind = header.opcode.kind();
        match self.sequence.position(header.psn, self.expected) {
            Some(position) if position == self.expected => (),
            Some(position)
                if position < self.expected && self.expected - position <= LATE_PLACES =>
            {
                return;
            }
            Some(position) => {
                self.abandon();
                self.expected = position;
            }
            None => {
                self.abandon();
                self.sequence = Sequence::new(header.psn);
                self.expected = 0;
            }
        }
        if kind.begins() {
            self.abandon();
        }
        match self.execute(header, payload, host) {
            Ok(_) => (),
            Err(Refusal::Wrong(_, Fault::Receive)) => return self.fail(Fault::Receive, host),
            Err(_) => self.abandon(),
        }
        self.expected += 1;
    }

    /// Drops the message under way.
    fn abandon(&mut self) {
        if let Some(Message::Send { receive, .. }) = self.message.take() {
            self.spare = Some(receive);
        }
    }

    /// Are as many READs and atomics waiting for their answer as the peer may have under way? Those that came again
    /// count apart, because they may be late copies of what it has long.
    fn has_reads_enough(&self, again: bool) -> bool {
        let reads = self.responses.iter().filter(|r| r.is_read(again)).count();
        reads >= usize::from(self.config.max_dest_rd_atomic)
    }

    fn fail(&mut self, fault: Fault, host: &mut impl Host) {
        self.held.clear();
        self.give_back(host);
        self.failed = true;
        host.fail(fault);
    }

    /// A receive request that was being filled ends as flushed.
    fn give_back(&mut self, host: &mut impl Host) {
        self.abandon();
        if let Some(receive) = self.spare.take() {
            let done = ReceiveDone::failed(Status::Flushed, self.link.remote_qpn);
            host.receive_done(receive, done);
        }
    }

    pub fn flush(&mut self, host: &mut impl Host) {
        self.held.clear();
        self.give_back(host);
        self.failed = true;
    }
}

//! What the agent, and threads that poll in vain, do with the port: packets of all queue pairs, and their times.

use std::os::fd::{AsRawFd, RawFd};

use weft_roce::packet::View;
use weft_roce::{Inbox, Port};

use super::datagrams;
use super::targets::{ANSWER_EVERY, Targets};
use crate::fabric::{FABRIC_SLOT, Number};
use crate::path::clock::{self, earliest};
use crate::path::process::Process;
use crate::path::queue_pair::QueuePair;
use crate::path::state::QpKind;
use crate::path::tables::Tables;

/// What the agent has of the port.
pub struct Ports {
    process: &'static Process,
    tables: &'static Tables,
    inbox: Option<Inbox>,
    connections: Vec<&'static QueuePair>,
    targets: Targets,
    unanswered: Unanswered,
    turns: u32,
    /// Whether anything came in the last turn.
    has_received: bool,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The agent's, and whether other processes may have relayed something.
    Agent { relayed: bool },
    /// A thread's that polled in vain: it has to see at once what has come. Acknowledgements wait for its next turn, if it is known to come soon.
    Helper { comes_again: bool },
}

/// Packets whose peers wait for no more than an acknowledgement. It leaves with the answer of a program that polls, or when
/// nothing more has come.
#[derive(Default)]
struct Unanswered {
    connections: Vec<&'static QueuePair>,
    packets: usize,
}

/// How soon to try again when the socket took no more.
const SOCKET_FULL_NS: u64 = 200_000;

/// An acknowledgement waits no longer for a helper's next turn: then it is the agent's.
const ANSWER_NS: u64 = 200_000;

/// Every so manieth turn of a helper looks for what other processes relayed; the agent does when it hears of it.
const RELAY_EVERY: u32 = 16;

impl Unanswered {
    fn add(&mut self, qp: &'static QueuePair) {
        self.packets += 1;
        let known = |other: &&QueuePair| std::ptr::eq(*other, qp);
        if !self.connections.iter().rev().any(known) {
            self.connections.push(qp);
        }
    }

    fn answer(&mut self, now: u64) {
        self.packets = 0;
        for qp in self.connections.drain(..) {
            qp.remote_connection.pump(qp, now);
        }
    }
}

impl Ports {
    pub fn new(process: &'static Process, tables: &'static Tables) -> Ports {
        Ports {
            process,
            tables,
            inbox: None,
            connections: Vec::new(),
            targets: Targets::new(process),
            unanswered: Unanswered::default(),
            turns: 0,
            has_received: false,
        }
    }

    /// Receives, sends what is due, and says when something is due next.
    pub fn poll(&mut self, now: u64, turn: Turn) -> Option<u64> {
        let port = self.process.port()?;
        let mut inbox = self.inbox.take().unwrap_or_default();
        self.has_received = false;
        loop {
            let more = self.receive(port, &mut inbox, turn);
            self.has_received |= !inbox.is_empty();
            self.execute(port, now, &inbox);
            if self.has_received && turn == (Turn::Helper { comes_again: true }) {
                self.inbox = Some(inbox);
                return Some(now + ANSWER_NS);
            }
            self.unanswered.answer(now);
            self.targets.acknowledge(port, now);
            if !more || self.has_received && matches!(turn, Turn::Helper { .. }) {
                break;
            }
        }
        self.inbox = Some(inbox);
        let mut due = None;
        for qp in &self.connections {
            due = earliest(due, qp.remote_connection.expire(qp, now));
        }
        if port.deadline().is_some_and(|deadline| deadline <= now) || port.wants_writable() {
            port.flush(now);
        }
        let full = port.wants_writable().then(|| now + SOCKET_FULL_NS);
        earliest(due, earliest(port.deadline(), full))
    }

    pub fn has_received(&self) -> bool {
        self.has_received
    }

    fn receive(&mut self, port: &Port, inbox: &mut Inbox, turn: Turn) -> bool {
        self.turns = self.turns.wrapping_add(1);
        let looks_for_relayed = match turn {
            Turn::Agent { relayed } => relayed,
            Turn::Helper { .. } => self.turns.is_multiple_of(RELAY_EVERY),
        };
        if looks_for_relayed {
            port.receive(inbox)
        } else {
            port.receive_direct(inbox)
        }
    }

    /// Hands the packets to their queue pairs, and answers what must be answered at once.
    fn execute(&mut self, port: &Port, now: u64, inbox: &Inbox) {
        let mut urgent = false;
        for (arrival, bytes) in inbox.iter() {
            let Ok(view) = View::parse(bytes) else {
                continue;
            };
            let number = Number::from_bits(view.header().destination_qpn);
            if number.slot() == FABRIC_SLOT {
                let packet = (arrival, bytes);
                self.targets.receive(now, number, packet, &view);
                continue;
            }
            let Some(qp) = self.tables.queue_pair(number.index()) else {
                continue;
            };
            if qp.kind == QpKind::Ud {
                datagrams::receive(qp, arrival, &view);
                continue;
            }
            let source = arrival.route.source;
            urgent |= qp.remote_connection.receive(qp, now, source, &view);
            self.unanswered.add(qp);
            if self.unanswered.packets >= ANSWER_EVERY {
                self.unanswered.answer(now);
            }
        }
        self.targets.answer(port, now);
        if urgent {
            self.unanswered.answer(now);
        }
    }

    /// This process is about to end.
    pub fn leave(&mut self) {
        if let Some(port) = self.process.port() {
            self.targets.acknowledge(port, clock::monotonic_ns());
        }
        self.targets.leave();
    }

    pub fn enter(&mut self, qp: &'static QueuePair) {
        self.forget(qp);
        self.connections.push(qp);
    }

    pub fn forget(&mut self, qp: &QueuePair) {
        let other = |known: &&'static QueuePair| !std::ptr::eq(*known, qp);
        self.connections.retain(other);
        self.unanswered.connections.retain(other);
    }

    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let port = self.process.port();
        let both = port.map(|port| port.descriptors().map(|fd| fd.as_raw_fd()));
        both.into_iter().flatten()
    }
}

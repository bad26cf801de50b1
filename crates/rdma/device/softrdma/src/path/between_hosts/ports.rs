//! What the agent does with the port: packets of all queue pairs, and their times.

use std::os::fd::{AsRawFd, RawFd};

use weft_roce::Inbox;
use weft_roce::packet::View;

use super::datagrams;
use super::targets::Targets;
use crate::fabric::{FABRIC_SLOT, Number};
use crate::path::clock::earliest;
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
}

/// How soon to try again when the socket took no more.
const SOCKET_FULL_NS: u64 = 200_000;

/// Packets after which a peer is answered although more are there: it would come to stand still.
const ANSWER_EVERY: usize = 128;

fn pump(connections: &[&'static QueuePair], now: u64) {
    for qp in connections {
        qp.remote_connection.pump(qp, now);
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
        }
    }

    /// Receives, sends what is due, and says when something is due next.
    pub fn poll(&mut self, now: u64) -> Option<u64> {
        let port = self.process.port()?;
        let inbox = self.inbox.get_or_insert_with(Inbox::new);
        loop {
            port.receive(inbox);
            if inbox.is_empty() {
                break;
            }
            for (index, (arrival, bytes)) in inbox.iter().enumerate() {
                if index % ANSWER_EVERY == ANSWER_EVERY - 1 {
                    pump(&self.connections, now);
                }
                let Ok(view) = View::parse(bytes) else {
                    continue;
                };
                let number = Number::from_bits(view.header().destination_qpn);
                if number.slot() == FABRIC_SLOT {
                    let packet = (arrival, bytes);
                    self.targets.receive(port, now, number, packet, &view);
                    continue;
                }
                let Some(qp) = self.tables.queue_pair(number.index()) else {
                    continue;
                };
                if qp.kind == QpKind::Ud {
                    datagrams::receive(qp, arrival, &view);
                } else {
                    qp.remote_connection
                        .receive(qp, now, arrival.route.source, &view);
                }
            }
            self.targets.answer(port, now);
            pump(&self.connections, now);
        }
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

    pub fn enter(&mut self, qp: &'static QueuePair) {
        self.forget(qp);
        self.connections.push(qp);
    }

    pub fn forget(&mut self, qp: &QueuePair) {
        self.connections.retain(|other| !std::ptr::eq(*other, qp));
    }

    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let port = self.process.port();
        let both = port.map(|port| port.descriptors().map(|fd| fd.as_raw_fd()));
        both.into_iter().flatten()
    }
}

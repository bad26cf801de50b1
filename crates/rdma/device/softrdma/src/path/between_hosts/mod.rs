//! Queue pairs whose peer is on another host: [`weft_roce`] speaks, here are its hands.
//!
//! # Protocol
//! A queue pair's [`Line`] is its half of the protocol, behind a lock of its own that posters and the agent take for a request or
//! a packet at a time. Posters send what the window lets through; the agent receives, and keeps the times. Locks are taken in
//! the order: line or target, receive queue, completion queue. XRC targets have no line (`targets`).

mod datagrams;
mod exposed;
mod hands;
mod line;
mod targets;

use std::os::fd::{AsRawFd, RawFd};
use std::sync::OnceLock;
use std::time::Duration;

use weft_verbs_abi::*;

use self::targets::Targets;
use super::agent::Agent;
use super::clock;
use super::process::Process;
use crate::fabric::{FABRIC_SLOT, Number};
use crate::verbs::{Qp, QpKind};
use weft_roce::packet::View;
use weft_roce::{Inbox, Injection, Port, PortConfig};

pub use datagrams::send as send_datagram;
pub use line::{Line, post};

/// The process's port, opened by the first who needs it.
#[derive(Default)]
pub struct SharedPort(OnceLock<Option<Port>>);

impl SharedPort {
    /// None if it could not be opened, which is told once: peers on other hosts are out of reach then.
    pub fn open(&self, process: &Process) -> Option<&Port> {
        let port = self.0.get_or_init(|| {
            let faults = &process.config.faults;
            let config = PortConfig {
                address: process.config.ip,
                slot: process.fabric.me().slot(),
                fabric: process.config.fabric.clone(),
                injection: Injection {
                    loss: faults.loss,
                    duplicate: faults.duplicate,
                    reorder: faults.reorder,
                    delay_us: faults.delay_us,
                    seed: faults.seed,
                    link_down: faults.link_down,
                },
            };
            let told = |error: &std::io::Error| {
                eprintln!("softrdma: UDP port 4791 of {}: {error}", config.address);
            };
            Port::open(&config).inspect_err(told).ok()
        });
        port.as_ref()
    }

    pub fn opened(&self) -> Option<&Port> {
        self.0.get()?.as_ref()
    }
}

/// What the agent has of the port.
pub struct Ports {
    process: &'static Process,
    inbox: Option<Inbox>,
    lines: Vec<&'static Qp>,
    targets: Targets,
}

/// The process may be about to end, and with it its agent: waits until packets that were kept back have left.
fn see_off(port: &Port) {
    /// Nobody is kept longer by a wire that is slow on request.
    const LONGEST: Duration = Duration::from_millis(100);
    let begin = clock::monotonic_ns();
    let last = port.last_deadline();
    while let Some(last) = last
        && clock::monotonic_ns() <= last
        && clock::monotonic_ns() - begin < LONGEST.as_nanos() as u64
    {
        std::thread::sleep(Duration::from_micros(50));
    }
    if last.is_some() || port.wants_writable() {
        port.flush(clock::monotonic_ns());
    }
}

/// How soon to try again when the socket took no more.
const SOCKET_FULL_NS: u64 = 200_000;

impl Ports {
    pub fn new(process: &'static Process) -> Ports {
        Ports {
            process,
            inbox: None,
            lines: Vec::new(),
            targets: Targets::new(process),
        }
    }

    /// Receives, sends what is due, and says when something is due next.
    pub fn turn(&mut self, now: u64) -> Option<u64> {
        let port = self.process.port.opened()?;
        let inbox = self.inbox.get_or_insert_with(Inbox::new);
        loop {
            port.receive(inbox);
            if inbox.is_empty() {
                break;
            }
            for (arrival, bytes) in inbox.iter() {
                let Ok(view) = View::parse(bytes) else {
                    continue;
                };
                let number = Number::from_bits(view.header().destination_qpn);
                if number.slot() == FABRIC_SLOT {
                    let packet = (arrival, bytes);
                    self.targets.receive(port, now, number, packet, &view);
                    continue;
                }
                let Some(qp) = self.process.queue_pair(number.index()) else {
                    continue;
                };
                if qp.kind == QpKind::Ud {
                    datagrams::receive(qp, arrival, &view);
                } else {
                    qp.line.receive(qp, now, arrival.route.source, &view);
                }
            }
            self.targets.answer(port, now);
            for qp in &self.lines {
                qp.line.pump(qp, now);
            }
        }
        let mut due = None;
        for qp in &self.lines {
            due = super::agent::earliest(due, qp.line.expire(qp, now));
        }
        if port.deadline().is_some_and(|deadline| deadline <= now) || port.wants_writable() {
            port.flush(now);
        }
        let full = port.wants_writable().then(|| now + SOCKET_FULL_NS);
        super::agent::earliest(due, super::agent::earliest(port.deadline(), full))
    }

    pub fn enter(&mut self, qp: &'static Qp) {
        self.forget(qp);
        self.lines.push(qp);
    }

    pub fn forget(&mut self, qp: &Qp) {
        self.lines.retain(|other| !std::ptr::eq(*other, qp));
    }

    pub fn set_link(&mut self, up: bool) {
        if let Some(port) = self.process.port.opened() {
            port.set_link_down(!up);
        }
    }

    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let port = self.process.port.opened();
        let both = port.map(|port| port.descriptors().map(|fd| fd.as_raw_fd()));
        both.into_iter().flatten()
    }
}

impl Agent {
    /// Datagrams from other hosts are received from now on.
    pub fn open_port(&self, process: &Process) {
        process.port.open(process);
        self.wake();
    }
}

/// The status of a completion, by the protocol's.
fn status(status: weft_roce::Status) -> ibv_wc_status {
    status as u32
}

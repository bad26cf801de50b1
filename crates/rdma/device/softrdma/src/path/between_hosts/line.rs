//! A connected queue pair's half of the protocol between hosts.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_verbs_abi::*;

use super::hands::Hands;
use super::targets;
use crate::path::clock;
use crate::path::execute::Outcome;
use crate::path::post::Payload;
use crate::path::request::{self, Request, Target};
use crate::verbs::call::{Errno, Result};
use crate::verbs::{Qp, QpKind};
use weft_roce::packet::View;
use weft_roce::{
    Atomic, Batch, Connection, Immediate, Operation, Path, RequesterConfig, ResponderConfig,
    Service, Sge, Work, datagram,
};

#[derive(Default)]
pub struct Line {
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    connection: Option<Connection>,
    posted: VecDeque<Request>,
    batch: Batch,
    /// UD's, which has no connection.
    pub datagrams: Option<datagram::Sender>,
}

impl State {
    /// Runs one call of the protocol, and flushes it if it gave up in it.
    fn call<R>(
        &mut self,
        qp: &'static Qp,
        call: impl FnOnce(&mut Connection, &mut Hands<'_>) -> R,
    ) -> Option<R> {
        let connection = self.connection.as_mut()?;
        let mut hands = Hands {
            qp,
            posted: &mut self.posted,
            failed: false,
            wc_flags: 0,
        };
        let result = call(connection, &mut hands);
        if hands.failed {
            connection.flush(&mut hands);
        }
        Some(result)
    }

    /// Says the last that the peer must hear of this end.
    fn part(&mut self, qp: &'static Qp) {
        let Some(port) = qp.context.process.port.opened() else {
            return;
        };
        let mut batch = std::mem::take(&mut self.batch);
        self.call(qp, |connection, hands| connection.part(&mut batch, hands));
        port.send(clock::monotonic_ns(), &mut batch);
    }

    /// Sends all that may go out.
    fn pump(&mut self, qp: &'static Qp, now: u64) {
        let Some(port) = qp.context.process.port.opened() else {
            return;
        };
        let mut batch = std::mem::take(&mut self.batch);
        while self.call(qp, |connection, hands| {
            connection.transmit(now, &mut batch, hands)
        }) == Some(true)
        {
            port.send(now, &mut batch);
        }
        self.batch = batch;
    }
}

impl Line {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Agent: a packet arrived.
    pub fn receive(&self, qp: &'static Qp, now: u64, source: Ipv4Addr, view: &View<'_>) {
        self.state().call(qp, |connection, hands| {
            connection.receive(now, source, view, hands)
        });
    }

    pub fn pump(&self, qp: &'static Qp, now: u64) {
        self.state().pump(qp, now);
    }

    /// Agent: does what is due; when to come again.
    pub fn expire(&self, qp: &'static Qp, now: u64) -> Option<u64> {
        let mut state = self.state();
        let deadline = state.connection.as_ref()?.deadline()?;
        if deadline > now {
            return Some(deadline);
        }
        state.call(qp, |connection, hands| connection.expire(now, hands));
        state.pump(qp, now);
        state.connection.as_ref()?.deadline()
    }

    /// No request is with the peer.
    pub fn is_drained(&self) -> bool {
        let state = self.state();
        state.connection.as_ref().is_none_or(Connection::is_drained)
    }
}

/// Hands a request to the protocol.
pub fn post(qp: &'static Qp, request: &Request, payload: Payload<'_>) -> Outcome {
    let mut state = qp.line.state();
    if state.connection.is_none() {
        return Outcome::Silent;
    }
    let work = work(request, payload);
    let now = clock::monotonic_ns();
    state.posted.push_back(*request);
    let before = state.connection.as_ref().and_then(Connection::deadline);
    state.call(qp, |connection, hands| connection.post(work, hands));
    state.pump(qp, now);
    let after = state.connection.as_ref().and_then(Connection::deadline);
    drop(state);
    // The agent keeps the time from now on.
    if before.is_none() && after.is_some() {
        qp.context.process.agent().wake();
    }
    Outcome::Left
}

/// What the request's payload is to the protocol.
pub(super) fn payload(request: &Request, payload: Payload<'_>) -> weft_roce::Payload {
    use weft_roce::Payload as Wire;
    match payload {
        Payload::Inline(bytes) => Wire::Inline(bytes.to_vec()),
        Payload::Elements(elements) if request.has(IBV_SEND_INLINE) => {
            let mut bytes = Vec::new();
            for element in elements {
                // SAFETY: the poster's inline elements are readable.
                bytes.extend_from_slice(unsafe {
                    crate::verbs::readable(element.addr as *const u8, element.length as usize)
                });
            }
            Wire::Inline(bytes)
        }
        Payload::Elements(elements) => Wire::Gather(
            elements
                .iter()
                .map(|element| Sge {
                    address: element.addr,
                    length: element.length,
                    lkey: element.lkey,
                })
                .collect(),
        ),
    }
}

fn work(request: &Request, bytes: Payload<'_>) -> Work {
    Work {
        token: u64::from(request.index),
        operation: operation(request),
        payload: payload(request, bytes),
        solicited: request.has(IBV_SEND_SOLICITED),
        fence: request.has(IBV_SEND_FENCE),
        xrc_srq: request.remote_srqn,
    }
}

fn operation(request: &Request) -> Operation {
    use request::Operation as Posted;
    let immediate = request.immediate;
    match (request.operation, request.target) {
        (Posted::Read, Target::Memory { address, rkey }) => Operation::Read { address, rkey },
        (operation, Target::Memory { address, rkey }) => Operation::Write {
            address,
            rkey,
            immediate: operation.has_immediate().then_some(immediate),
        },
        (
            operation,
            Target::Atomic {
                address,
                rkey,
                operand,
                swap,
            },
        ) => Operation::Atomic {
            address,
            rkey,
            atomic: match operation {
                Posted::FetchAndAdd => Atomic::FetchAdd { add: operand },
                _ => Atomic::CompareSwap {
                    compare: operand,
                    swap,
                },
            },
        },
        (operation, _) => Operation::Send {
            immediate: match operation {
                Posted::SendWithImmediate => Immediate::Data(immediate),
                Posted::SendWithInvalidate => Immediate::Invalidated(immediate),
                _ => Immediate::None,
            },
        },
    }
}

fn responder(settings: &ibv_qp_attr) -> ResponderConfig {
    let has = |access: u32| settings.qp_access_flags & access != 0;
    ResponderConfig {
        psn: settings.rq_psn,
        max_dest_rd_atomic: settings.max_dest_rd_atomic,
        min_rnr_timer: settings.min_rnr_timer,
        write: has(IBV_ACCESS_REMOTE_WRITE),
        read: has(IBV_ACCESS_REMOTE_READ),
        atomic: has(IBV_ACCESS_REMOTE_ATOMIC),
    }
}

impl Qp {
    /// The state RTR: the peer is at `remote`.
    pub fn open_line(&'static self, settings: &ibv_qp_attr, remote: Ipv4Addr) -> Result {
        let process = self.context.process;
        let port = process.port.open(process).ok_or(Errno::ENODEV)?;
        let asked = 128 << settings.path_mtu;
        let path = Path {
            local: process.config.ip,
            remote,
            remote_qpn: settings.dest_qp_num,
            mtu: port.active_mtu().map_or(asked, |mtu| asked.min(mtu)),
        };
        let (service, responder) = match self.kind {
            QpKind::Rc => (Service::Reliable, Some(responder(settings))),
            QpKind::Uc => (Service::Unreliable, Some(responder(settings))),
            QpKind::XrcSend => (Service::ExtendedReliable, None),
            QpKind::XrcRecv => {
                targets::open(self, settings, &path)?;
                process.agent().wake();
                return Ok(());
            }
            QpKind::Ud => return Err(Errno::EINVAL),
        };
        self.line.state().connection = Some(Connection::new(service, path, responder));
        process.agent().desk().ports.enter(self);
        process.agent().wake();
        Ok(())
    }

    /// The state RTS.
    pub fn start_line(&'static self, settings: &ibv_qp_attr) {
        if let Some(connection) = &mut self.line.state().connection {
            connection.start_requester(RequesterConfig {
                psn: settings.sq_psn,
                timeout: settings.timeout,
                retry_count: settings.retry_cnt,
                rnr_retry: settings.rnr_retry,
                max_rd_atomic: settings.max_rd_atomic,
            });
        }
    }

    /// The error state: what the protocol has is flushed.
    pub fn line_failed(&'static self) {
        if self.kind == QpKind::XrcRecv {
            return targets::close(self);
        }
        let mut state = self.line.state();
        state.call(self, |connection, hands| connection.flush(hands));
        state.pump(self, clock::monotonic_ns());
    }

    /// An XRC target that this process closes: it may be the last that has it.
    pub fn part_target(&'static self) {
        if let Some(port) = self.context.process.port.opened() {
            targets::part(self, port);
            super::see_off(port);
        }
    }

    /// The state RESET, or the end: nothing more is heard of what the protocol had.
    pub fn hang_up(&'static self) {
        if self.kind == QpKind::XrcRecv {
            return targets::close(self);
        }
        let mut state = self.line.state();
        state.part(self);
        *state = State::default();
        drop(state);
        if let Some(port) = self.context.process.port.opened() {
            super::see_off(port);
        }
        if let Some(agent) = self.context.process.agent_if_started() {
            agent.desk().ports.forget(self);
        }
    }
}

//! A connected queue pair's half of the protocol between hosts: requests and packets.

use std::net::Ipv4Addr;
use std::sync::MutexGuard;

use weft_verbs_abi::*;

use weft_roce::packet::View;
use weft_roce::{Atomic, Connection, Immediate, Operation, Sge, Work};

use super::queue_pair_host::QueuePairHost;
use crate::call::readable;
use crate::path::clock;
use crate::path::execute::Outcome;
use crate::path::queue_pair::QueuePair;
use crate::path::remote_connection::{RemoteConnection, RemoteConnectionState};
use crate::path::request::{self, Payload, Request, Target};

impl RemoteConnectionState {
    /// Runs one call of the protocol, and flushes it if it gave up in it.
    pub(super) fn call<R>(
        &mut self,
        qp: &'static QueuePair,
        call: impl FnOnce(&mut Connection, &mut QueuePairHost<'_>) -> R,
    ) -> Option<R> {
        let connection = self.connection.as_mut()?;
        let mut host = QueuePairHost {
            qp,
            posted: &mut self.posted,
            failed: false,
            wc_flags: 0,
        };
        let result = call(connection, &mut host);
        if host.failed {
            connection.flush(&mut host);
        }
        Some(result)
    }

    /// Says the last that the peer must hear of this end.
    pub(super) fn part(&mut self, qp: &'static QueuePair) {
        let Some(port) = qp.process.port() else {
            return;
        };
        let mut batch = std::mem::take(&mut self.batch);
        self.call(qp, |connection, host| connection.part(&mut batch, host));
        if qp.process.link_is_up(qp.device) {
            port.send(clock::monotonic_ns(), &mut batch);
        }
    }

    /// Sends all that may go out.
    pub(super) fn pump(&mut self, qp: &'static QueuePair, now: u64) {
        let Some(port) = qp.process.port() else {
            return;
        };
        let mut batch = std::mem::take(&mut self.batch);
        while self.call(qp, |connection, host| {
            connection.transmit(now, &mut batch, host)
        }) == Some(true)
        {
            match qp.process.link_is_up(qp.device) {
                true => port.send(now, &mut batch),
                false => batch.clear(),
            }
        }
        self.batch = batch;
    }
}

impl RemoteConnection {
    /// Agent: a packet arrived. True if it must be answered at once.
    pub fn receive(
        &self,
        qp: &'static QueuePair,
        now: u64,
        source: Ipv4Addr,
        view: &View<'_>,
    ) -> bool {
        if !qp.process.link_is_up(qp.device) {
            return false;
        }
        let urgent = self.state().call(qp, |connection, host| {
            connection.receive(now, source, view, host);
            connection.is_urgent()
        });
        urgent.unwrap_or(false)
    }

    pub fn pump(&self, qp: &'static QueuePair, now: u64) {
        self.state().pump(qp, now);
    }

    /// Agent: does what is due; when to come again.
    pub fn expire(&self, qp: &'static QueuePair, now: u64) -> Option<u64> {
        let mut state = self.state();
        let deadline = state.connection.as_ref()?.deadline()?;
        if deadline > now {
            return Some(deadline);
        }
        state.call(qp, |connection, host| connection.expire(now, host));
        state.pump(qp, now);
        state.connection.as_ref()?.deadline()
    }
}

/// A list that is being posted to a peer on another host: its packets leave together, once all of it is posted.
pub struct Gathering(&'static QueuePair);

impl Gathering {
    /// None if the peer is on this host.
    #[inline]
    pub fn begin(qp: &'static QueuePair) -> Option<Gathering> {
        if !qp.is_remote() {
            return None;
        }
        qp.remote_connection.state().gathers = true;
        Some(Gathering(qp))
    }
}

impl Drop for Gathering {
    fn drop(&mut self) {
        let mut state = self.0.remote_connection.state();
        state.gathers = false;
        leave(self.0, state);
    }
}

/// Sends what was posted.
fn leave(qp: &'static QueuePair, mut state: MutexGuard<'_, RemoteConnectionState>) {
    let before = state.connection.as_ref().and_then(Connection::deadline);
    state.pump(qp, clock::monotonic_ns());
    let after = state.connection.as_ref().and_then(Connection::deadline);
    drop(state);
    // The agent keeps the time from now on.
    if let (None, Some(deadline)) = (before, after) {
        qp.process.agent().wake_by(deadline);
    }
}

/// Gives a request to the protocol.
pub fn post(qp: &'static QueuePair, request: &Request, payload: Payload<'_>) -> Outcome {
    let mut state = qp.remote_connection.state();
    if state.connection.is_none() {
        return Outcome::Silent;
    }
    let work = work(request, payload);
    state.posted.push_back(*request);
    state.call(qp, |connection, host| connection.post(work, host));
    if !state.gathers {
        leave(qp, state);
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
                    readable(element.addr as *const u8, element.length as usize)
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

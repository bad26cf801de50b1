//! Datagrams to and from other hosts.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::connection;
use super::exposed;
use super::queue_pair_host::QueuePairHost;
use crate::path::clock;
use crate::path::execute::{Outcome, Requester};
use crate::path::queue_pair::QueuePair;
use crate::path::request::{Datagram, Operation, Payload};
use crate::path::state::State;
use weft_roce::packet::View;
use weft_roce::{Arrival, Batch, datagram};

/// Sends one; that it was sent is all that a sender hears.
pub fn send(
    qp: &'static QueuePair,
    requester: &Requester<'_>,
    payload: Payload<'_>,
    to: &Datagram,
    qkey: u32,
    remote: Ipv4Addr,
) -> Outcome {
    let process = requester.process;
    let Some(port) = process.open_port() else {
        return Outcome::Done(requester.local.bytes());
    };
    let request = requester.request;
    let mut state = qp.remote_connection.state();
    let sender = state.datagrams.get_or_insert_with(|| {
        let mtu = port.active_mtu().unwrap_or(1024);
        datagram::Sender::new(requester.qpn, qp.attributes().sq_psn, mtu)
    });
    let address = datagram::Address {
        local: process.config.ip,
        remote,
        port: process.config.udp_port,
        remote_qpn: to.remote_qpn,
        qkey,
    };
    let immediate = request.operation == Operation::SendWithImmediate;
    let mut batch = Batch::new();
    let mut posted = VecDeque::new();
    let mut host = QueuePairHost {
        qp,
        posted: &mut posted,
        failed: false,
        wc_flags: 0,
    };
    let status = sender.send(
        &address,
        &connection::payload(request, payload),
        immediate.then_some(request.immediate),
        request.has(IBV_SEND_SOLICITED),
        &mut batch,
        &mut host,
    );
    port.send(clock::monotonic_ns(), &mut batch);
    match exposed::status(status) {
        IBV_WC_SUCCESS => Outcome::Done(requester.local.bytes()),
        status => Outcome::Failed(status),
    }
}

/// Agent: one has arrived for this queue pair.
pub fn receive(qp: &'static QueuePair, arrival: &Arrival, view: &View<'_>) {
    let record = qp.record();
    let state = State::from_abi(record.state.load(Ordering::Acquire));
    if !state.is_some_and(State::receives) {
        return;
    }
    let mut posted = VecDeque::new();
    let mut host = QueuePairHost {
        qp,
        posted: &mut posted,
        failed: false,
        wc_flags: IBV_WC_GRH,
    };
    let qkey = record.qkey.load(Ordering::Relaxed);
    datagram::receive(qkey, arrival, view, &mut host);
}

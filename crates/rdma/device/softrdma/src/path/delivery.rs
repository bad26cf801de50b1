//! Giving a datagram to one queue pair of this host.

use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_verbs_abi::IBV_QPT_UD;

use super::execute::Outcome;
use super::pieces::Pieces;
use super::process::Process;
use super::receiver::{Delivery, Message, Receiver};
use super::state::State;
use crate::fabric::{Number, Peer};

/// A datagram on its way to one queue pair.
pub struct Delivered<'a> {
    pub message: &'a Message,
    pub number: Number,
    pub qkey: u32,
}

/// Gives a queue pair of `peer`'s the datagram, if it listens.
pub fn deliver(
    process: &Process,
    peer: &Peer,
    delivered: &Delivered<'_>,
    whole: &Pieces,
    patience: Duration,
) -> Outcome {
    let number = delivered.number;
    let record = peer.segment().qp(number.index());
    let state = record.state.load(Ordering::Acquire);
    let listens = record.exists()
        && record.kind.load(Ordering::Relaxed) == IBV_QPT_UD
        && State::from_abi(state).is_some_and(State::receives)
        && record.qkey.load(Ordering::Relaxed) == delivered.qkey;
    if !listens {
        return Outcome::Silent;
    }
    let Some(receiver) = Receiver::of_queue_pair(peer, record, number) else {
        return Outcome::Silent;
    };
    match receiver.deliver(process, delivered.message, whole, 0, patience, || true) {
        Delivery::Again => Outcome::Again,
        Delivery::ByAgent => Outcome::ByAgent,
        _ => Outcome::Done(whole.bytes()),
    }
}

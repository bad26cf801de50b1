//! What follows from an attempt at a request.

use std::time::Duration;

use weft_verbs_abi::*;

use super::backlog::Waiting;
use super::clock;
use super::execute::Outcome;
use super::queue_pair::QueuePair;

/// How soon to try again what somebody else was in the way of.
const AGAIN_NS: u64 = 20_000;

/// How soon to look after what the target's agent was asked for, which says when it is done.
const ASKED_NS: u64 = 50_000_000;

/// What follows from an attempt: it ended, or it is tried again in a while (InfiniBand Architecture 1.6, §9.7.6.1 for
/// answers that do not come, §9.7.5.2.8 for receivers that are not ready).
pub fn consider(waiting: &mut Waiting, qp: &QueuePair, outcome: Outcome) {
    match outcome {
        Outcome::Done(bytes) => waiting.ended = Some((IBV_WC_SUCCESS, bytes)),
        Outcome::Failed(status) => waiting.ended = Some((status, 0)),
        Outcome::Left => {}
        Outcome::Partly(done) => {
            waiting.done = done;
            (waiting.silent, waiting.not_ready, waiting.due_ns) = (0, 0, 0);
        }
        Outcome::ByAgent => waiting.due_ns = 0,
        Outcome::Asked => waiting.due_ns = clock::monotonic_ns() + ASKED_NS,
        Outcome::Again => waiting.due_ns = clock::monotonic_ns() + AGAIN_NS,
        Outcome::NotReady { timer } => wait_for_receiver(waiting, qp, timer),
        Outcome::Silent => wait_for_answer(waiting, qp),
    }
}

fn wait_for_receiver(waiting: &mut Waiting, qp: &QueuePair, timer: u32) {
    /// Means for ever.
    const ENDLESS: u8 = 7;
    waiting.silent = 0;
    let limit = qp.attributes().rnr_retry;
    if limit != ENDLESS && waiting.not_ready >= u32::from(limit) {
        waiting.ended = Some((IBV_WC_RNR_RETRY_EXC_ERR, 0));
        return;
    }
    waiting.not_ready += 1;
    waiting.due_ns = clock::monotonic_ns() + clock::rnr_delay(timer).as_nanos() as u64;
}

fn wait_for_answer(waiting: &mut Waiting, qp: &QueuePair) {
    let (limit, timeout) = {
        let attributes = qp.attributes();
        (attributes.retry_cnt, clock::ack_timeout(attributes.timeout))
    };
    if waiting.silent > u32::from(limit) || qp.peer_is_dead() {
        waiting.ended = Some((IBV_WC_RETRY_EXC_ERR, 0));
        return;
    }
    // Without a time-out the adapter asks for ever; that its peer has come is found out by looking.
    let wait = timeout.unwrap_or(Duration::from_millis(10));
    waiting.silent += u32::from(timeout.is_some());
    waiting.due_ns = clock::monotonic_ns() + wait.as_nanos() as u64;
}

//! What follows from an attempt at a request that its poster or the agent executes.

use weft_roce::timing::ack_timeout_ns;
use weft_verbs_abi::*;

use super::backlog::Waiting;
use super::clock;
use super::execute::Outcome;
use super::queue_pair::QueuePair;

/// How soon to try again when another thread or process holds a lock.
const AGAIN_NS: u64 = 20_000;

/// How soon to look after what the target's agent was asked for, which says when it is done.
const ASKED_NS: u64 = 50_000_000;

/// How soon to try again where the queue pair waits for ever. An adapter asks on; that its peer has come is found out by looking.
const LOOK_NS: u64 = 10_000_000;

/// The request has ended, or it is tried again in a while.
pub fn consider(waiting: &mut Waiting, qp: &QueuePair, outcome: Outcome) {
    match outcome {
        Outcome::Done(bytes) => waiting.ended = Some((IBV_WC_SUCCESS, bytes)),
        Outcome::Failed(status) => waiting.ended = Some((status, 0)),
        Outcome::Left => {}
        Outcome::Partly(done) => {
            waiting.done = done;
            waiting.retries.progress();
            waiting.awaits_answer = false;
            waiting.due_ns = 0;
        }
        Outcome::ByAgent => waiting.due_ns = 0,
        Outcome::Asked => waiting.due_ns = clock::monotonic_ns() + ASKED_NS,
        Outcome::Again => waiting.due_ns = clock::monotonic_ns() + AGAIN_NS,
        Outcome::NotReady { timer } => wait_for_receiver(waiting, qp, timer),
        Outcome::Silent => wait_for_answer(waiting, qp),
    }
}

fn wait_for_receiver(waiting: &mut Waiting, qp: &QueuePair, timer: u32) {
    waiting.awaits_answer = false;
    let limit = qp.attributes().rnr_retry;
    match waiting.retries.receiver_not_ready(limit, timer as u8) {
        Some(pause) => waiting.due_ns = clock::monotonic_ns() + pause,
        None => waiting.ended = Some((IBV_WC_RNR_RETRY_EXC_ERR, 0)),
    }
}

/// Nobody answers: the try before, if there was one, has timed out.
fn wait_for_answer(waiting: &mut Waiting, qp: &QueuePair) {
    let (limit, timeout) = {
        let attributes = qp.attributes();
        (attributes.retry_cnt, ack_timeout_ns(attributes.timeout))
    };
    let spent = waiting.awaits_answer && !waiting.retries.timed_out(limit);
    if spent || qp.peer_is_dead() {
        waiting.ended = Some((IBV_WC_RETRY_EXC_ERR, 0));
        return;
    }
    waiting.awaits_answer = timeout.is_some();
    waiting.due_ns = clock::monotonic_ns() + timeout.unwrap_or(LOOK_NS);
}

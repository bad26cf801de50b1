//! The agent's work on one queue pair's backlog.

use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_verbs_abi::*;

use super::backlog::Waiting;
use super::completion;
use super::execute::Outcome;
use super::queue_pair::QueuePair;
use super::retry::consider;
use super::send_queue::{self, Attempt};

/// Pieces that are moved for one queue pair before the others have their turn.
const PIECES: u32 = 16;

/// What the agent can spend on a lock.
const PATIENCE: Duration = Duration::from_millis(1);

/// A time that does not come: something else must happen first.
const NEVER: u64 = u64::MAX;

/// Works on what is due; when to come again, none if there is nothing left.
pub fn run(qp: &'static QueuePair, now: u64) -> Option<u64> {
    for _ in 0..PIECES {
        match qp.backlog.due_ns() {
            None => break,
            Some(due) if due > now => return Some(due),
            Some(_) => qp.backlog.with_oldest(|oldest| work(qp, oldest)),
        }
    }
    let due = qp.backlog.due_ns();
    if due.is_none() {
        qp.backlog_is_done();
    }
    due
}

/// One piece of the oldest request; true if it ended.
fn work(qp: &'static QueuePair, oldest: &mut Waiting) -> bool {
    let state = qp.record().state.load(Ordering::Acquire);
    if oldest.ended.is_none() {
        match state {
            IBV_QPS_RTS => {
                // SAFETY: something waits, so the sending side is the agent's; what waits was copied or is the
                // application's until it has ended.
                let outcome = unsafe { step(qp, oldest) };
                if outcome == Outcome::Left {
                    return true;
                }
                consider(oldest, qp, outcome);
            }
            IBV_QPS_SQD if oldest.done == 0 && !oldest.proxied.is_out() => oldest.due_ns = NEVER,
            IBV_QPS_SQD => {
                // What was begun is finished while the send queue drains.
                // SAFETY: as above.
                let outcome = unsafe { step(qp, oldest) };
                consider(oldest, qp, outcome);
            }
            IBV_QPS_ERR | IBV_QPS_SQE => oldest.ended = Some((IBV_WC_WR_FLUSH_ERR, 0)),
            // Reset: nothing more is heard of it.
            _ => return true,
        }
    }
    match oldest.ended {
        Some((status, bytes)) => completion::end(qp, &oldest.request, status, bytes).is_ok(),
        None => false,
    }
}

/// # Safety
/// As of [`send_queue::step`].
unsafe fn step(qp: &'static QueuePair, oldest: &mut Waiting) -> Outcome {
    let mut proxied = std::mem::take(&mut oldest.proxied);
    let (payload, done) = (oldest.payload(), oldest.done);
    let attempt = Attempt {
        done,
        patience: PATIENCE,
        proxied: Some(&mut proxied),
    };
    // SAFETY: the caller's.
    let outcome = unsafe { send_queue::step(qp, &oldest.request, payload, attempt) };
    oldest.proxied = proxied;
    outcome
}

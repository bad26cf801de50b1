//! Posting to a send queue: what every request goes through, whichever interface it came by.
//!
//! A request is checked, given its place in the send queue, and executed at once, unless others wait before it or it must wait
//! itself. The call never waits longer than for a lock whose holder lost its core (`fabric::POSTING`).

use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::backlog::Waiting;
use super::completion;
use super::execute::Outcome;
use super::queue_pair::QueuePair;
use super::receiver::CHUNK;
use super::request::{Payload, Request};
use super::retry::consider;
use super::send_queue;
use super::state::{QpKind, State};
use crate::call::{Errno, Result, require};
use crate::uar::{self, WorkRequest};

/// Whether the request can be posted now, one of so many that belong together.
#[inline]
pub fn check(qp: &QueuePair, request: &Request, payload: &Payload<'_>, together: u32) -> Result {
    require(request.operation.exists_in(qp.kind), Errno::EINVAL)?;
    if request.has(IBV_SEND_INLINE) {
        let fits = payload.bytes() <= u64::from(qp.caps.max_inline_data);
        require(fits && !request.operation.fetches(), Errno::EINVAL)?;
    }
    let state = State::from_abi(qp.record().state.load(Ordering::Acquire));
    require(state.is_some_and(State::takes_sends), Errno::EINVAL)?;
    require(qp.send_queue_has_room(together), Errno::ENOMEM)?;
    qp.process.posts(qp.device);
    Ok(())
}

/// How long the request would be in mlx5's send queue.
#[inline]
pub fn work_request(kind: QpKind, request: &Request, payload: &Payload<'_>) -> WorkRequest {
    let operation = request.operation;
    WorkRequest {
        remote_address: !operation.is_send() && !operation.is_local(),
        atomic: operation.is_atomic(),
        datagram: kind == QpKind::Ud,
        xrc: kind == QpKind::XrcSend,
        payload: match payload {
            _ if request.has(IBV_SEND_INLINE) => uar::Payload::Inline(payload.bytes() as u32),
            Payload::Elements(elements) => uar::Payload::Elements(elements.len() as u32),
            Payload::Inline(bytes) => uar::Payload::Inline(bytes.len() as u32),
        },
    }
}

/// Puts a checked request into the send queue.
#[inline]
pub fn submit(qp: &'static QueuePair, request: &mut Request, payload: Payload<'_>) {
    request.index = qp.take_send_index();
    begin(qp, request, payload);
}

/// Executes a request that has its place, or defers it.
#[inline]
pub fn begin(qp: &'static QueuePair, request: &Request, payload: Payload<'_>) {
    if !qp.backlog.is_empty() {
        return defer(qp, request, payload, Attempt::None);
    }
    match qp.record().state.load(Ordering::Acquire) {
        IBV_QPS_RTS => {}
        IBV_QPS_SQD => return defer(qp, request, payload, Attempt::None),
        _ => return finish(qp, request, payload, IBV_WC_WR_FLUSH_ERR, 0),
    }
    // Others must have the core meanwhile.
    if payload.bytes() > CHUNK && !qp.is_remote() {
        return defer(qp, request, payload, Attempt::None);
    }
    // SAFETY: nobody waits, so the sending side is the poster's.
    let outcome = unsafe { send_queue::step(qp, request, payload, send_queue::Attempt::first()) };
    match outcome {
        Outcome::Done(bytes) => finish(qp, request, payload, IBV_WC_SUCCESS, bytes),
        Outcome::Failed(status) => finish(qp, request, payload, status, 0),
        Outcome::Left => {}
        other => defer(qp, request, payload, Attempt::Made(other)),
    }
}

/// Ends a request; if its completion cannot be pushed now, the agent does it.
#[inline]
fn finish(
    qp: &'static QueuePair,
    request: &Request,
    payload: Payload<'_>,
    status: u32,
    bytes: u64,
) {
    if completion::end(qp, request, status, bytes).is_err() {
        defer(qp, request, payload, Attempt::Ended { status, bytes });
    }
}

/// Ends a request whose bytes are moved, behind those before it.
pub fn end_moved(qp: &'static QueuePair, request: &Request, payload: Payload<'_>, bytes: u64) {
    let status = IBV_WC_SUCCESS;
    match qp.backlog.is_empty() {
        true => finish(qp, request, payload, status, bytes),
        false => defer(qp, request, payload, Attempt::Ended { status, bytes }),
    }
}

/// What has been done about a request before it is deferred.
enum Attempt {
    None,
    Made(Outcome),
    Ended { status: u32, bytes: u64 },
}

#[cold]
fn defer(qp: &'static QueuePair, request: &Request, payload: Payload<'_>, attempt: Attempt) {
    // SAFETY: the poster's elements are readable.
    let mut waiting = unsafe { Waiting::new(request, payload) };
    match attempt {
        Attempt::None => {}
        Attempt::Ended { status, bytes } => waiting.ended = Some((status, bytes)),
        Attempt::Made(outcome) => consider(&mut waiting, qp, outcome),
    }
    if qp.backlog.push(waiting) {
        qp.process.agent().attend(qp.number);
    }
}

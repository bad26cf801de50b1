//! Posting to a send queue: what every request goes through, whichever interface it came by.
//!
//! A request is checked, given its place in the send queue, and executed at once, unless others wait before it or it must wait
//! itself. The call never waits longer than for a lock whose holder lost its core (`fabric::POSTING`).

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::backlog::Waiting;
use super::execute::Outcome;
use super::joint::Joint;
use super::receiver::CHUNK;
use super::request::Request;
use super::send_queue;
use crate::uar::{self, WorkRequest};
use crate::verbs::call::{Errno, Result, require};
use crate::verbs::{Qp, QpKind, State, readable};

/// What a request carries.
#[derive(Clone, Copy)]
pub enum Payload<'a> {
    /// Memory; with `IBV_SEND_INLINE` without keys.
    Elements(&'a [ibv_sge]),
    Inline(&'a [u8]),
}

impl Payload<'_> {
    #[inline]
    pub fn bytes(&self) -> u64 {
        match self {
            Payload::Elements(elements) => elements
                .iter()
                .map(|element| u64::from(element.length))
                .sum(),
            Payload::Inline(bytes) => bytes.len() as u64,
        }
    }
}

/// # Safety
/// `qp` is a queue pair of this device; the list and all that it names are readable, `bad_wr` is writable.
pub unsafe extern "C" fn post_send(
    qp: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad_wr: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's promise.
    let qp = unsafe { Qp::from_abi(qp) };
    if !qp.kind.has_send_queue() {
        // SAFETY: the caller's promise.
        unsafe { *bad_wr = wr };
        return libc::EINVAL;
    }
    let sending = qp.sender().enter_send();
    // SAFETY: the caller's promise.
    let posted = unsafe {
        match wr.as_ref() {
            Some(only) if only.next.is_null() => {
                let mut posted = Posted::default();
                let put = |request: &mut Request, payload| submit(qp, request, payload);
                posted.take(wr, post_one(qp, only, put));
                posted
            }
            _ => post_list(qp, wr),
        }
    };
    sending.ring(posted.count, &posted.last);
    drop(sending);
    match posted.refused {
        None => 0,
        Some((at, errno)) => {
            // SAFETY: the caller's promise.
            unsafe { *bad_wr = at };
            // Not by `errno`, which the fast path has no business to touch.
            errno.0
        }
    }
}

/// What one call has posted.
#[derive(Default)]
struct Posted {
    count: u32,
    last: WorkRequest,
    /// The first that could not be, and why.
    refused: Option<(*mut ibv_send_wr, Errno)>,
}

impl Posted {
    /// False if it ends here.
    #[inline]
    fn take(&mut self, wr: *mut ibv_send_wr, result: Result<WorkRequest>) -> bool {
        match result {
            Ok(work) => {
                self.last = work;
                self.count += 1;
            }
            Err(errno) => self.refused = Some((wr, errno)),
        }
        self.refused.is_none()
    }
}

/// Not in the frame of a single request, which has no use for the room.
///
/// # Safety
/// As of [`post_send`].
#[inline(never)]
unsafe fn post_list(qp: &'static Qp, list: *mut ibv_send_wr) -> Posted {
    let mut posted = Posted::default();
    let mut joint = Joint::new(qp);
    let mut next = list;
    // SAFETY: the caller's promise: elements of the list.
    while let Some(wr) = unsafe { next.as_ref() } {
        let put = |request: &mut Request, payload| joint.submit(request, payload);
        // SAFETY: as above.
        let result = unsafe { post_one(qp, wr, put) };
        if !posted.take(next, result) {
            break;
        }
        next = wr.next;
    }
    joint.settle();
    posted
}

/// Checks a request and puts it into the send queue.
///
/// # Safety
/// As of [`post_send`].
#[inline]
unsafe fn post_one<'a>(
    qp: &'static Qp,
    wr: &'a ibv_send_wr,
    put: impl FnOnce(&mut Request, Payload<'a>),
) -> Result<WorkRequest> {
    // SAFETY: the caller's promise.
    let request = unsafe { Request::from_abi(wr, qp.kind) };
    let mut request = request.ok_or(Errno::EINVAL)?;
    let count = usize::try_from(wr.num_sge).map_err(|_| Errno::EINVAL)?;
    require(count <= qp.caps.max_send_sge as usize, Errno::EINVAL)?;
    // SAFETY: the caller's promise.
    let payload = Payload::Elements(unsafe { readable(wr.sg_list, count) });
    check(qp, &request, &payload, 1)?;
    let work = work_request(qp.kind, &request, &payload);
    put(&mut request, payload);
    Ok(work)
}

/// Whether the request can be posted now, one of so many that belong together.
#[inline]
pub fn check(qp: &Qp, request: &Request, payload: &Payload<'_>, together: u32) -> Result {
    require(request.operation.exists_in(qp.kind), Errno::EINVAL)?;
    if request.has(IBV_SEND_INLINE) {
        let fits = payload.bytes() <= u64::from(qp.caps.max_inline_data);
        require(fits && !request.operation.fetches(), Errno::EINVAL)?;
    }
    let state = State::from_abi(qp.record().state.load(Ordering::Acquire));
    require(state.is_some_and(State::takes_sends), Errno::EINVAL)?;
    require(qp.send_queue_has_room(together), Errno::ENOMEM)
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

/// Puts checked requests that belong together into the send queue.
#[inline(never)]
pub fn submit_all<'a>(
    qp: &'static Qp,
    requests: impl Iterator<Item = (&'a mut Request, Payload<'a>)>,
) {
    let mut joint = Joint::new(qp);
    for (request, payload) in requests {
        joint.submit(request, payload);
    }
    joint.settle();
}

/// Puts a checked request into the send queue.
#[inline]
pub fn submit(qp: &'static Qp, request: &mut Request, payload: Payload<'_>) {
    request.index = qp.take_send_place();
    begin(qp, request, payload);
}

/// Executes a request that has its place, or puts it off.
#[inline]
pub fn begin(qp: &'static Qp, request: &Request, payload: Payload<'_>) {
    if !qp.backlog.is_empty() {
        return put_off(qp, request, payload, Attempt::None);
    }
    match qp.record().state.load(Ordering::Acquire) {
        IBV_QPS_RTS => {}
        IBV_QPS_SQD => return put_off(qp, request, payload, Attempt::None),
        _ => return finish(qp, request, payload, IBV_WC_WR_FLUSH_ERR, 0),
    }
    // Others must have the core meanwhile.
    if payload.bytes() > CHUNK && !qp.is_remote() {
        return put_off(qp, request, payload, Attempt::None);
    }
    // SAFETY: nobody waits, so the sending side is the poster's.
    let outcome = unsafe { send_queue::step(qp, request, payload, send_queue::Attempt::first()) };
    match outcome {
        Outcome::Done(bytes) => finish(qp, request, payload, IBV_WC_SUCCESS, bytes),
        Outcome::Failed(status) => finish(qp, request, payload, status, 0),
        Outcome::Left => {}
        other => put_off(qp, request, payload, Attempt::Made(other)),
    }
}

/// Ends a request; if its completion cannot be pushed now, the agent does it.
#[inline]
fn finish(qp: &'static Qp, request: &Request, payload: Payload<'_>, status: u32, bytes: u64) {
    if send_queue::end(qp, request, status, bytes).is_err() {
        put_off(qp, request, payload, Attempt::Ended { status, bytes });
    }
}

/// Ends a request whose bytes are moved, behind those before it.
pub fn end_moved(qp: &'static Qp, request: &Request, payload: Payload<'_>, bytes: u64) {
    let status = IBV_WC_SUCCESS;
    match qp.backlog.is_empty() {
        true => finish(qp, request, payload, status, bytes),
        false => put_off(qp, request, payload, Attempt::Ended { status, bytes }),
    }
}

/// What has been done about a request before it is put off.
enum Attempt {
    None,
    Made(Outcome),
    Ended { status: u32, bytes: u64 },
}

#[cold]
fn put_off(qp: &'static Qp, request: &Request, payload: Payload<'_>, attempt: Attempt) {
    // SAFETY: the poster's elements are readable.
    let mut waiting = unsafe { Waiting::new(request, payload) };
    match attempt {
        Attempt::None => {}
        Attempt::Ended { status, bytes } => waiting.ended = Some((status, bytes)),
        Attempt::Made(outcome) => waiting.consider(qp, outcome),
    }
    if qp.backlog.push(waiting) {
        qp.context.process.agent().attend(qp);
    }
}

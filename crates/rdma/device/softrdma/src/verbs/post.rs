//! Posting send requests (ibv_post_send(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::ah::Ah;
use super::mw::binding;
use super::qp::Qp;
use crate::call::{Errno, Result, readable, require};
use crate::path::combined::CombinedRequests;
use crate::path::post::{check, submit, work_request};
use crate::path::queue_pair::QueuePair;
use crate::path::request::{Datagram, Operation, Payload, Request, Target};
use crate::path::state::QpKind;
use crate::uar::WorkRequest;

/// # Safety
/// `qp` is a queue pair of this device; the list and all that it names are readable, `bad_wr` is writable.
pub unsafe extern "C" fn post_send(
    qp: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad_wr: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's promise.
    let qp = &unsafe { Qp::from_abi(qp) }.inner;
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
unsafe fn post_list(qp: &'static QueuePair, list: *mut ibv_send_wr) -> Posted {
    let mut posted = Posted::default();
    let mut combined = CombinedRequests::new(qp);
    let mut next = list;
    // SAFETY: the caller's promise: elements of the list.
    while let Some(wr) = unsafe { next.as_ref() } {
        let put = |request: &mut Request, payload| combined.submit(request, payload);
        // SAFETY: as above.
        let result = unsafe { post_one(qp, wr, put) };
        if !posted.take(next, result) {
            break;
        }
        next = wr.next;
    }
    combined.flush();
    posted
}

/// Checks a request and puts it into the send queue.
///
/// # Safety
/// As of [`post_send`].
#[inline]
unsafe fn post_one<'a>(
    qp: &'static QueuePair,
    wr: &'a ibv_send_wr,
    put: impl FnOnce(&mut Request, Payload<'a>),
) -> Result<WorkRequest> {
    // SAFETY: the caller's promise.
    let request = unsafe { read_request(wr, qp.kind) };
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

/// Reads a work request of `ibv_post_send`. None if its operation is none of ours.
///
/// # Safety
/// The fields that belong to the operation and the kind of queue pair are set, and what they name stays until the request
/// has ended.
#[inline]
unsafe fn read_request(wr: &ibv_send_wr, kind: QpKind) -> Option<Request> {
    let operation = Operation::from_abi(wr.opcode)?;
    // SAFETY: of the unions, those members are read that go with the operation and the kind; the objects that
    // pointers name are the caller's promise.
    let (immediate, remote_srqn, target) = unsafe {
        let remote_srqn = match kind {
            QpKind::XrcSend => wr.qp_type.xrc.remote_srqn,
            _ => 0,
        };
        (
            wr.immediate.imm_data,
            remote_srqn,
            target(wr, operation, kind),
        )
    };
    Some(Request {
        wr_id: wr.wr_id,
        operation,
        flags: wr.send_flags,
        immediate,
        remote_srqn,
        target,
        index: 0,
    })
}

/// # Safety
/// As of [`read_request`].
#[inline]
unsafe fn target(wr: &ibv_send_wr, operation: Operation, kind: QpKind) -> Target {
    use Operation::*;
    // SAFETY: the member that goes with the operation.
    unsafe {
        match operation {
            Write | WriteWithImmediate | Read => Target::Memory {
                address: wr.wr.rdma.remote_addr,
                rkey: wr.wr.rdma.rkey,
            },
            CompareAndSwap | FetchAndAdd => Target::Atomic {
                address: wr.wr.atomic.remote_addr,
                rkey: wr.wr.atomic.rkey,
                operand: wr.wr.atomic.compare_add,
                swap: wr.wr.atomic.swap,
            },
            BindWindow => Target::Binding(binding(
                wr.extra.bind_mw.mw,
                wr.extra.bind_mw.rkey,
                &wr.extra.bind_mw.bind_info,
            )),
            _ if kind == QpKind::Ud => Target::Datagram(Datagram {
                vector: Ah::vector(wr.wr.ud.ah),
                remote_qpn: wr.wr.ud.remote_qpn,
                remote_qkey: wr.wr.ud.remote_qkey,
            }),
            _ => Target::None,
        }
    }
}

//! Posting receive requests (ibv_post_recv(3)).

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::object::Qp;
use crate::verbs::receive_list::post_list;

/// # Safety
/// `qp` is a queue pair of this device, the list readable, `bad_wr` writable.
pub unsafe extern "C" fn post_recv(
    qp: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's promise.
    let this = &unsafe { Qp::from_abi(qp) }.inner;
    let record = this.record();
    let reset = record.state.load(Ordering::Relaxed) == IBV_QPS_RESET;
    if !this.kind.has_receive_queue() || this.has_srq || reset {
        // SAFETY: the caller's promise.
        unsafe { *bad_wr = wr };
        return libc::EINVAL;
    }
    let segment = this.process.own_segment().segment();
    let ring = segment.receive_ring(this.number.index());
    let held = this.sender().enter_receive();
    // SAFETY: the caller's promise; the lock is held.
    let result = unsafe { post_list(&ring, this.caps.max_recv_sge, wr, bad_wr) };
    // A thread that flushes sees the request, or here the error state is seen.
    this.receive_fence();
    if record.state.load(Ordering::SeqCst) == IBV_QPS_ERR {
        this.flush_receives();
    }
    drop(held);
    result.map_or_else(|errno| errno.0, |()| 0)
}

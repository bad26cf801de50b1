//! Posting, opening and pacing queue pairs (ibv_post_send(3), ibv_open_qp(3), ibv_modify_qp_rate_limit(3)).

use core::ffi::c_int;

use super::{null, operation, unsupported};
use crate::{
    ibv_context, ibv_qp, ibv_qp_open_attr, ibv_qp_rate_limit_attr, ibv_recv_wr, ibv_send_wr,
};

/// Posts a list. When the answer is not 0, `bad_wr` is the first request that was not posted.
///
/// # Safety
/// See the [module](super).
#[inline]
pub unsafe fn ibv_post_send(
    qp: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad_wr: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's promise. Every device can post.
    unsafe { ((*(*qp).context).ops.post_send.unwrap_unchecked())(qp, wr, bad_wr) }
}

/// Posts a list. When the answer is not 0, `bad_wr` is the first request that was not posted.
///
/// # Safety
/// See the [module](super).
#[inline]
pub unsafe fn ibv_post_recv(
    qp: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's promise. Every device can post.
    unsafe { ((*(*qp).context).ops.post_recv.unwrap_unchecked())(qp, wr, bad_wr) }
}

/// Another handle of an XRC_RECV queue pair of the domain.
///
/// # Safety
/// See the [module](super).
pub unsafe fn ibv_open_qp(context: *mut ibv_context, attr: *mut ibv_qp_open_attr) -> *mut ibv_qp {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        match operation!(context, open_qp) {
            Some(open) => open(context, attr),
            None => null(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_modify_qp_rate_limit(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_rate_limit_attr,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        match operation!((*qp).context, modify_qp_rate_limit) {
            _ if (*attr).comp_mask != 0 => libc::EINVAL,
            Some(modify) => modify(qp, attr),
            None => unsupported(),
        }
    }
}

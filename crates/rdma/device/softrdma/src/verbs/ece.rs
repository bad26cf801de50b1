//! Enhanced connection establishment (ibv_query_ece(3), ibv_set_ece(3)): there are no options to agree on, which a zero
//! vendor says.

use std::ffi::c_int;

use weft_verbs_abi::*;

use crate::call::{Errno, code, require};

/// # Safety
/// `ece` is writable.
pub unsafe extern "C" fn ibv_query_ece(_qp: *mut ibv_qp, ece: *mut ibv_ece) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { ece.write(ibv_ece::default()) };
    code(Err(Errno::EOPNOTSUPP))
}

/// # Safety
/// `ece` is readable.
pub unsafe extern "C" fn ibv_set_ece(_qp: *mut ibv_qp, ece: *mut ibv_ece) -> c_int {
    // SAFETY: the caller's promise.
    let none = unsafe { (*ece).comp_mask == 0 && (*ece).vendor_id == 0 };
    code(require(none, Errno::EINVAL).and(Err(Errno::EOPNOTSUPP)))
}

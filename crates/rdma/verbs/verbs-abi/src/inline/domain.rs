//! Domains (ibv_alloc_td(3), ibv_alloc_parent_domain(3), ibv_open_xrcd(3)).

use core::ffi::c_int;

use super::{extended, null, operation, unsupported};
use crate::{
    ibv_context, ibv_parent_domain_init_attr, ibv_pd, ibv_td, ibv_td_init_attr, ibv_xrcd,
    ibv_xrcd_init_attr,
};

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_alloc_td(context: *mut ibv_context, attr: *mut ibv_td_init_attr) -> *mut ibv_td {
    // SAFETY: the caller's promise, here and in all of this module.
    unsafe {
        match operation!(context, alloc_td) {
            Some(alloc) => alloc(context, attr),
            None => null(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_dealloc_td(td: *mut ibv_td) -> c_int {
    // SAFETY: as above.
    unsafe {
        match operation!((*td).context, dealloc_td) {
            Some(dealloc) => dealloc(td),
            None => unsupported(),
        }
    }
}

/// Given back by `ibv_dealloc_pd`.
///
/// # Safety
/// See the [module](super).
pub unsafe fn ibv_alloc_parent_domain(
    context: *mut ibv_context,
    attr: *mut ibv_parent_domain_init_attr,
) -> *mut ibv_pd {
    // SAFETY: as above.
    unsafe {
        match operation!(context, alloc_parent_domain) {
            Some(alloc) => alloc(context, attr),
            None => null(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_open_xrcd(
    context: *mut ibv_context,
    attr: *mut ibv_xrcd_init_attr,
) -> *mut ibv_xrcd {
    // SAFETY: as above.
    unsafe {
        match operation!(context, open_xrcd) {
            Some(open) => open(context, attr),
            None => null(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_close_xrcd(xrcd: *mut ibv_xrcd) -> c_int {
    // SAFETY: as above. Who has opened a domain has an extended context.
    unsafe {
        match extended((*xrcd).context).and_then(|extended| (*extended).close_xrcd) {
            Some(close) => close(xrcd),
            None => unsupported(),
        }
    }
}

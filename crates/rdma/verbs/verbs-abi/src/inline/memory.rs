//! Memory windows, null regions, advice, device memory (ibv_alloc_mw(3), ibv_alloc_null_mr(3), ibv_alloc_dm(3)).

use core::ffi::{c_int, c_void};

use super::{null, operation, unsupported};
use crate::{
    IBV_MW_TYPE_1, ibv_access_flags, ibv_advise_mr_advice, ibv_alloc_dm_attr, ibv_context, ibv_dm,
    ibv_mr, ibv_mw, ibv_mw_bind, ibv_mw_type, ibv_pd, ibv_qp, ibv_sge,
};

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_alloc_mw(pd: *mut ibv_pd, r#type: ibv_mw_type) -> *mut ibv_mw {
    // SAFETY: the caller's promise, here and in all of this module.
    unsafe {
        match (*(*pd).context).ops.alloc_mw {
            Some(alloc) => alloc(pd, r#type),
            None => null(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_dealloc_mw(mw: *mut ibv_mw) -> c_int {
    // SAFETY: as above.
    unsafe {
        match (*(*mw).context).ops.dealloc_mw {
            Some(dealloc) => dealloc(mw),
            None => unsupported(),
        }
    }
}

/// Binds a window of type 1; those of type 2 are bound by work requests.
///
/// # Safety
/// See the [module](super).
pub unsafe fn ibv_bind_mw(qp: *mut ibv_qp, mw: *mut ibv_mw, bind: *mut ibv_mw_bind) -> c_int {
    // SAFETY: as above.
    unsafe {
        match (*(*mw).context).ops.bind_mw {
            _ if (*mw).r#type != IBV_MW_TYPE_1 => libc::EINVAL,
            Some(bind_mw) => bind_mw(qp, mw, bind),
            None => unsupported(),
        }
    }
}

/// The key with its low byte counted up, as a window of type 2 is bound with.
pub const fn ibv_inc_rkey(rkey: u32) -> u32 {
    rkey & !0xff | rkey.wrapping_add(1) & 0xff
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_alloc_null_mr(pd: *mut ibv_pd) -> *mut ibv_mr {
    // SAFETY: as above.
    unsafe {
        match operation!((*pd).context, alloc_null_mr) {
            Some(alloc) => alloc(pd),
            None => null(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_advise_mr(
    pd: *mut ibv_pd,
    advice: ibv_advise_mr_advice,
    flags: u32,
    sg_list: *mut ibv_sge,
    num_sge: u32,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        match operation!((*pd).context, advise_mr) {
            Some(advise) => advise(pd, advice, flags, sg_list, num_sge),
            None => unsupported(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_alloc_dm(context: *mut ibv_context, attr: *mut ibv_alloc_dm_attr) -> *mut ibv_dm {
    // SAFETY: as above.
    unsafe {
        match operation!(context, alloc_dm) {
            Some(alloc) => alloc(context, attr),
            None => null(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_free_dm(dm: *mut ibv_dm) -> c_int {
    // SAFETY: as above.
    unsafe {
        match operation!((*dm).context, free_dm) {
            Some(free) => free(dm),
            None => unsupported(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_reg_dm_mr(
    pd: *mut ibv_pd,
    dm: *mut ibv_dm,
    offset: u64,
    length: usize,
    access: ibv_access_flags,
) -> *mut ibv_mr {
    // SAFETY: as above.
    unsafe {
        match operation!((*pd).context, reg_dm_mr) {
            Some(register) => register(pd, dm, offset, length, access),
            None => null(),
        }
    }
}

/// # Safety
/// See the [module](super); `source` is readable for `length`.
pub unsafe fn ibv_memcpy_to_dm(
    dm: *mut ibv_dm,
    offset: u64,
    source: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        match (*dm).memcpy_to_dm {
            Some(copy) => copy(dm, offset, source, length),
            None => unsupported(),
        }
    }
}

/// # Safety
/// See the [module](super); `target` is writable for `length`.
pub unsafe fn ibv_memcpy_from_dm(
    target: *mut c_void,
    dm: *mut ibv_dm,
    offset: u64,
    length: usize,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        match (*dm).memcpy_from_dm {
            Some(copy) => copy(target, dm, offset, length),
            None => unsupported(),
        }
    }
}

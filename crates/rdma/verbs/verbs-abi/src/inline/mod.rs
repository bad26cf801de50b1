//! The calls that C programs have from the header and not from the library.
//!
//! They reach the device through pointers in the context or in the object. What a device does not have answers as C's do:
//! with `EOPNOTSUPP`, returned or in `errno` beside a null pointer. Calls that may fall back to an exported function are
//! methods of [`Library`](crate::Library).
//!
//! # Safety
//! For all of them: pointers to objects are those that the library gave and that were not destroyed yet, other pointers
//! point to one valid value of their type, or to as many as the count beside them says. Only what a function needs
//! beyond that is said at the function.

mod completion;
mod domain;
mod fallback;
mod memory;
mod queue_pair;
mod shared_receive;
mod work_request;

pub use completion::*;
pub use domain::*;
pub use memory::*;
pub use queue_pair::*;
pub use shared_receive::*;
pub use work_request::*;

use core::ffi::c_int;
use core::mem::offset_of;
use core::ptr;

use crate::{VERBS_ABI_IS_EXTENDED, ibv_context, ibv_values_ex, verbs_context};

/// The extended context around `context`, when the library knows of such.
///
/// # Safety
/// See the [module](self).
pub unsafe fn extended(context: *mut ibv_context) -> Option<*mut verbs_context> {
    // SAFETY: the context is open; an extended one is the last field of the larger structure.
    unsafe {
        ((*context).abi_compat == VERBS_ABI_IS_EXTENDED).then(|| {
            context
                .byte_sub(offset_of!(verbs_context, context))
                .cast::<verbs_context>()
        })
    }
}

/// An operation of the extended context: its pointer when the library's structure reaches down to it and it is filled.
///
/// Stands in an unsafe block: the context is open. `sz` is right before it in every extended one, and the operation is not
/// looked at unless `sz` says that the structure reaches so far.
macro_rules! operation {
    ($context:expr, $operation:ident) => {
        $crate::inline::extended($context).and_then(|extended| {
            let reach = size_of::<$crate::verbs_context>()
                - core::mem::offset_of!($crate::verbs_context, $operation);
            if (*extended).sz < reach {
                None
            } else {
                (*extended).$operation
            }
        })
    };
}
use operation;

/// The error number, in `errno` too.
pub(crate) fn unsupported() -> c_int {
    // SAFETY: the thread's own errno.
    unsafe { *libc::__errno_location() = libc::EOPNOTSUPP };
    libc::EOPNOTSUPP
}

/// A null pointer, and the reason in `errno`.
pub(crate) fn null<T>() -> *mut T {
    unsupported();
    ptr::null_mut()
}

/// Reads the device's clock (ibv_query_rt_values_ex(3)).
///
/// # Safety
/// See the [module](self).
pub unsafe fn ibv_query_rt_values_ex(
    context: *mut ibv_context,
    values: *mut ibv_values_ex,
) -> c_int {
    // SAFETY: the caller's promise, here and in all of this module.
    unsafe {
        match operation!(context, query_rt_values) {
            Some(_) if (*values).comp_mask >= crate::IBV_VALUES_MASK_RESERVED => libc::EINVAL,
            Some(query) => query(context, values),
            None => unsupported(),
        }
    }
}

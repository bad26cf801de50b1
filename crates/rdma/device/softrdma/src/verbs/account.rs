//! What one context has: `softrdma_context_stat` of `include/softrdma.h`.

use std::ffi::c_int;
use std::process;

use weft_verbs_abi::{ibv_context, softrdma_stat};

use super::context::Context;
use crate::uar::{capi, stat};

/// Figures of one context; 0 or an errno.
///
/// # Safety
/// `context` is null or open; `to` is null or points to `bytes` writable bytes.
pub unsafe extern "C" fn softrdma_context_stat(
    context: *mut ibv_context,
    to: *mut softrdma_stat,
    bytes: usize,
) -> c_int {
    if context.is_null() || to.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: the caller's promise.
    let context = unsafe { Context::from_abi(context) };
    let mine = match stat::process(&context.device.config.fabric, process::id()) {
        Ok(process) => process.into_iter().flat_map(|process| process.contexts),
        Err(error) => return error.raw_os_error().unwrap_or(libc::EIO),
    };
    let number = context.uar.number();
    match mine.into_iter().find(|found| found.number == number) {
        Some(found) => {
            // SAFETY: the caller's promise.
            unsafe { capi::write(found.figures, to, bytes) };
            0
        }
        None => libc::ESRCH,
    }
}

//! Memory that peers reach at memory speed (`ibv_alloc_buf` and `ibv_free_buf` of rdma-core's newest
//! releases).

use std::ffi::c_void;

use weft_verbs_abi::*;

use super::context::Context;
use super::domain::Pd;
use crate::call::{Errno, Result, pointer};
use crate::fault::Call;
use crate::users::{UseCount, UseGuard};

pub struct Buffer {
    context: &'static Context,
    pub address: u64,
    pub length: u64,
    /// Regions in it.
    pub users: UseCount,
    _use: UseGuard,
}

impl Buffer {
    /// # Safety
    /// `buffer` came from [`ibv_alloc_buf`] and is not freed while the result is used.
    pub unsafe fn from_abi(buffer: *mut ibv_buf) -> &'static Buffer {
        // SAFETY: the caller's promise.
        unsafe { &*buffer.cast::<Buffer>() }
    }
}

/// # Safety
/// `pd` is a protection domain of this device, `buffer` writable.
pub unsafe extern "C" fn ibv_alloc_buf(
    pd: *mut ibv_pd,
    length: usize,
    buffer: *mut *mut ibv_buf,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    let made = unsafe { Pd::checked(pd) }.and_then(|pd| allocate(pd.context, length as u64));
    pointer(made.map(|made| {
        let address = made.address as *mut c_void;
        // SAFETY: the caller's promise.
        unsafe { buffer.write(Box::into_raw(made).cast()) };
        address
    }))
}

fn allocate(context: &'static Context, length: u64) -> Result<Box<Buffer>> {
    if length == 0 {
        return Err(Errno::EINVAL);
    }
    context.inject_fault(Call::AllocBuf)?;
    Ok(Box::new(Buffer {
        context,
        address: context.process.own_segment().allocate_buffer(length)? as u64,
        length,
        users: UseCount::default(),
        _use: UseGuard::new(&context.users),
    }))
}

/// Regions in the buffer must be gone. One that is not keeps the memory, rather than that peers write to what is somebody
/// else's by then.
///
/// # Safety
/// `buffer` came from [`ibv_alloc_buf`], and is freed once.
pub unsafe extern "C" fn ibv_free_buf(buffer: *mut ibv_buf) {
    // SAFETY: the caller's promise.
    let this = unsafe { Buffer::from_abi(buffer) };
    if !this.users.none() {
        eprintln!("softrdma: ibv_free_buf of memory that has a region; it is not freed");
        return;
    }
    this.context
        .process
        .own_segment()
        .free_buffer(this.address as *mut u8);
    // SAFETY: it was made by `allocate`.
    drop(unsafe { Box::from_raw(buffer.cast::<Buffer>()) });
}

//! Memory windows (ibv_alloc_mw(3), ibv_bind_mw(3)).
//!
//! A window has a record of its own among the memory regions. Binding is executed in the send queue (`path::window`): a
//! window of type 1 then belongs to its protection domain and gets a new key, one of type 2 belongs to the queue pair.

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::context::Context;
use super::domain::Pd;
use super::mr::Mr;
use super::qp::Qp;
use crate::call::{Errno, Result, code, pointer, require};
use crate::fabric::PATIENT;
use crate::path::memory::{MemoryWindow, nothing};
use crate::path::post;
use crate::path::request::{Binding, Operation, Payload, Request, Target};
use crate::users::UseGuard;

#[repr(C)]
pub struct Mw {
    abi: ibv_mw,
    context: &'static Context,
    inner: MemoryWindow,
    _use: UseGuard,
}

impl Mw {
    /// # Safety
    /// `mw` is a window of this device that is not deallocated while the result is used.
    pub unsafe fn from_abi(mw: *mut ibv_mw) -> &'static Mw {
        // SAFETY: each begins with the public structure.
        unsafe { &*mw.cast::<Mw>() }
    }

    /// The window as requests use it.
    pub fn inner(&'static self) -> &'static MemoryWindow {
        &self.inner
    }
}

/// # Safety
/// `pd` is a protection domain of this device.
pub unsafe extern "C" fn alloc_mw(pd: *mut ibv_pd, kind: ibv_mw_type) -> *mut ibv_mw {
    // SAFETY: the caller's promise.
    pointer(unsafe { Pd::checked(pd) }.and_then(|pd| allocate(pd, kind)))
}

fn allocate(pd: &'static Pd, kind: ibv_mw_type) -> Result<*mut ibv_mw> {
    let known = matches!(kind, IBV_MW_TYPE_1 | IBV_MW_TYPE_2);
    require(known, Errno::EINVAL)?;
    let context = pd.context;
    let key = context.process.own_segment().register(&nothing(pd.key))?;
    let mw = Box::leak(Box::new(Mw {
        abi: ibv_mw {
            context: context.as_abi(),
            pd: std::ptr::from_ref(pd).cast_mut().cast(),
            rkey: key,
            handle: key >> 8,
            r#type: kind,
        },
        context,
        inner: MemoryWindow::new(context.process.fabric, kind, pd.key, key),
        _use: UseGuard::new(&pd.users),
    }));
    let made = std::ptr::from_mut(mw);
    context.process.windows.enter(key >> 8, &mw.inner);
    Ok(made.cast())
}

/// # Safety
/// `mw` is a window of this device, deallocated once.
pub unsafe extern "C" fn dealloc_mw(mw: *mut ibv_mw) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Mw::from_abi(mw) };
    let process = this.context.process;
    let processes = process.fabric.processes();
    let gone = process
        .own_segment()
        .deregister(processes, this.inner.key(), PATIENT);
    code(gone.map_err(|_| Errno::EBUSY).map(|()| {
        process.windows.leave(this.inner.key() >> 8);
        // SAFETY: it was leaked from a box by `allocate`, and peers do not use it any more.
        drop(unsafe { Box::from_raw(mw.cast::<Mw>()) });
    }))
}

/// The binding that a request asks for.
///
/// # Safety
/// The window, and the region if one is named, are this device's and stay until the request has ended.
pub unsafe fn binding(mw: *mut ibv_mw, rkey: u32, info: &ibv_mw_bind_info) -> Binding {
    // SAFETY: the caller's promise.
    unsafe {
        Binding {
            window: Mw::from_abi(mw).inner(),
            rkey,
            region: (!info.mr.is_null()).then(|| Mr::from_abi(info.mr).inner()),
            address: info.addr,
            length: info.length,
            access: info.mw_access_flags,
        }
    }
}

/// Posts the binding of a window of type 1, which gets a new key at once.
///
/// # Safety
/// All are this device's, the binding readable.
pub unsafe extern "C" fn bind_mw(
    qp: *mut ibv_qp,
    mw: *mut ibv_mw,
    bind: *mut ibv_mw_bind,
) -> c_int {
    // SAFETY: the caller's promise.
    let (qp, this, bind) = unsafe { (Qp::from_abi(qp), Mw::from_abi(mw), &*bind) };
    let qp = &qp.inner;
    let right = this.inner.kind == IBV_MW_TYPE_1 && qp.kind.has_send_queue();
    let posted = require(right, Errno::EINVAL).and_then(|()| {
        // SAFETY: the public key is only written here.
        let old = unsafe { (*mw).rkey };
        let rkey = old & !0xff | old.wrapping_add(1) & 0xff;
        // SAFETY: the caller's promise.
        let binding = unsafe { binding(mw, rkey, &bind.bind_info) };
        let mut request = Request {
            wr_id: bind.wr_id,
            operation: Operation::BindWindow,
            flags: bind.send_flags & !IBV_SEND_INLINE,
            immediate: 0,
            remote_srqn: 0,
            target: Target::Binding(binding),
            index: 0,
        };
        let payload = Payload::Elements(&[]);
        let sending = qp.sender().enter_send();
        post::check(qp, &request, &payload, 1)?;
        let work = post::work_request(qp.kind, &request, &payload);
        post::submit(qp, &mut request, payload);
        sending.ring(1, &work);
        // SAFETY: as above.
        unsafe { (*mw).rkey = rkey };
        Ok(())
    });
    code(posted)
}

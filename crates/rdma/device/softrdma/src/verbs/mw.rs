//! Memory windows (ibv_alloc_mw(3), ibv_bind_mw(3)).
//!
//! A window has a record of its own among the memory regions. Binding is executed in the send queue (`path::window`): a
//! window of type 1 then belongs to its protection domain and gets a new key, one of type 2 belongs to the queue pair.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_verbs_abi::*;

use super::call::{Errno, Result, code, pointer, require};
use super::context::Context;
use super::domain::Pd;
use super::qp::Qp;
use super::users::Stand;
use crate::fabric::Region;
use crate::fabric::lock::PATIENT;
use crate::path::post;
use crate::path::request::{Binding, Operation, Request, Target};

#[repr(C)]
pub struct Mw {
    abi: ibv_mw,
    pub context: &'static Context,
    pub kind: ibv_mw_type,
    pub pd_key: u32,
    /// The key that its record has.
    key: AtomicU32,
    /// The region that it is bound to.
    bound: Mutex<Option<Stand>>,
    _stand: Stand,
}

impl Mw {
    /// # Safety
    /// `mw` is a window of this device that is not deallocated while the result is used.
    pub unsafe fn from_abi(mw: *mut ibv_mw) -> &'static Mw {
        // SAFETY: each begins with the public structure.
        unsafe { &*mw.cast::<Mw>() }
    }

    pub fn key(&self) -> u32 {
        self.key.load(Ordering::Relaxed)
    }

    fn bound(&self) -> MutexGuard<'_, Option<Stand>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the window a key and what it covers, and lets the old go.
    pub fn rebind(&self, key: u32, region: &Region, on: Option<Stand>) -> Result {
        let process = self.context.process;
        let processes = process.fabric.processes();
        process
            .home()
            .change(processes, self.key(), key, region, PATIENT)
            .map_err(|_| Errno::EBUSY)?;
        self.key.store(key, Ordering::Relaxed);
        *self.bound() = on;
        Ok(())
    }
}

/// What an unbound window covers.
pub fn nothing(pd_key: u32) -> Region {
    Region {
        address: 0,
        length: 0,
        iova: 0,
        access: 0,
        pd: pd_key,
        place: None,
        qpn: None,
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
    let key = context.process.home().register(&nothing(pd.key))?;
    let mw = Box::leak(Box::new(Mw {
        abi: ibv_mw {
            context: context.as_abi(),
            pd: std::ptr::from_ref(pd).cast_mut().cast(),
            rkey: key,
            handle: key >> 8,
            r#type: kind,
        },
        context,
        kind,
        pd_key: pd.key,
        key: AtomicU32::new(key),
        bound: Mutex::default(),
        _stand: Stand::on(&pd.users),
    }));
    let made = std::ptr::from_mut(mw);
    context.process.windows.enter(key >> 8, mw);
    Ok(made.cast())
}

/// # Safety
/// `mw` is a window of this device, deallocated once.
pub unsafe extern "C" fn dealloc_mw(mw: *mut ibv_mw) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Mw::from_abi(mw) };
    let process = this.context.process;
    let processes = process.fabric.processes();
    let gone = process.home().deregister(processes, this.key(), PATIENT);
    code(gone.map_err(|_| Errno::EBUSY).map(|()| {
        process.windows.leave(this.key() >> 8);
        // SAFETY: it was leaked from a box by `allocate`, and peers do not use it any more.
        drop(unsafe { Box::from_raw(mw.cast::<Mw>()) });
    }))
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
    let right = this.kind == IBV_MW_TYPE_1 && qp.kind.has_send_queue();
    let posted = require(right, Errno::EINVAL).and_then(|()| {
        // SAFETY: the public key is only written here.
        let old = unsafe { (*mw).rkey };
        let rkey = old & !0xff | old.wrapping_add(1) & 0xff;
        let mut request = Request {
            wr_id: bind.wr_id,
            operation: Operation::BindWindow,
            flags: bind.send_flags & !IBV_SEND_INLINE,
            immediate: 0,
            remote_srqn: 0,
            target: Target::Binding(Binding {
                mw,
                rkey,
                info: bind.bind_info,
            }),
            index: 0,
        };
        let payload = post::Payload::Elements(&[]);
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

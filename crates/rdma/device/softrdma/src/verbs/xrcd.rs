//! XRC domains (ibv_open_xrcd(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::context::Context;
use crate::call::{Errno, Result, code, pointer, require};
use crate::fabric::record::xrc::DomainId;
use crate::fabric::xrc::{OpenError, Opening};
use crate::users::{UseCount, UseGuard};

#[repr(C)]
pub struct Xrcd {
    abi: ibv_xrcd,
    context: &'static Context,
    pub id: DomainId,
    pub users: UseCount,
    _use: UseGuard,
}

impl Xrcd {
    /// None for null.
    ///
    /// # Safety
    /// `xrcd` is null or a domain of this device that is not closed while the result is used.
    pub unsafe fn optional(xrcd: *mut ibv_xrcd) -> Option<&'static Xrcd> {
        // SAFETY: each begins with the public structure.
        unsafe { xrcd.cast::<Xrcd>().as_ref() }
    }
}

impl From<OpenError> for Errno {
    fn from(error: OpenError) -> Errno {
        Errno(match error {
            OpenError::Absent => libc::ENOENT,
            OpenError::Exists => libc::EEXIST,
            OpenError::Full => libc::ENOMEM,
            OpenError::Busy => libc::EBUSY,
        })
    }
}

/// Device and inode of the file that names the domain; none for -1.
fn file(fd: c_int) -> Result<Option<[u64; 2]>> {
    if fd == -1 {
        return Ok(None);
    }
    // SAFETY: all zeros is a valid `stat`.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is writable.
    match unsafe { libc::fstat(fd, &mut stat) } {
        0 => Ok(Some([stat.st_dev, stat.st_ino])),
        _ => Err(Errno::last()),
    }
}

/// # Safety
/// `context` is open, `attributes` readable.
pub unsafe extern "C" fn open_xrcd(
    context: *mut ibv_context,
    attributes: *mut ibv_xrcd_init_attr,
) -> *mut ibv_xrcd {
    // SAFETY: the caller's promise.
    let (context, attributes) = unsafe { (Context::from_abi(context), &*attributes) };
    pointer(open(context, attributes))
}

fn open(context: &'static Context, attributes: &ibv_xrcd_init_attr) -> Result<*mut ibv_xrcd> {
    let both = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    require(attributes.comp_mask == both, Errno::EINVAL)?;
    let oflags = attributes.oflags;
    require(oflags & !(libc::O_CREAT | libc::O_EXCL) == 0, Errno::EINVAL)?;
    let file = file(attributes.fd)?;
    let opening = Opening {
        create: oflags & libc::O_CREAT != 0,
        exclusive: oflags & libc::O_EXCL != 0,
    };
    require(file.is_some() || opening.create, Errno::EINVAL)?;
    let fabric = context.process.fabric;
    let device = context.device.index;
    let id = fabric
        .domains()
        .open(fabric.processes(), device, file, opening)?;
    let xrcd = Xrcd {
        abi: ibv_xrcd {
            context: context.as_abi(),
        },
        context,
        id,
        users: UseCount::default(),
        _use: UseGuard::new(&context.users),
    };
    Ok(Box::into_raw(Box::new(xrcd)).cast())
}

/// EBUSY while queues of this process stand on it.
///
/// # Safety
/// `xrcd` is a domain of this device, closed once.
pub unsafe extern "C" fn close_xrcd(xrcd: *mut ibv_xrcd) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { &*xrcd.cast::<Xrcd>() };
    let closed = this.users.require_none().and_then(|()| {
        let fabric = this.context.process.fabric;
        let closed = fabric.domains().close(fabric.processes(), this.id);
        closed.map_err(|_| Errno::EBUSY)
    });
    code(closed.map(|()| {
        // SAFETY: it was made by `open`, and nobody stands on it.
        drop(unsafe { Box::from_raw(xrcd.cast::<Xrcd>()) });
    }))
}

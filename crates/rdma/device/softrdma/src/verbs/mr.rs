//! Memory regions (ibv_reg_mr(3), ibv_rereg_mr(3), ibv_alloc_null_mr(3), ibv_advise_mr(3)).
//!
//! Registering pins: pages are made present, and memory that is not there or may not be written is refused with EFAULT, as
//! with an adapter. A region in memory of `ibv_alloc_buf` is found by its address, and peers reach it without the kernel.

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

use weft_verbs_abi::*;

use super::buffer::Buffer;
use super::context::Context;
use super::domain::Pd;
use super::limits::MAX_MR_BYTES;
use crate::call::{Errno, Result, code, pointer, require};
use crate::fabric::{PATIENT, Region};
use crate::fault::Call;
use crate::path::memory::MemoryRegion;
use crate::path::pieces::NULL_REGION;
use crate::uar::{Counted, Object};
use crate::users::UseGuard;

/// The access rights that there are. Relaxed ordering and huge pages are hints that change nothing here.
const KNOWN_ACCESS: u32 = IBV_ACCESS_LOCAL_WRITE
    | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC
    | IBV_ACCESS_MW_BIND
    | IBV_ACCESS_ZERO_BASED
    | IBV_ACCESS_HUGETLB
    | IBV_ACCESS_OPTIONAL_RANGE;

const REMOTE_CHANGES: u32 = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

#[repr(C)]
pub struct Mr {
    abi: ibv_mr,
    context: &'static Context,
    inner: MemoryRegion,
    state: Mutex<State>,
    _counted: Counted,
    _use: UseGuard,
}

struct State {
    pd: UseGuard,
    buffer: Option<UseGuard>,
}

/// What is to be registered.
struct Wish {
    address: u64,
    length: u64,
    iova: u64,
    access: u32,
}

impl Mr {
    /// # Safety
    /// `mr` is a memory region of this device that is not deregistered while the result is used.
    pub unsafe fn from_abi(mr: *mut ibv_mr) -> &'static Mr {
        // SAFETY: each begins with the public structure.
        unsafe { &*mr.cast::<Mr>() }
    }

    /// The region as requests use it.
    pub fn inner(&'static self) -> &'static MemoryRegion {
        &self.inner
    }
}

impl Wish {
    fn check(&self) -> Result {
        let named = self.access & !KNOWN_ACCESS == 0;
        // A peer may not change what the application itself may not.
        let consistent =
            self.access & REMOTE_CHANGES == 0 || self.access & IBV_ACCESS_LOCAL_WRITE != 0;
        let fits = (1..=MAX_MR_BYTES).contains(&self.length)
            && self.address.checked_add(self.length).is_some()
            && self.iova.checked_add(self.length).is_some();
        let on_demand = self.access & IBV_ACCESS_ON_DEMAND != 0;
        require(!on_demand, Errno::EOPNOTSUPP)?;
        require(named && consistent && fits, Errno::EINVAL)
    }

    /// Makes the pages present. Kernels from 5.14 on say exactly what cannot be; with older ones it must show later.
    fn pin(&self) -> Result {
        const PAGE: u64 = 4096;
        let begin = self.address / PAGE * PAGE;
        let end = (self.address + self.length).next_multiple_of(PAGE);
        let writes = self.access & (IBV_ACCESS_LOCAL_WRITE | REMOTE_CHANGES) != 0;
        let advice = match writes {
            true => libc::MADV_POPULATE_WRITE,
            false => libc::MADV_POPULATE_READ,
        };
        // SAFETY: populating changes nothing that a program could see; wrong addresses are an error.
        let result = unsafe { libc::madvise(begin as *mut c_void, (end - begin) as usize, advice) };
        match (result, Errno::last()) {
            (0, _) | (_, Errno(libc::EINVAL)) => Ok(()),
            (_, Errno(libc::ENOMEM)) => Err(Errno::EFAULT),
            (_, errno) => Err(errno),
        }
    }

    fn region(&self, pd: &Pd) -> Region {
        let own_segment = pd.context.process.own_segment();
        Region {
            address: self.address,
            length: self.length,
            iova: self.iova,
            access: self.access,
            pd: pd.key,
            segment_offset: own_segment.segment_offset_of(self.address, self.length),
            qpn: None,
        }
    }
}

fn register(pd: &'static Pd, wish: &Wish) -> Result<*mut ibv_mr> {
    wish.check()?;
    pd.context.inject_fault(Call::RegMr)?;
    wish.pin()?;
    publish(pd, wish.region(pd), None)
}

/// Shows a region and makes its object.
fn publish(pd: &'static Pd, region: Region, buffer: Option<UseGuard>) -> Result<*mut ibv_mr> {
    let context = pd.context;
    let key = context.process.own_segment().register(&region)?;
    let mr = Mr {
        abi: ibv_mr {
            context: context.as_abi(),
            pd: std::ptr::from_ref(pd).cast_mut().cast(),
            addr: region.address as *mut c_void,
            length: region.length as usize,
            handle: key >> 8,
            lkey: key,
            rkey: key,
        },
        context,
        inner: MemoryRegion::new(region),
        state: Mutex::new(State {
            pd: UseGuard::new(&pd.users),
            buffer,
        }),
        _counted: context.uar.count(Object::MemoryRegion),
        _use: UseGuard::new(&context.users),
    };
    Ok(Box::into_raw(Box::new(mr)).cast())
}

fn base(address: u64, access: u32) -> u64 {
    if access & IBV_ACCESS_ZERO_BASED != 0 {
        0
    } else {
        address
    }
}

/// # Safety
/// `pd` is a protection domain of this device.
pub unsafe extern "C" fn ibv_reg_mr(
    pd: *mut ibv_pd,
    address: *mut c_void,
    length: usize,
    access: c_int,
) -> *mut ibv_mr {
    let iova = base(address as u64, access as u32);
    // SAFETY: the caller's promise.
    unsafe { ibv_reg_mr_iova2(pd, address, length, iova, access as u32) }
}

/// # Safety
/// `pd` is a protection domain of this device.
pub unsafe extern "C" fn ibv_reg_mr_iova(
    pd: *mut ibv_pd,
    address: *mut c_void,
    length: usize,
    iova: u64,
    access: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller's promise.
    unsafe { ibv_reg_mr_iova2(pd, address, length, iova, access as u32) }
}

/// # Safety
/// `pd` is a protection domain of this device.
pub unsafe extern "C" fn ibv_reg_mr_iova2(
    pd: *mut ibv_pd,
    address: *mut c_void,
    length: usize,
    iova: u64,
    access: u32,
) -> *mut ibv_mr {
    let wish = Wish {
        address: address as u64,
        length: length as u64,
        iova,
        access,
    };
    // SAFETY: the caller's promise.
    pointer(unsafe { Pd::checked(pd) }.and_then(|pd| register(pd, &wish)))
}

/// There are no DMA buffers to be had without a kernel.
///
/// # Safety
/// None is needed.
pub unsafe extern "C" fn ibv_reg_dmabuf_mr(
    _pd: *mut ibv_pd,
    _offset: u64,
    _length: usize,
    _iova: u64,
    _fd: c_int,
    _access: c_int,
) -> *mut ibv_mr {
    pointer(Err(Errno::EOPNOTSUPP))
}

/// Registers part of a buffer of `ibv_alloc_buf`, which is then not freed before it.
fn register_buffer(
    pd: &'static Pd,
    buffer: &'static Buffer,
    offset: u64,
    length: u64,
    iova: u64,
    access: u32,
) -> Result<*mut ibv_mr> {
    let inside = offset
        .checked_add(length)
        .is_some_and(|end| end <= buffer.length);
    require(inside, Errno::EINVAL)?;
    let wish = Wish {
        address: buffer.address + offset,
        length,
        iova,
        access,
    };
    wish.check()?;
    pd.context.inject_fault(Call::RegMr)?;
    publish(pd, wish.region(pd), Some(UseGuard::new(&buffer.users)))
}

/// # Safety
/// `pd` and `buffer` are this device's.
pub unsafe extern "C" fn ibv_reg_buf_mr(
    pd: *mut ibv_pd,
    buffer: *mut ibv_buf,
    address: *mut c_void,
    length: usize,
    access: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller's promise.
    let (pd, buffer) = unsafe { (Pd::checked(pd), Buffer::from_abi(buffer)) };
    let address = address as u64;
    pointer(pd.and_then(|pd| {
        let offset = address.checked_sub(buffer.address).ok_or(Errno::EINVAL)?;
        register_buffer(pd, buffer, offset, length as u64, address, access as u32)
    }))
}

/// # Safety
/// `attributes` is readable, and what it names alive.
pub unsafe extern "C" fn reg_mr_ex(
    pd: *mut ibv_pd,
    attributes: *mut ibv_mr_init_attr,
) -> *mut ibv_mr {
    // SAFETY: the caller's promise.
    pointer(unsafe { register_extended(pd, &*attributes) })
}

/// # Safety
/// What `attributes` names is alive.
unsafe fn register_extended(pd: *mut ibv_pd, attributes: &ibv_mr_init_attr) -> Result<*mut ibv_mr> {
    let has = |mask: u64| attributes.comp_mask & mask != 0;
    let files = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_DMAH;
    require(!has(files), Errno::EOPNOTSUPP)?;
    let known = IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF;
    require(!has(!known), Errno::EINVAL)?;
    // SAFETY: the caller's promise.
    let pd = unsafe { Pd::checked(pd) }?;
    let (length, access) = (attributes.length as u64, attributes.access as u32);
    if has(IBV_REG_MR_MASK_BUF) {
        // SAFETY: the caller's promise.
        let buffer = unsafe { Buffer::from_abi(attributes.buf) };
        let iova = if has(IBV_REG_MR_MASK_IOVA) {
            attributes.iova
        } else {
            buffer.address
        };
        return register_buffer(pd, buffer, 0, length, iova, access);
    }
    require(has(IBV_REG_MR_MASK_ADDR), Errno::EINVAL)?;
    let address = attributes.addr as u64;
    let iova = match has(IBV_REG_MR_MASK_IOVA) {
        true => attributes.iova,
        false => base(address, access),
    };
    register(
        pd,
        &Wish {
            address,
            length,
            iova,
            access,
        },
    )
}

/// # Safety
/// `mr` is a region of this device, deregistered once.
pub unsafe extern "C" fn ibv_dereg_mr(mr: *mut ibv_mr) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Mr::from_abi(mr) };
    code(deregister(this).map(|()| {
        // SAFETY: it was made by `publish`, and peers do not use the memory any more.
        drop(unsafe { Box::from_raw(mr.cast::<Mr>()) });
    }))
}

fn deregister(mr: &Mr) -> Result {
    mr.inner.users.require_none()?;
    let process = mr.context.process;
    process
        .own_segment()
        .deregister(process.fabric.processes(), mr.abi.lkey, PATIENT)
        .map_err(|_| Errno::EBUSY)
}

/// 0, or one of the negative codes; after those for the driver the region is as it was.
///
/// # Safety
/// `mr` and `pd` are this device's; nobody uses the region meanwhile.
pub unsafe extern "C" fn ibv_rereg_mr(
    mr: *mut ibv_mr,
    flags: c_int,
    pd: *mut ibv_pd,
    address: *mut c_void,
    length: usize,
    access: c_int,
) -> c_int {
    let known = flags & !IBV_REREG_MR_FLAGS_SUPPORTED == 0;
    let moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION != 0;
    let pd_missing = flags & IBV_REREG_MR_CHANGE_PD != 0 && pd.is_null();
    if !known || flags == 0 || pd_missing || moves && (address.is_null() || length == 0) {
        Errno::EINVAL.set();
        return IBV_REREG_MR_ERR_INPUT;
    }
    // SAFETY: the caller's promise.
    let result = unsafe { change(mr, flags, pd, address as u64, length as u64, access as u32) };
    result.map_or_else(
        |errno| {
            errno.set();
            IBV_REREG_MR_ERR_CMD
        },
        |()| 0,
    )
}

/// # Safety
/// As of [`ibv_rereg_mr`].
unsafe fn change(
    mr: *mut ibv_mr,
    flags: c_int,
    pd: *mut ibv_pd,
    address: u64,
    length: u64,
    access: u32,
) -> Result {
    // SAFETY: the caller's promise.
    let this = unsafe { Mr::from_abi(mr) };
    this.inner.users.require_none()?;
    let mut state = this.state.lock().unwrap_or_else(PoisonError::into_inner);
    let has = |flag: c_int| flags & flag != 0;
    let moves = has(IBV_REREG_MR_CHANGE_TRANSLATION);
    let old = this.inner.region();
    let access = if has(IBV_REREG_MR_CHANGE_ACCESS) {
        access
    } else {
        old.access
    };
    let wish = Wish {
        address: if moves { address } else { old.address },
        length: if moves { length } else { old.length },
        iova: if moves {
            base(address, access)
        } else {
            old.iova
        },
        access,
    };
    wish.check()?;
    wish.pin()?;
    // SAFETY: the caller's promise; the region's own one lives as long as it.
    let pd = unsafe {
        let pd = if has(IBV_REREG_MR_CHANGE_PD) {
            pd
        } else {
            (*mr).pd
        };
        Pd::from_abi(pd)
    };
    let region = wish.region(pd);
    let process = this.context.process;
    let (processes, key) = (process.fabric.processes(), this.abi.lkey);
    process
        .own_segment()
        .change(processes, key, key, &region, PATIENT)
        .map_err(|_| Errno::EBUSY)?;
    this.inner.set_region(region);
    state.pd = UseGuard::new(&pd.users);
    if moves {
        state.buffer = None;
    }
    // SAFETY: the application uses nothing of the region meanwhile.
    unsafe {
        (*mr).pd = std::ptr::from_ref(pd).cast_mut().cast();
        (*mr).addr = region.address as *mut c_void;
        (*mr).length = region.length as usize;
    }
    Ok(())
}

/// A region of all addresses that reads as zeros and forgets what is written.
///
/// # Safety
/// `pd` is a protection domain of this device.
pub unsafe extern "C" fn alloc_null_mr(pd: *mut ibv_pd) -> *mut ibv_mr {
    // SAFETY: the caller's promise.
    let null = unsafe { Pd::checked(pd) }.and_then(|pd| {
        let region = Region {
            address: 0,
            length: u64::MAX,
            iova: 0,
            access: IBV_ACCESS_LOCAL_WRITE | NULL_REGION,
            pd: pd.key,
            segment_offset: None,
            qpn: None,
        };
        publish(pd, region, None)
    });
    pointer(null)
}

/// Pages are present already, so advice has nothing to do but to be checked.
///
/// # Safety
/// None is needed.
pub unsafe extern "C" fn advise_mr(
    _pd: *mut ibv_pd,
    _advice: ibv_advise_mr_advice,
    _flags: u32,
    _list: *mut ibv_sge,
    _count: u32,
) -> c_int {
    code(Err(Errno::EOPNOTSUPP))
}

//! Protection domains, thread domains and parent domains (ibv_alloc_pd(3), ibv_alloc_td(3), ibv_alloc_parent_domain(3)).
//!
//! A parent domain is a protection domain with a thread domain, or without. Its allocators are never called: the queues lie
//! in memory that other processes reach, which an application's allocator does not have.

use std::ffi::c_int;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_verbs_abi::*;

use super::context::Context;
use crate::call::{Errno, Result, code, pointer, require};
use crate::fault::Call;
use crate::uar::{self, Counted, Object, Sharing};
use crate::users::{UseCount, UseGuard};

/// A protection domain, or a parent domain.
#[repr(C)]
pub struct Pd {
    abi: ibv_pd,
    /// What memory regions and queue pairs compare: the number of the protection domain, of a parent domain that of the
    /// one it was made from.
    pub key: u32,
    pub context: &'static Context,
    pub users: UseCount,
    parent: Option<Parent>,
    _counted: Option<Counted>,
}

struct Parent {
    domain: Option<uar::ThreadDomain>,
    _pd: UseGuard,
    _td: Option<UseGuard>,
}

#[repr(C)]
pub struct Td {
    abi: ibv_td,
    users: UseCount,
    domain: Mutex<Option<uar::ThreadDomain>>,
}

impl Pd {
    /// # Safety
    /// `pd` is a protection or parent domain that is not freed while the result is used.
    pub unsafe fn from_abi(pd: *mut ibv_pd) -> &'static Pd {
        // SAFETY: each begins with the public structure.
        unsafe { &*pd.cast::<Pd>() }
    }

    pub fn thread_domain(&self) -> Option<&uar::ThreadDomain> {
        self.parent.as_ref()?.domain.as_ref()
    }

    /// As [`Pd::from_abi`], refusing null.
    ///
    /// # Safety
    /// As of [`Pd::from_abi`], unless it is null.
    pub unsafe fn checked(pd: *mut ibv_pd) -> Result<&'static Pd> {
        require(!pd.is_null(), Errno::EINVAL)?;
        // SAFETY: not null; the caller's promise.
        Ok(unsafe { Pd::from_abi(pd) })
    }

    fn make(context: &'static Context, key: u32, parent: Option<Parent>) -> *mut ibv_pd {
        let counted = parent
            .is_none()
            .then(|| context.uar.count(Object::ProtectionDomain));
        let pd = Pd {
            abi: ibv_pd {
                context: context.as_abi(),
                handle: key,
            },
            key,
            context,
            users: UseCount::default(),
            parent,
            _counted: counted,
        };
        Box::into_raw(Box::new(pd)).cast()
    }
}

/// # Safety
/// `context` is open.
pub unsafe extern "C" fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
    /// Number 0 is no domain's.
    static NEXT: AtomicU32 = AtomicU32::new(1);
    // SAFETY: the caller's promise.
    let context = unsafe { Context::from_abi(context) };
    pointer(
        context
            .inject_fault(Call::AllocPd)
            .map(|()| Pd::make(context, NEXT.fetch_add(1, Ordering::Relaxed), None)),
    )
}

/// # Safety
/// `pd` came from [`ibv_alloc_pd`] or [`alloc_parent_domain`].
pub unsafe extern "C" fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: the caller's promise.
    let result = unsafe { Pd::from_abi(pd) }.users.require_none();
    code(result.map(|()| {
        // SAFETY: it was made by `Pd::make`, and nobody stands on it.
        drop(unsafe { Box::from_raw(pd.cast::<Pd>()) });
    }))
}

/// # Safety
/// `context` is open, `attributes` readable.
pub unsafe extern "C" fn alloc_td(
    context: *mut ibv_context,
    attributes: *mut ibv_td_init_attr,
) -> *mut ibv_td {
    // SAFETY: the caller's promise.
    let (context, result) = unsafe { (Context::from_abi(context), sharing(attributes)) };
    let domain = result.and_then(|sharing| {
        context.inject_fault(Call::AllocTd)?;
        Ok(context.uar.alloc_td(sharing)?)
    });
    pointer(domain.map(|domain| {
        let td = Td {
            abi: ibv_td {
                context: context.as_abi(),
            },
            users: UseCount::default(),
            domain: Mutex::new(Some(domain)),
        };
        Box::into_raw(Box::new(td)).cast()
    }))
}

/// # Safety
/// `attributes` is readable, for both fields of the longer structure if `comp_mask` says that it is one.
unsafe fn sharing(attributes: *mut ibv_td_init_attr) -> Result<Option<Sharing>> {
    // SAFETY: the caller's promise.
    match unsafe { (*attributes).comp_mask } {
        0 => Ok(None),
        SOFTRDMA_TD_INIT_ATTR_SHARING => {
            // SAFETY: the caller's promise.
            let level = unsafe { (*attributes.cast::<softrdma_td_init_attr>()).sharing };
            Sharing::from_level(level).map(Some).ok_or(Errno::EINVAL)
        }
        _ => Err(Errno::EINVAL),
    }
}

/// EBUSY while a parent domain holds it.
///
/// # Safety
/// `td` came from [`alloc_td`].
pub unsafe extern "C" fn dealloc_td(td: *mut ibv_td) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { &*td.cast::<Td>() };
    let result = this.users.require_none().and_then(|()| this.give_up());
    code(result.map(|()| {
        // SAFETY: it was made by `alloc_td`, and no parent domain holds it.
        drop(unsafe { Box::from_raw(td.cast::<Td>()) });
    }))
}

impl Td {
    fn give_up(&self) -> Result {
        let mut domain = self.domain.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(leased) = domain.take() else {
            return Ok(());
        };
        leased.dealloc().map_err(|(error, leased)| {
            *domain = Some(leased);
            Errno::from(error)
        })
    }
}

/// # Safety
/// `context` is open, `attributes` readable and what it points to alive.
pub unsafe extern "C" fn alloc_parent_domain(
    context: *mut ibv_context,
    attributes: *mut ibv_parent_domain_init_attr,
) -> *mut ibv_pd {
    const KNOWN: u32 =
        IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
    // SAFETY: the caller's promise.
    let (context, attributes) = unsafe { (Context::from_abi(context), &*attributes) };
    let both = |a: bool, b: bool| a == b;
    let wanted = attributes.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS != 0;
    let valid = attributes.comp_mask & !KNOWN == 0
        && (!wanted || both(attributes.alloc.is_some(), attributes.free.is_some()));
    pointer(require(valid, Errno::EINVAL).and_then(|()| {
        // SAFETY: the caller's promise.
        let pd = unsafe { Pd::checked(attributes.pd) }?;
        require(pd.parent.is_none(), Errno::EINVAL)?;
        // SAFETY: null, or a thread domain.
        let td = unsafe { attributes.td.cast::<Td>().as_ref() };
        let lock = |td: &Td| {
            td.domain
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        };
        let parent = Parent {
            domain: td.and_then(lock),
            _pd: UseGuard::new(&pd.users),
            _td: td.map(|td| UseGuard::new(&td.users)),
        };
        Ok(Pd::make(context, pd.key, Some(parent)))
    }))
}

impl From<uar::Error> for Errno {
    fn from(error: uar::Error) -> Errno {
        Errno(error.errno())
    }
}

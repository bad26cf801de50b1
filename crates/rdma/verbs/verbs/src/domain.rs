//! Protection domains, thread domains, parent domains (ibv_alloc_pd(3), ibv_alloc_td(3), ibv_alloc_parent_domain(3)).

use std::cell::Cell;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use weft_verbs_abi::inline::{ibv_alloc_parent_domain, ibv_alloc_td, ibv_dealloc_td};
use weft_verbs_abi::{
    SOFTRDMA_TD_INIT_ATTR_SHARING, ibv_parent_domain_init_attr, ibv_pd, ibv_td, ibv_td_init_attr,
    softrdma_td_init_attr,
};

use crate::error::destroyed;
use crate::{Context, Error};

/// What queue pairs are made in.
///
/// # Safety
/// [`as_abi`](Domain::as_abi) gives the same domain each time, of the context of
/// [`protection_domain`](Domain::protection_domain), and it lives as long as the value. If it has a thread domain, then what holds
/// it is not `Sync`, and is `Send` only if it is the only one that holds it.
pub unsafe trait Domain {
    fn as_abi(&self) -> *mut ibv_pd;
    fn protection_domain(&self) -> &ProtectionDomain;
}

/// Isolates what is made in it from other domains' objects. Clones are the same domain.
#[derive(Clone)]
pub struct ProtectionDomain {
    inner: Arc<Inner>,
}

struct Inner {
    raw: *mut ibv_pd,
    context: Context,
}

// SAFETY: libibverbs' calls on a protection domain may come from all threads at once.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: it was allocated in this context, and all that was made in it kept it.
        let answer = unsafe { (self.context.library().dealloc_pd)(self.raw) };
        destroyed("ibv_dealloc_pd", answer, || self.context.name().into());
    }
}

impl ProtectionDomain {
    pub fn new(context: &Context) -> Result<ProtectionDomain, Error> {
        // SAFETY: an open context.
        let raw = unsafe { (context.library().alloc_pd)(context.as_abi()) };
        if raw.is_null() {
            return Err(Error::last("ibv_alloc_pd", context.name()));
        }
        let context = context.clone();
        Ok(ProtectionDomain {
            inner: Arc::new(Inner { raw, context }),
        })
    }

    pub fn context(&self) -> &Context {
        &self.inner.context
    }
}

// SAFETY: kept by the value, and without a thread domain.
unsafe impl Domain for ProtectionDomain {
    fn as_abi(&self) -> *mut ibv_pd {
        self.inner.raw
    }

    fn protection_domain(&self) -> &ProtectionDomain {
        self
    }
}

/// The promise that what is made in it is used by one thread at a time. On mlx5, a uUAR of its own.
pub struct ThreadDomain {
    raw: *mut ibv_td,
    context: Context,
}

// SAFETY: it may be freed by another thread than allocated it. It is not `Sync`: the pointer sees to that.
unsafe impl Send for ThreadDomain {}

impl ThreadDomain {
    /// Of the level of sharing that the library chooses; mlx5 knows level 2 only.
    pub fn new(context: &Context) -> Result<ThreadDomain, Error> {
        let mut attributes = softrdma_td_init_attr {
            base: ibv_td_init_attr { comp_mask: 0 },
            sharing: 0,
        };
        ThreadDomain::allocate(context, &mut attributes)
    }

    /// Of level 1, a UAR page of its own, or 2, a uUAR of its own on a page that another domain may be on (Zambre 2018 §V-B).
    /// `EINVAL` from libraries that know no such attribute: rdma-core's.
    pub fn with_sharing(context: &Context, level: u32) -> Result<ThreadDomain, Error> {
        let mut attributes = softrdma_td_init_attr {
            base: ibv_td_init_attr {
                comp_mask: SOFTRDMA_TD_INIT_ATTR_SHARING,
            },
            sharing: level,
        };
        ThreadDomain::allocate(context, &mut attributes)
    }

    fn allocate(
        context: &Context,
        attributes: &mut softrdma_td_init_attr,
    ) -> Result<ThreadDomain, Error> {
        // SAFETY: an open context; the attributes begin with those of C.
        let raw = unsafe {
            let attributes: *mut softrdma_td_init_attr = attributes;
            ibv_alloc_td(context.as_abi(), attributes.cast())
        };
        if raw.is_null() {
            return Err(Error::last("ibv_alloc_td", context.name()));
        }
        let context = context.clone();
        Ok(ThreadDomain { raw, context })
    }
}

impl Drop for ThreadDomain {
    fn drop(&mut self) {
        // SAFETY: allocated in this context, and in no parent domain: that would own it.
        let answer = unsafe { ibv_dealloc_td(self.raw) };
        destroyed("ibv_dealloc_td", answer, || self.context.name().into());
    }
}

/// A protection domain with a thread domain, or without. What is made in it by value is the only user of the thread domain and may
/// go to another thread; what is made in an `Rc` of it, or a reference to it, stays on one thread.
pub struct ParentDomain {
    raw: *mut ibv_pd,
    _thread_domain: Option<ThreadDomain>,
    domain: ProtectionDomain,
    _one_thread: PhantomData<Cell<()>>,
}

// SAFETY: it may be used and freed by another thread than allocated it, one at a time.
unsafe impl Send for ParentDomain {}

impl ParentDomain {
    /// `EINVAL` if the two are of different contexts.
    pub fn new(
        domain: &ProtectionDomain,
        thread_domain: Option<ThreadDomain>,
    ) -> Result<ParentDomain, Error> {
        const CALL: &str = "ibv_alloc_parent_domain";
        let context = domain.context();
        let foreign = |td: &ThreadDomain| !td.context.is(context);
        if thread_domain.as_ref().is_some_and(foreign) {
            return Err(Error::new(CALL, context.name(), libc::EINVAL));
        }
        let td = thread_domain
            .as_ref()
            .map_or(std::ptr::null_mut(), |td| td.raw);
        let mut attributes = ibv_parent_domain_init_attr {
            pd: domain.as_abi(),
            td,
            ..Default::default()
        };
        // SAFETY: all are alive and of one context.
        let raw = unsafe { ibv_alloc_parent_domain(context.as_abi(), &mut attributes) };
        if raw.is_null() {
            return Err(Error::last(CALL, context.name()));
        }
        Ok(ParentDomain {
            raw,
            _thread_domain: thread_domain,
            domain: domain.clone(),
            _one_thread: PhantomData,
        })
    }
}

impl Drop for ParentDomain {
    fn drop(&mut self) {
        let context = self.domain.context();
        // SAFETY: allocated in this context, and all that was made in it kept it. Its parts are dropped after it.
        let answer = unsafe { (context.library().dealloc_pd)(self.raw) };
        destroyed("ibv_dealloc_pd", answer, || context.name().into());
    }
}

// SAFETY: not `Sync`, and `Send` because there is only one of it.
unsafe impl Domain for ParentDomain {
    fn as_abi(&self) -> *mut ibv_pd {
        self.raw
    }

    fn protection_domain(&self) -> &ProtectionDomain {
        &self.domain
    }
}

/// The domain of queue pairs that are made by any thread and used by one at a time, as those of a lane are by the holder of its section.
/// Clones are the same domain.
#[derive(Clone)]
pub struct SerialDomain {
    promised: Option<Arc<Promised>>,
    domain: ProtectionDomain,
}

struct Promised(ParentDomain);

// SAFETY: the maker of the domain promised that what is made in it is used by one thread at a time; making queue pairs only reads
// the domain, and it is freed once.
unsafe impl Send for Promised {}
// SAFETY: as above.
unsafe impl Sync for Promised {}

impl SerialDomain {
    /// Without a thread domain: queue pairs have locks, and nothing is promised.
    pub fn locked(domain: ProtectionDomain) -> SerialDomain {
        SerialDomain {
            promised: None,
            domain,
        }
    }

    /// With the thread domain of `parent`.
    ///
    /// # Safety
    /// All queue pairs made in it or in its clones are posted to by one thread at a time, although their type would allow more.
    pub unsafe fn promised(parent: ParentDomain) -> SerialDomain {
        SerialDomain {
            domain: parent.domain.clone(),
            promised: Some(Arc::new(Promised(parent))),
        }
    }
}

// SAFETY: kept by the value; who made one with a thread domain promised what the trait asks of holders.
unsafe impl Domain for SerialDomain {
    fn as_abi(&self) -> *mut ibv_pd {
        match &self.promised {
            Some(promised) => promised.0.as_abi(),
            None => self.domain.as_abi(),
        }
    }

    fn protection_domain(&self) -> &ProtectionDomain {
        &self.domain
    }
}

/// Pointers to a domain. That of a domain which is not `Sync` is neither `Send` nor `Sync`.
macro_rules! pointers {
    ($($pointer:ty,)*) => {
        $(
            // SAFETY: as of what it points to, which it keeps.
            unsafe impl<D: Domain> Domain for $pointer {
                fn as_abi(&self) -> *mut ibv_pd {
                    (**self).as_abi()
                }

                fn protection_domain(&self) -> &ProtectionDomain {
                    (**self).protection_domain()
                }
            }
        )*
    };
}

pointers! { &D, Rc<D>, Arc<D>, }

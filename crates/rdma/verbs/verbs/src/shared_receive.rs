//! Shared receive queues (ibv_create_srq(3), ibv_create_srq_ex(3)).

use std::ptr::null_mut;
use std::sync::Arc;

use weft_verbs_abi::inline::{ibv_get_srq_num, ibv_post_srq_recv};
use weft_verbs_abi::*;

use crate::error::{check, destroyed};
use crate::{
    CompletionQueue, Completions, Context, Domain, Error, PostError, ProtectionDomain, ReceiveList,
    XrcDomain,
};

/// A receive queue of several queue pairs. It has a lock. Clones are the same queue.
#[derive(Clone)]
pub struct SharedReceiveQueue {
    inner: Arc<Inner>,
}

struct Inner {
    raw: *mut ibv_srq,
    /// What an XRC queue reports to, and the domain by which senders reach it.
    _xrc: Option<(XrcDomain, CompletionQueue)>,
    domain: ProtectionDomain,
}

// SAFETY: the library takes the queue's lock.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        let context = self.domain.context();
        // SAFETY: created in this context, and its queue pairs kept it.
        let answer = unsafe { (context.library().destroy_srq)(self.raw) };
        destroyed("ibv_destroy_srq", answer, || context.name().into());
    }
}

impl SharedReceiveQueue {
    /// With room for at least `depth` buffers.
    pub fn new(domain: &ProtectionDomain, depth: u32) -> Result<SharedReceiveQueue, Error> {
        let context = domain.context();
        let mut attributes = ibv_srq_init_attr {
            attr: size(depth),
            ..Default::default()
        };
        // SAFETY: alive.
        let raw = unsafe { (context.library().create_srq)(domain.as_abi(), &mut attributes) };
        SharedReceiveQueue::made("ibv_create_srq", raw, domain, None)
    }

    /// One that senders of an XRC domain reach by its [`number`](SharedReceiveQueue::number).
    pub fn in_xrc_domain(
        domain: &ProtectionDomain,
        xrc: &XrcDomain,
        completions: &CompletionQueue,
        depth: u32,
    ) -> Result<SharedReceiveQueue, Error> {
        let context = domain.context();
        let mut attributes = ibv_srq_init_attr_ex {
            attr: size(depth),
            comp_mask: IBV_SRQ_INIT_ATTR_TYPE
                | IBV_SRQ_INIT_ATTR_PD
                | IBV_SRQ_INIT_ATTR_XRCD
                | IBV_SRQ_INIT_ATTR_CQ,
            srq_type: IBV_SRQT_XRC,
            pd: domain.as_abi(),
            xrcd: xrc.as_abi(),
            cq: completions.as_abi(),
            ..Default::default()
        };
        // SAFETY: all are alive.
        let raw = unsafe {
            context
                .library()
                .create_srq_ex(context.as_abi(), &mut attributes)
        };
        let kept = Some((xrc.clone(), completions.clone()));
        SharedReceiveQueue::made("ibv_create_srq_ex", raw, domain, kept)
    }

    fn made(
        call: &'static str,
        raw: *mut ibv_srq,
        domain: &ProtectionDomain,
        xrc: Option<(XrcDomain, CompletionQueue)>,
    ) -> Result<SharedReceiveQueue, Error> {
        if raw.is_null() {
            return Err(Error::last(call, domain.context().name()));
        }
        Ok(SharedReceiveQueue {
            inner: Arc::new(Inner {
                raw,
                _xrc: xrc,
                domain: domain.clone(),
            }),
        })
    }

    pub(crate) fn as_abi(&self) -> *mut ibv_srq {
        self.inner.raw
    }

    pub fn context(&self) -> &Context {
        self.inner.domain.context()
    }

    /// Posts a list by one call. `ENOMEM` when the queue is full.
    #[inline]
    pub fn post(&self, list: &mut ReceiveList) -> Result<(), PostError> {
        let first = list.first();
        if first.is_null() {
            return Ok(());
        }
        let mut refused = null_mut();
        // SAFETY: alive; the list is linked and ends.
        match unsafe { ibv_post_srq_recv(self.inner.raw, first, &mut refused) } {
            0 => Ok(()),
            errno => Err(PostError {
                posted: list.index_of(refused),
                error: Error::new("ibv_post_srq_recv", self.context().name(), errno),
            }),
        }
    }

    /// By which senders name an XRC queue.
    pub fn number(&self) -> Result<u32, Error> {
        let mut number = 0;
        // SAFETY: alive, and writable.
        let answer = unsafe { ibv_get_srq_num(self.inner.raw, &mut number) };
        check("ibv_get_srq_num", answer, || self.context().name().into())?;
        Ok(number)
    }
}

fn size(depth: u32) -> ibv_srq_attr {
    ibv_srq_attr {
        max_wr: depth,
        max_sge: 1,
        srq_limit: 0,
    }
}

//! Extended reliable connections: one receiving queue pair for all processes of a host (ibv_open_xrcd(3)).

use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use weft_verbs_abi::inline::{ibv_close_xrcd, ibv_open_qp, ibv_open_xrcd};
use weft_verbs_abi::*;

use crate::error::{check, destroyed};
use crate::{Connection, Context, Error};

/// Clones are the same domain.
#[derive(Clone)]
pub struct XrcDomain {
    inner: Arc<Inner>,
}

struct Inner {
    raw: *mut ibv_xrcd,
    context: Context,
}

// SAFETY: libibverbs' calls on a domain may come from all threads at once.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: opened in this context, and what was made in it kept it.
        let answer = unsafe { ibv_close_xrcd(self.raw) };
        destroyed("ibv_close_xrcd", answer, || self.context.name().into());
    }
}

impl XrcDomain {
    /// The domain of a file, the same for all processes that open it with that file, or one of this process alone.
    pub fn open(context: &Context, file: Option<BorrowedFd<'_>>) -> Result<XrcDomain, Error> {
        let mut attributes = ibv_xrcd_init_attr {
            comp_mask: IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
            fd: file.map_or(-1, |file| file.as_raw_fd()),
            oflags: libc::O_CREAT,
        };
        // SAFETY: an open context, and readable.
        let raw = unsafe { ibv_open_xrcd(context.as_abi(), &mut attributes) };
        if raw.is_null() {
            return Err(Error::last("ibv_open_xrcd", context.name()));
        }
        let context = context.clone();
        Ok(XrcDomain {
            inner: Arc::new(Inner { raw, context }),
        })
    }

    pub(crate) fn as_abi(&self) -> *mut ibv_xrcd {
        self.inner.raw
    }

    pub fn context(&self) -> &Context {
        &self.inner.context
    }
}

/// The receiving side: it has no queues, what arrives goes to the shared receive queue that the sender names.
pub struct XrcReceiveQueuePair {
    raw: *mut ibv_qp,
    domain: XrcDomain,
}

// SAFETY: libibverbs' calls on it may come from all threads at once.
unsafe impl Send for XrcReceiveQueuePair {}
// SAFETY: as above.
unsafe impl Sync for XrcReceiveQueuePair {}

impl XrcReceiveQueuePair {
    pub fn new(domain: &XrcDomain) -> Result<XrcReceiveQueuePair, Error> {
        let context = domain.context();
        let mut attributes = ibv_qp_init_attr_ex {
            qp_type: IBV_QPT_XRC_RECV,
            comp_mask: IBV_QP_INIT_ATTR_XRCD,
            xrcd: domain.as_abi(),
            ..Default::default()
        };
        // SAFETY: alive, and readable.
        let raw = unsafe {
            context
                .library()
                .create_qp_ex(context.as_abi(), &mut attributes)
        };
        XrcReceiveQueuePair::made("ibv_create_qp_ex", raw, domain)
    }

    /// One that another process of the domain created; it lives until its last opener is gone.
    pub fn open(domain: &XrcDomain, number: u32) -> Result<XrcReceiveQueuePair, Error> {
        let mut attributes = ibv_qp_open_attr {
            comp_mask: IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
            qp_num: number,
            xrcd: domain.as_abi(),
            qp_type: IBV_QPT_XRC_RECV,
            ..Default::default()
        };
        // SAFETY: alive, and readable.
        let raw = unsafe { ibv_open_qp(domain.context().as_abi(), &mut attributes) };
        XrcReceiveQueuePair::made("ibv_open_qp", raw, domain)
    }

    fn made(
        call: &'static str,
        raw: *mut ibv_qp,
        domain: &XrcDomain,
    ) -> Result<XrcReceiveQueuePair, Error> {
        if raw.is_null() {
            return Err(Error::last(call, domain.context().name()));
        }
        let domain = domain.clone();
        Ok(XrcReceiveQueuePair { raw, domain })
    }

    pub fn number(&self) -> u32 {
        // SAFETY: alive; the field does not change.
        unsafe { (*self.raw).qp_num }
    }

    /// From reset to ready, connected to a sender.
    pub fn connect(&self, connection: &Connection) -> Result<(), Error> {
        let context = self.domain.context();
        for (mut attributes, mask) in connection.steps(IBV_QPT_XRC_RECV) {
            // SAFETY: alive, and readable.
            let answer = unsafe { (context.library().modify_qp)(self.raw, &mut attributes, mask) };
            check("ibv_modify_qp", answer, || context.name().into())?;
        }
        Ok(())
    }
}

impl XrcReceiveQueuePair {
    /// In what state it is, and whose packets it takes.
    pub fn query(&self) -> Result<ibv_qp_attr, Error> {
        let context = self.domain.context();
        let (mut attributes, mut initial) = (ibv_qp_attr::default(), ibv_qp_init_attr::default());
        let mask = (IBV_QP_STATE | IBV_QP_DEST_QPN) as std::ffi::c_int;
        // SAFETY: alive, and writable.
        let answer =
            unsafe { (context.library().query_qp)(self.raw, &mut attributes, mask, &mut initial) };
        check("ibv_query_qp", answer, || context.name().into())?;
        Ok(attributes)
    }
}

impl Drop for XrcReceiveQueuePair {
    fn drop(&mut self) {
        let context = self.domain.context();
        // SAFETY: created or opened in this context.
        let answer = unsafe { (context.library().destroy_qp)(self.raw) };
        destroyed("ibv_destroy_qp", answer, || context.name().into());
    }
}

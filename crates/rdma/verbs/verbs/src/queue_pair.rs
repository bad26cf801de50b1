//! Queue pairs: making and posting (ibv_create_qp(3), ibv_post_send(3), ibv_post_recv(3)).

use std::ptr::null_mut;

use weft_verbs_abi::inline::{ibv_post_recv, ibv_post_send};
use weft_verbs_abi::*;

use crate::error::destroyed;
use crate::{
    CompletionQueue, Completions, Domain, Error, PostError, ProtectionDomain, ReceiveList,
    SendList, SharedReceiveQueue,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QpType {
    /// Reliable connection.
    Rc,
    /// Unreliable connection.
    Uc,
    /// Unreliable datagrams.
    Ud,
    /// The sending side of extended reliable connections.
    XrcSend,
}

impl QpType {
    fn as_abi(self) -> ibv_qp_type {
        match self {
            QpType::Rc => IBV_QPT_RC,
            QpType::Uc => IBV_QPT_UC,
            QpType::Ud => IBV_QPT_UD,
            QpType::XrcSend => IBV_QPT_XRC_SEND,
        }
    }
}

/// What a queue pair is made with.
#[derive(Clone, Debug)]
pub struct QueuePairAttributes {
    pub kind: QpType,
    /// Requests that each queue has room for.
    pub send_depth: u32,
    pub receive_depth: u32,
    /// Bytes that can be sent inline.
    pub inline_bytes: u32,
    /// A completion for each request, whatever it says.
    pub signal_all: bool,
}

impl Default for QueuePairAttributes {
    fn default() -> QueuePairAttributes {
        QueuePairAttributes {
            kind: QpType::Rc,
            send_depth: 128,
            receive_depth: 1,
            inline_bytes: 0,
            signal_all: false,
        }
    }
}

/// A queue pair in domain `D` that reports to `C`. Whether it is `Send` and `Sync` follows from the two.
pub struct QueuePair<D: Domain = ProtectionDomain, C: Completions = CompletionQueue> {
    raw: *mut ibv_qp,
    kind: QpType,
    inline_bytes: u32,
    _shared_receive: Option<SharedReceiveQueue>,
    send_queue: C,
    receive_queue: C,
    domain: D,
}

// SAFETY: the library takes its locks unless one of the two promised not to be shared; then that one's type says so.
unsafe impl<D: Domain + Send, C: Completions + Send> Send for QueuePair<D, C> {}
// SAFETY: as above.
unsafe impl<D: Domain + Sync, C: Completions + Sync> Sync for QueuePair<D, C> {}

impl<D: Domain, C: Completions> QueuePair<D, C> {
    /// Reports sends to one queue and receives to the other; receives from `shared_receive`, if there is one. `EINVAL` if they are of
    /// different contexts.
    pub fn new(
        domain: D,
        send_queue: C,
        receive_queue: C,
        shared_receive: Option<&SharedReceiveQueue>,
        attributes: &QueuePairAttributes,
    ) -> Result<QueuePair<D, C>, Error> {
        const CALL: &str = "ibv_create_qp";
        let context = domain.protection_domain().context();
        let near = |other| context.is(other);
        let srq_is_near = shared_receive.is_none_or(|srq| near(srq.context()));
        if !near(send_queue.context()) || !near(receive_queue.context()) || !srq_is_near {
            return Err(Error::new(CALL, context.name(), libc::EINVAL));
        }
        let mut initial = ibv_qp_init_attr_ex {
            send_cq: send_queue.as_abi(),
            recv_cq: receive_queue.as_abi(),
            srq: shared_receive.map_or(null_mut(), SharedReceiveQueue::as_abi),
            cap: capacity(attributes),
            qp_type: attributes.kind.as_abi(),
            sq_sig_all: i32::from(attributes.signal_all),
            comp_mask: IBV_QP_INIT_ATTR_PD,
            pd: domain.as_abi(),
            ..Default::default()
        };
        // SAFETY: all objects are alive and of this context.
        let raw = unsafe {
            context
                .library()
                .create_qp_ex(context.as_abi(), &mut initial)
        };
        if raw.is_null() {
            return Err(Error::last(CALL, context.name()));
        }
        Ok(QueuePair {
            raw,
            kind: attributes.kind,
            inline_bytes: initial.cap.max_inline_data,
            _shared_receive: shared_receive.cloned(),
            send_queue,
            receive_queue,
            domain,
        })
    }

    pub fn as_abi(&self) -> *mut ibv_qp {
        self.raw
    }

    pub fn kind(&self) -> QpType {
        self.kind
    }

    pub fn number(&self) -> u32 {
        // SAFETY: alive; the field does not change.
        unsafe { (*self.raw).qp_num }
    }

    /// Bytes that can be sent inline: at least what was asked for.
    pub fn inline_bytes(&self) -> u32 {
        self.inline_bytes
    }

    pub fn domain(&self) -> &D {
        &self.domain
    }

    pub fn send_queue(&self) -> &C {
        &self.send_queue
    }

    pub fn receive_queue(&self) -> &C {
        &self.receive_queue
    }

    /// Posts a list by one call. `ENOMEM` when the queue is full.
    #[inline]
    pub fn post_send(&self, list: &mut SendList) -> Result<(), PostError> {
        let first = list.first();
        if first.is_null() {
            return Ok(());
        }
        let mut refused = null_mut();
        // SAFETY: alive; the list is linked, ends, and its regions are there: those that are inline are read now.
        match unsafe { ibv_post_send(self.raw, first, &mut refused) } {
            0 => Ok(()),
            errno => Err(self.refused("ibv_post_send", errno, list.index_of(refused))),
        }
    }

    /// Posts a list by one call. `ENOMEM` when the queue is full.
    #[inline]
    pub fn post_receive(&self, list: &mut ReceiveList) -> Result<(), PostError> {
        let first = list.first();
        if first.is_null() {
            return Ok(());
        }
        let mut refused = null_mut();
        // SAFETY: alive; the list is linked and ends.
        match unsafe { ibv_post_recv(self.raw, first, &mut refused) } {
            0 => Ok(()),
            errno => Err(self.refused("ibv_post_recv", errno, list.index_of(refused))),
        }
    }

    #[cold]
    fn refused(&self, call: &'static str, errno: i32, posted: usize) -> PostError {
        PostError {
            posted,
            error: Error::new(call, self.name(), errno),
        }
    }

    pub(crate) fn name(&self) -> String {
        let context = self.domain.protection_domain().context();
        format!("queue pair {:#x} of {}", self.number(), context.name())
    }
}

fn capacity(attributes: &QueuePairAttributes) -> ibv_qp_cap {
    ibv_qp_cap {
        max_send_wr: attributes.send_depth,
        max_recv_wr: attributes.receive_depth,
        max_send_sge: 1,
        max_recv_sge: 1,
        max_inline_data: attributes.inline_bytes,
    }
}

impl<D: Domain, C: Completions> Drop for QueuePair<D, C> {
    fn drop(&mut self) {
        let library = self.domain.protection_domain().context().library();
        let name = self.name();
        // SAFETY: created in this context; what it stands on is dropped after it.
        let answer = unsafe { (library.destroy_qp)(self.raw) };
        destroyed("ibv_destroy_qp", answer, || name);
    }
}

//! Work requests, built once and posted as often as wanted.

use std::ffi::c_int;
use std::ptr::null_mut;

use weft_verbs_abi::*;

use crate::{AddressHandle, MemoryRegion, Part, Remote};

/// What a request of a send queue does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Send,
    SendWithImmediate(u32),
    Write(Remote),
    WriteWithImmediate(Remote, u32),
    Read(Remote),
    /// On eight aligned bytes; what was there comes to the local ones.
    CompareSwap {
        remote: Remote,
        compare: u64,
        swap: u64,
    },
    /// As above.
    FetchAdd {
        remote: Remote,
        add: u64,
    },
}

impl Operation {
    fn opcode(self) -> ibv_wr_opcode {
        match self {
            Operation::Send => IBV_WR_SEND,
            Operation::SendWithImmediate(_) => IBV_WR_SEND_WITH_IMM,
            Operation::Write(_) => IBV_WR_RDMA_WRITE,
            Operation::WriteWithImmediate(..) => IBV_WR_RDMA_WRITE_WITH_IMM,
            Operation::Read(_) => IBV_WR_RDMA_READ,
            Operation::CompareSwap { .. } => IBV_WR_ATOMIC_CMP_AND_SWP,
            Operation::FetchAdd { .. } => IBV_WR_ATOMIC_FETCH_AND_ADD,
        }
    }

    fn write_to(self, request: &mut ibv_send_wr) {
        request.opcode = self.opcode();
        match self {
            Operation::Send => {}
            Operation::SendWithImmediate(immediate) => set_immediate(request, immediate),
            Operation::Write(remote) | Operation::Read(remote) => set_remote(request, remote),
            Operation::WriteWithImmediate(remote, immediate) => {
                set_remote(request, remote);
                set_immediate(request, immediate);
            }
            Operation::CompareSwap {
                remote,
                compare,
                swap,
            } => set_atomic(request, remote, compare, swap),
            Operation::FetchAdd { remote, add } => set_atomic(request, remote, add, 0),
        }
    }
}

fn set_immediate(request: &mut ibv_send_wr, immediate: u32) {
    request.immediate.imm_data = immediate.to_be();
}

fn set_remote(request: &mut ibv_send_wr, remote: Remote) {
    request.wr.rdma = ibv_send_wr_rdma {
        remote_addr: remote.address,
        rkey: remote.key,
    };
}

fn set_atomic(request: &mut ibv_send_wr, remote: Remote, compare_add: u64, swap: u64) {
    request.wr.atomic = ibv_send_wr_atomic {
        remote_addr: remote.address,
        compare_add,
        swap,
        rkey: remote.key,
    };
}

/// Requests for a send queue, posted by one call (Postlist). The list keeps the regions that its requests name.
///
/// # Invariants
/// `requests` and `elements` never move. The first `length` requests are linked in order, the last of them to nothing, and
/// each names one element: the one of its index.
pub struct SendList {
    requests: Box<[ibv_send_wr]>,
    elements: Box<[ibv_sge]>,
    length: usize,
    regions: Vec<MemoryRegion>,
    handles: Vec<AddressHandle>,
}

// SAFETY: its pointers are to memory of its own, and to what it keeps.
unsafe impl Send for SendList {}
// SAFETY: nothing is changed behind a shared reference.
unsafe impl Sync for SendList {}

impl SendList {
    /// With room for so many requests.
    pub fn with_room(requests: usize) -> SendList {
        SendList {
            requests: vec![ibv_send_wr::default(); requests].into(),
            elements: vec![ibv_sge::default(); requests].into(),
            length: 0,
            regions: Vec::new(),
            handles: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub fn clear(&mut self) {
        self.length = 0;
        self.regions.clear();
        self.handles.clear();
    }

    /// Adds a request on `part`: unsignalled, not inline, with number 0.
    ///
    /// # Panics
    /// If there is no room.
    pub fn push(&mut self, operation: Operation, part: Part<'_>) -> Request<'_> {
        let at = self.length;
        assert!(at < self.requests.len(), "a list of {at} requests is full");
        self.elements[at] = part.element();
        self.requests[at] = ibv_send_wr {
            sg_list: &raw mut self.elements[at],
            num_sge: 1,
            ..Default::default()
        };
        operation.write_to(&mut self.requests[at]);
        if at > 0 {
            self.requests[at - 1].next = &raw mut self.requests[at];
        }
        self.length += 1;
        if !self.regions.last().is_some_and(|last| last.is(part.region)) {
            self.regions.push(part.region.clone());
        }
        self.at(at)
    }

    /// The request of that index, to change it.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn at(&mut self, index: usize) -> Request<'_> {
        Request {
            request: &mut self.requests[..self.length][index],
            element: &mut self.elements[index],
            handles: &mut self.handles,
        }
    }

    /// The first, or null.
    #[inline]
    pub(crate) fn first(&mut self) -> *mut ibv_send_wr {
        match self.length {
            0 => null_mut(),
            _ => self.requests.as_mut_ptr(),
        }
    }

    /// How many stand before the one at `request`, which is one of the list's.
    pub(crate) fn index_of(&self, request: *mut ibv_send_wr) -> usize {
        let first = self.requests.as_ptr();
        (request.addr() - first.addr()) / size_of::<ibv_send_wr>()
    }
}

/// A request of a list.
pub struct Request<'l> {
    request: &'l mut ibv_send_wr,
    element: &'l mut ibv_sge,
    handles: &'l mut Vec<AddressHandle>,
}

impl Request<'_> {
    /// The number that its completion will have.
    #[inline]
    pub fn id(self, id: u64) -> Self {
        self.request.wr_id = id;
        self
    }

    /// Whether there will be a completion if it succeeds.
    #[inline]
    pub fn signalled(self, yes: bool) -> Self {
        self.flag(IBV_SEND_SIGNALED, yes)
    }

    /// Whether the data are copied when it is posted.
    #[inline]
    pub fn inlined(self, yes: bool) -> Self {
        self.flag(IBV_SEND_INLINE, yes)
    }

    /// Whether it waits for earlier reads.
    #[inline]
    pub fn fenced(self, yes: bool) -> Self {
        self.flag(IBV_SEND_FENCE, yes)
    }

    /// Whether it wakes a peer that armed its queue for solicited events.
    #[inline]
    pub fn solicited(self, yes: bool) -> Self {
        self.flag(IBV_SEND_SOLICITED, yes)
    }

    /// Another part in place of the one it has, of the same region.
    ///
    /// # Panics
    /// If it is of another region.
    #[inline]
    pub fn local(self, part: Part<'_>) -> Self {
        let element = part.element();
        assert_eq!(element.lkey, self.element.lkey, "a part of another region");
        *self.element = element;
        self
    }

    /// Another operation in place of the one it has.
    #[inline]
    pub fn operation(self, operation: Operation) -> Self {
        operation.write_to(self.request);
        self
    }

    /// Where a datagram goes.
    pub fn to(self, handle: &AddressHandle, queue_pair: u32, key: u32) -> Self {
        self.request.wr.ud = ibv_send_wr_ud {
            ah: handle.as_abi(),
            remote_qpn: queue_pair,
            remote_qkey: key,
        };
        self.handles.push(handle.clone());
        self
    }

    /// The shared receive queue of an XRC message.
    pub fn xrc(self, srq: u32) -> Self {
        self.request.qp_type.xrc.remote_srqn = srq;
        self
    }

    #[inline]
    fn flag(self, flag: ibv_send_flags, yes: bool) -> Self {
        match yes {
            true => self.request.send_flags |= flag,
            false => self.request.send_flags &= !flag,
        }
        self
    }
}

/// Buffers for a receive queue, posted by one call. The list keeps the regions that they are of; the caller keeps them until they
/// have completed.
///
/// # Invariants
/// As of [`SendList`].
pub struct ReceiveList {
    requests: Box<[ibv_recv_wr]>,
    elements: Box<[ibv_sge]>,
    length: usize,
    regions: Vec<MemoryRegion>,
}

// SAFETY: its pointers are to memory of its own.
unsafe impl Send for ReceiveList {}
// SAFETY: nothing is changed behind a shared reference.
unsafe impl Sync for ReceiveList {}

impl ReceiveList {
    /// With room for so many requests.
    pub fn with_room(requests: usize) -> ReceiveList {
        ReceiveList {
            requests: vec![ibv_recv_wr::default(); requests].into(),
            elements: vec![ibv_sge::default(); requests].into(),
            length: 0,
            regions: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        self.length = 0;
        self.regions.clear();
    }

    /// Adds a request that receives into `part`; its completion will have number `id`.
    ///
    /// # Panics
    /// If there is no room.
    pub fn push(&mut self, id: u64, part: Part<'_>) {
        let at = self.length;
        assert!(at < self.requests.len(), "a list of {at} requests is full");
        self.elements[at] = part.element();
        self.requests[at] = ibv_recv_wr {
            wr_id: id,
            next: null_mut(),
            sg_list: &raw mut self.elements[at],
            num_sge: 1 as c_int,
        };
        if at > 0 {
            self.requests[at - 1].next = &raw mut self.requests[at];
        }
        self.length += 1;
        if !self.regions.last().is_some_and(|last| last.is(part.region)) {
            self.regions.push(part.region.clone());
        }
    }

    /// The first, or null.
    pub(crate) fn first(&mut self) -> *mut ibv_recv_wr {
        match self.length {
            0 => null_mut(),
            _ => self.requests.as_mut_ptr(),
        }
    }

    /// How many stand before the one at `request`, which is one of the list's.
    pub(crate) fn index_of(&self, request: *mut ibv_recv_wr) -> usize {
        let first = self.requests.as_ptr();
        (request.addr() - first.addr()) / size_of::<ibv_recv_wr>()
    }
}

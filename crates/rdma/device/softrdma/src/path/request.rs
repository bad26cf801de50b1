//! A send work request as the data path sees it, whichever interface it came through.

use weft_verbs_abi::*;

use super::memory::{MemoryRegion, MemoryWindow};
use super::state::QpKind;
use crate::identity::Host;

/// What a work request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Send,
    SendWithImmediate,
    SendWithInvalidate,
    Write,
    WriteWithImmediate,
    Read,
    CompareAndSwap,
    FetchAndAdd,
    LocalInvalidate,
    BindWindow,
}

impl Operation {
    pub fn from_abi(opcode: ibv_wr_opcode) -> Option<Operation> {
        Some(match opcode {
            IBV_WR_SEND => Operation::Send,
            IBV_WR_SEND_WITH_IMM => Operation::SendWithImmediate,
            IBV_WR_SEND_WITH_INV => Operation::SendWithInvalidate,
            IBV_WR_RDMA_WRITE => Operation::Write,
            IBV_WR_RDMA_WRITE_WITH_IMM => Operation::WriteWithImmediate,
            IBV_WR_RDMA_READ => Operation::Read,
            IBV_WR_ATOMIC_CMP_AND_SWP => Operation::CompareAndSwap,
            IBV_WR_ATOMIC_FETCH_AND_ADD => Operation::FetchAndAdd,
            IBV_WR_LOCAL_INV => Operation::LocalInvalidate,
            IBV_WR_BIND_MW => Operation::BindWindow,
            _ => return None,
        })
    }

    /// What [`from_abi`](Self::from_abi) makes it from.
    pub fn opcode(self) -> ibv_wr_opcode {
        match self {
            Operation::Send => IBV_WR_SEND,
            Operation::SendWithImmediate => IBV_WR_SEND_WITH_IMM,
            Operation::SendWithInvalidate => IBV_WR_SEND_WITH_INV,
            Operation::Write => IBV_WR_RDMA_WRITE,
            Operation::WriteWithImmediate => IBV_WR_RDMA_WRITE_WITH_IMM,
            Operation::Read => IBV_WR_RDMA_READ,
            Operation::CompareAndSwap => IBV_WR_ATOMIC_CMP_AND_SWP,
            Operation::FetchAndAdd => IBV_WR_ATOMIC_FETCH_AND_ADD,
            Operation::LocalInvalidate => IBV_WR_LOCAL_INV,
            Operation::BindWindow => IBV_WR_BIND_MW,
        }
    }

    /// The opcode of the sender's completion.
    #[inline]
    pub fn completion(self) -> ibv_wc_opcode {
        match self {
            Operation::Send | Operation::SendWithImmediate | Operation::SendWithInvalidate => {
                IBV_WC_SEND
            }
            Operation::Write | Operation::WriteWithImmediate => IBV_WC_RDMA_WRITE,
            Operation::Read => IBV_WC_RDMA_READ,
            Operation::CompareAndSwap => IBV_WC_COMP_SWAP,
            Operation::FetchAndAdd => IBV_WC_FETCH_ADD,
            Operation::LocalInvalidate => IBV_WC_LOCAL_INV,
            Operation::BindWindow => IBV_WC_BIND_MW,
        }
    }

    /// Whether queue pairs of this kind can do it (InfiniBand Architecture 1.6, table "Operations by transport
    /// service").
    #[inline]
    pub fn exists_in(self, kind: QpKind) -> bool {
        use Operation::*;
        match kind {
            QpKind::Rc | QpKind::XrcSend => true,
            QpKind::Uc => !matches!(
                self,
                Read | CompareAndSwap | FetchAndAdd | SendWithInvalidate
            ),
            QpKind::Ud => matches!(self, Send | SendWithImmediate),
            QpKind::XrcRecv => false,
        }
    }

    #[inline]
    pub fn is_send(self) -> bool {
        use Operation::*;
        matches!(self, Send | SendWithImmediate | SendWithInvalidate)
    }

    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(self, Operation::CompareAndSwap | Operation::FetchAndAdd)
    }

    /// Whether it writes to the sender's memory.
    #[inline]
    pub fn fetches(self) -> bool {
        self == Operation::Read || self.is_atomic()
    }

    /// Whether it concerns this adapter only.
    #[inline]
    pub fn is_local(self) -> bool {
        matches!(self, Operation::LocalInvalidate | Operation::BindWindow)
    }

    #[inline]
    pub fn has_immediate(self) -> bool {
        matches!(
            self,
            Operation::SendWithImmediate | Operation::WriteWithImmediate
        )
    }
}

/// Where an address handle leads.
pub struct AddressVector {
    pub attributes: ibv_ah_attr,
    pub host: Host,
}

/// Where a datagram goes.
#[derive(Clone, Copy)]
pub struct Datagram {
    /// None if the application named none.
    pub vector: Option<&'static AddressVector>,
    pub remote_qpn: u32,
    pub remote_qkey: u32,
}

/// A window to be bound.
#[derive(Clone, Copy)]
pub struct Binding {
    pub window: &'static MemoryWindow,
    pub rkey: u32,
    pub region: Option<&'static MemoryRegion>,
    pub address: u64,
    /// 0 unbinds.
    pub length: u64,
    pub access: u32,
}

/// What an operation needs besides its payload. The kind of operation and of queue pair say which one it is.
#[derive(Clone, Copy)]
pub enum Target {
    None,
    Memory {
        address: u64,
        rkey: u32,
    },
    Atomic {
        address: u64,
        rkey: u32,
        /// What is compared with or added.
        operand: u64,
        swap: u64,
    },
    Datagram(Datagram),
    Binding(Binding),
}

/// A work request without its payload.
#[derive(Clone, Copy)]
pub struct Request {
    pub wr_id: u64,
    pub operation: Operation,
    pub flags: ibv_send_flags,
    /// Immediate data as the user gave them, or the key to invalidate.
    pub immediate: u32,
    /// XRC: the receiver's shared receive queue.
    pub remote_srqn: u32,
    pub target: Target,
    /// The position in the send queue, which the completion brings back.
    pub index: u32,
}

impl Request {
    #[inline]
    pub fn has(&self, flag: ibv_send_flags) -> bool {
        self.flags & flag != 0
    }
}

/// What a request carries.
#[derive(Clone, Copy)]
pub enum Payload<'a> {
    /// Memory; with `IBV_SEND_INLINE` without keys.
    Elements(&'a [ibv_sge]),
    Inline(&'a [u8]),
}

impl Payload<'_> {
    #[inline]
    pub fn bytes(&self) -> u64 {
        match self {
            Payload::Elements(elements) => elements
                .iter()
                .map(|element| u64::from(element.length))
                .sum(),
            Payload::Inline(bytes) => bytes.len() as u64,
        }
    }
}

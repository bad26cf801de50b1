//! What lies where in the two kinds of segments. A change here is a change of [`VERSION`].
//!
//! The *fabric segment* is one for a user, a fabric name and a network namespace:
//! header, table of processes, XRC domains, UAR pages of each device, XRC receive queue pairs and their protocol's state.
//! A *process segment* is one for each process: header, mailbox, marks of visitors, tables of memory regions, queue pairs,
//! completion queues, shared receive queues, messages under way, then the heap with the rings and the memory of `ibv_alloc_buf`.
//! Tables have room for as many as their numbers can name; what is never used costs no memory.

use std::sync::atomic::{AtomicU32, AtomicU64};

use super::mailbox::MailboxRecord;
use super::mapping::Shared;
use super::numbers::{FABRIC_QPS, MAX_DEVICES, PROCESSES, QUEUES, RECEIVINGS, REGIONS, UAR_PAGES};
use super::processes::{PROCESS_SLOTS, ProcessSlot};
use super::record::completion::CqRecord;
use super::record::queue_pair::QpRecord;
use super::record::receive::{ReceivingRecord, SrqRecord};
use super::record::region::{MARKS, MrRecord, VisitRow};
use super::record::xrc::DomainTable;
use super::target::TargetRecord;

pub const FABRIC_MAGIC: u64 = u64::from_le_bytes(*b"softrdma");
pub const PROCESS_MAGIC: u64 = u64::from_le_bytes(*b"softrdmp");
pub const VERSION: u64 = 2;

/// First words of the fabric segment.
#[repr(C, align(4096))]
pub struct FabricHeader {
    /// [`FABRIC_MAGIC`], stored last by the maker.
    pub magic: AtomicU64,
    pub version: AtomicU64,
    /// Device and inode of the network namespace, which is what we call a host.
    pub host: [AtomicU64; 2],
    /// Of the fabric's name.
    pub name_hash: AtomicU64,
}

pub const PAGES_OF_DEVICE: u64 = size_of::<[AtomicU32; UAR_PAGES]>() as u64;

/// Offsets in the fabric segment.
pub mod fabric {
    use super::{
        DomainTable, FABRIC_QPS, MAX_DEVICES, PAGES_OF_DEVICE, PROCESS_SLOTS, PROCESSES,
        ProcessSlot, QpRecord, TargetRecord, align,
    };

    pub const DOMAINS: u64 =
        align(PROCESS_SLOTS + (size_of::<ProcessSlot>() * (PROCESSES + 1)) as u64);
    pub const PAGES: u64 = align(DOMAINS + size_of::<DomainTable>() as u64);
    pub const QPS: u64 = align(PAGES + PAGES_OF_DEVICE * MAX_DEVICES as u64);
    pub const TARGETS: u64 = align(QPS + size_of::<QpRecord>() as u64 * FABRIC_QPS);
    pub const BYTES: u64 = align(TARGETS + size_of::<TargetRecord>() as u64 * FABRIC_QPS);
}

/// First words of a process segment.
#[repr(C, align(4096))]
pub struct ProcessHeader {
    /// [`PROCESS_MAGIC`], then the slot's key: what a probe reads.
    pub magic: AtomicU64,
    pub key: AtomicU64,
    /// Where the figures of `uar` begin; 0 before there are any.
    pub figures: AtomicU64,
    /// Bits of the slots of processes that look regions up here (`regions`).
    pub visitors: [AtomicU64; 4],
    /// Events that did not fit into their channel's socket (`notify`).
    pub events_behind: AtomicU64,
    /// The highest index in use plus one, of memory regions.
    pub regions: AtomicU32,
}

/// Offsets in a process segment.
pub mod process {
    use super::{
        CqRecord, MailboxRecord, MrRecord, PROCESSES, QUEUES, QpRecord, ReceivingRecord, SrqRecord,
        VisitRow, align,
    };

    pub const MAILBOX: u64 = 4096;
    pub const ATOMICS: u64 = align(MAILBOX + size_of::<MailboxRecord>() as u64);
    pub const VISITS: u64 = align(ATOMICS + 4096);
    pub const QPS: u64 = align(VISITS + (size_of::<VisitRow>() * (PROCESSES + 1)) as u64);
    pub const CQS: u64 = align(QPS + size_of::<QpRecord>() as u64 * QUEUES);
    pub const SRQS: u64 = align(CQS + size_of::<CqRecord>() as u64 * QUEUES);
    pub const RECEIVINGS: u64 = align(SRQS + size_of::<SrqRecord>() as u64 * QUEUES);
    pub const REGIONS: u64 =
        align(RECEIVINGS + size_of::<ReceivingRecord>() as u64 * super::RECEIVINGS);
    pub const HEAP: u64 = align(REGIONS + size_of::<MrRecord>() as u64 * super::REGIONS);
    /// As far as a process segment can grow.
    pub const SPAN: u64 = 1 << 36;
}

const fn align(offset: u64) -> u64 {
    offset.next_multiple_of(4096)
}

const _: () = assert!(size_of::<FabricHeader>() == 4096 && size_of::<ProcessHeader>() == 4096);
const _: () = assert!(size_of::<VisitRow>() == MARKS * 64);
const _: () = assert!(process::HEAP < 1 << 29);

// SAFETY: atomic integers only.
unsafe impl Shared for FabricHeader {}
// SAFETY: as above.
unsafe impl Shared for ProcessHeader {}

//! What lies where in the two kinds of segments. A change here is a change of [`VERSION`].
//!
//! The *fabric segment* is one for a user, a fabric name and a network namespace:
//! header, table of processes, XRC domains, UAR pages of each device, XRC receive queue pairs and their protocol's state.
//! A *process segment* is one for each process: header, mailbox, marks of visitors, tables of memory regions, queue pairs,
//! completion queues, shared receive queues, messages under way, then the heap with the rings and the memory of `ibv_alloc_buf`.
//! Tables have room for as many as their numbers can name; what is never used costs no memory.

use std::sync::atomic::{AtomicU32, AtomicU64};

use super::completion::CqRecord;
use super::mailbox::MailboxRecord;
use super::mapping::Shared;
use super::numbers::PROCESSES;
use super::queue_pair::QpRecord;
use super::receive::SrqRecord;
use super::receiving::{RECEIVINGS as RECEIVINGS_IN_ALL, ReceivingRecord};
use super::regions::{MARKS, MrRecord, VisitRow};
use super::target::TargetRecord;
use super::xrc::DomainTable;

pub const FABRIC_MAGIC: u64 = u64::from_le_bytes(*b"softrdma");
pub const PROCESS_MAGIC: u64 = u64::from_le_bytes(*b"softrdmp");
pub const VERSION: u64 = 2;

/// Devices that a fabric keeps UAR pages for.
pub const MAX_DEVICES: u32 = 8;

/// UAR pages of an adapter (ConnectX-4: 8192 of 4 KiB).
pub const UAR_PAGES: usize = 8192;

/// Indexes of queue pairs, completion queues and shared receive queues.
pub const QUEUES: u64 = 1 << 16;

/// Memory regions and windows of a process.
pub const REGIONS: u64 = 1 << 20;

/// XRC receive queue pairs of a fabric.
pub const FABRIC_QPS: u64 = 1 << 12;

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

/// A process in the fabric segment.
///
/// Only the process that holds the kernel's lock on the slot writes (`processes`); all read. `state` is stored last (release)
/// when the slot is taken.
#[repr(C, align(256))]
pub struct ProcessSlot {
    pub state: AtomicU32,
    /// Grows by one with each process that has the slot.
    pub generation: AtomicU32,
    pub pid: AtomicU32,
    /// The descriptor of the process's segment, in that process.
    pub memfd: AtomicU32,
    /// When it started, in clock ticks since boot.
    pub start: AtomicU64,
    /// Inode of the process's PID namespace, in which `pid` means something.
    pub pid_namespace: AtomicU64,
    /// A random number: first word of the process's segment after the magic; it names its sockets too.
    pub key: AtomicU64,
    /// Where the process has its own segment.
    pub address: AtomicU64,
}

pub const PAGES_OF_DEVICE: u64 = size_of::<[AtomicU32; UAR_PAGES]>() as u64;

/// Offsets in the fabric segment.
pub mod fabric {
    use super::*;

    pub const SLOTS: u64 = 4096;
    pub const DOMAINS: u64 = align(SLOTS + (size_of::<ProcessSlot>() * (PROCESSES + 1)) as u64);
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
    use super::*;

    pub const MAILBOX: u64 = 4096;
    pub const ATOMICS: u64 = align(MAILBOX + size_of::<MailboxRecord>() as u64);
    pub const VISITS: u64 = align(ATOMICS + 4096);
    pub const QPS: u64 = align(VISITS + (size_of::<VisitRow>() * (PROCESSES + 1)) as u64);
    pub const CQS: u64 = align(QPS + size_of::<QpRecord>() as u64 * QUEUES);
    pub const SRQS: u64 = align(CQS + size_of::<CqRecord>() as u64 * QUEUES);
    pub const RECEIVINGS: u64 = align(SRQS + size_of::<SrqRecord>() as u64 * QUEUES);
    pub const REGIONS: u64 =
        align(RECEIVINGS + size_of::<ReceivingRecord>() as u64 * RECEIVINGS_IN_ALL);
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
unsafe impl Shared for ProcessSlot {}
// SAFETY: as above.
unsafe impl Shared for ProcessHeader {}

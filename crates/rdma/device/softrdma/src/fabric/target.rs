//! An XRC receive queue pair's half of the protocol between hosts, for a peer on another host. It belongs to no process, so it
//! stands in the fabric's segment, and whoever the kernel hands a packet for it executes that packet.
//!
//! # Protocol
//! 1. The holder of `lock` alone reads and writes all fields.
//! 2. `words` are the responder between two packets. A process that is about to execute one sets `state` to WORKING, and after it stores
//!    the new words and sets OPEN. So a process that finds WORKING has taken the lock from a process that died in the middle of a
//!    packet, of which nobody knows how much is done: the queue pair goes to the error state.
//! 3. `generation` is the queue pair's: another one that has its place later is not this one.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::lock::{Busy, Held, SharedLock};
use super::mapping::Shared;
use super::processes::Processes;

/// Words of a responder.
pub const WORDS: usize = 43;

#[repr(C, align(128))]
pub struct TargetRecord {
    lock: SharedLock,
    /// CLOSED, OPEN or WORKING.
    state: AtomicU32,
    generation: AtomicU32,
    /// The peer's IPv4 address.
    address: AtomicU32,
    mtu: AtomicU32,
    words: [AtomicU64; WORDS],
}

// SAFETY: atomic integers only.
unsafe impl Shared for TargetRecord {}

const _: () = assert!(size_of::<TargetRecord>() == 384);

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const WORKING: u32 = 2;

/// What stands there for queue pair of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Closed,
    Open,
    /// Its last executor died over a packet.
    Abandoned,
}

/// A target, locked.
pub struct Target<'a> {
    record: &'a TargetRecord,
    _held: Held<'a>,
}

impl TargetRecord {
    pub fn take(&self, processes: &Processes, patience: Duration) -> Result<Target<'_>, Busy> {
        Ok(Target {
            record: self,
            _held: self.lock.take(processes, patience)?,
        })
    }
}

impl Target<'_> {
    pub fn found(&self, generation: u32) -> Found {
        let same = self.record.generation.load(Ordering::Relaxed) == generation;
        match self.record.state.load(Ordering::Relaxed) {
            OPEN if same => Found::Open,
            WORKING if same => Found::Abandoned,
            _ => Found::Closed,
        }
    }

    pub fn open(&self, generation: u32, peer: Ipv4Addr, mtu: u32, words: &[u64; WORDS]) {
        let record = self.record;
        record.state.store(CLOSED, Ordering::Release);
        record.generation.store(generation, Ordering::Relaxed);
        record.address.store(peer.to_bits(), Ordering::Relaxed);
        record.mtu.store(mtu, Ordering::Relaxed);
        self.end(words);
    }

    pub fn close(&self) {
        self.record.state.store(CLOSED, Ordering::Release);
    }

    /// A packet is about to be executed.
    pub fn begin(&self) {
        self.record.state.store(WORKING, Ordering::Release);
    }

    /// It was executed.
    pub fn end(&self, words: &[u64; WORDS]) {
        for (word, value) in self.record.words.iter().zip(words) {
            word.store(*value, Ordering::Release);
        }
        self.record.state.store(OPEN, Ordering::Release);
    }

    pub fn peer(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.record.address.load(Ordering::Relaxed))
    }

    pub fn mtu(&self) -> u32 {
        self.record.mtu.load(Ordering::Relaxed)
    }

    pub fn words(&self) -> [u64; WORDS] {
        std::array::from_fn(|word| self.record.words[word].load(Ordering::Relaxed))
    }
}

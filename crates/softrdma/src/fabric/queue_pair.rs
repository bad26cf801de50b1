//! What a peer must know of a queue pair to execute requests against it, in the segment of its owner (or, for XRC receive
//! queue pairs, in the fabric's).
//!
//! The owner writes the settings before it stores `state` (release), in `modify_qp`; peers load `state` first (acquire).
//! A peer that must bring the queue pair into the error state (a responder's error) does so by [`QpRecord::fail`] and
//! tells the owner by its mailbox. `generation` is odd while the queue pair exists; whoever remembers a queue pair
//! remembers its generation.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::mapping::Shared;
use super::receive::RingRecord;

/// A queue pair, as others see it. States and types are those of `ibv_qp_state` and `ibv_qp_type`.
#[repr(C, align(128))]
pub struct QpRecord {
    pub generation: AtomicU32,
    pub state: AtomicU32,
    pub kind: AtomicU32,
    pub device: AtomicU32,
    pub port: AtomicU32,
    pub pd: AtomicU32,
    /// `ibv_access_flags` that peers have.
    pub access: AtomicU32,
    pub dest_qpn: AtomicU32,
    pub qkey: AtomicU32,
    pub min_rnr_timer: AtomicU32,
    pub max_dest_rd_atomic: AtomicU32,
    pub path_mtu: AtomicU32,
    /// Name of the XRC domain, 0 for none.
    pub xrc_domain: AtomicU32,
    /// Number of the shared receive queue plus one, 0 for none.
    pub srq: AtomicU32,
    /// Why it went to the error state, for the owner's events; one of the mailbox's kinds.
    pub failure: AtomicU32,
    /// Messages received, modulo 2^24.
    pub msn: AtomicU32,
    /// [`super::segment::ObjectId`]s of its completion queues.
    pub receive_cq: AtomicU64,
    pub send_cq: AtomicU64,
    /// Bits of the slots of processes that have it open; XRC receive queue pairs only.
    pub openers: [AtomicU64; 4],
    /// What its users agree on beyond that; the fabric does not look at it.
    pub attributes: [AtomicU64; 24],
    pub ring: RingRecord,
}

// SAFETY: atomic integers only.
unsafe impl Shared for QpRecord {}

const _: () = assert!(size_of::<QpRecord>() == 512);

impl QpRecord {
    /// Brings it from a state in which it receives to `error`; true if this call did, and the owner must be told.
    pub fn fail(&self, error: u32) -> bool {
        self.state.swap(error, Ordering::AcqRel) != error
    }

    pub fn exists(&self) -> bool {
        self.generation.load(Ordering::Acquire) & 1 == 1
    }
}

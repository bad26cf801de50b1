//! What a peer must know of a queue pair to execute requests against it, in the segment of its owner (or, for XRC receive
//! queue pairs, in the fabric's).
//!
//! The owner writes the settings before it stores `state` (release), in `modify_qp`; peers load `state` first (acquire).
//! A peer that must bring the queue pair into the error state (a responder's error) does so by [`QpRecord::fail`] and
//! tells the owner by its mailbox. `generation` is odd while the queue pair exists; whoever remembers a queue pair
//! remembers its generation.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::receive::RingRecord;
use crate::fabric::mapping::Shared;

/// A queue pair, as others see it. States and types are those of `ibv_qp_state` and `ibv_qp_type`.
#[repr(C, align(128))]
pub struct QpRecord {
    pub generation: AtomicU32,
    pub state: AtomicU32,
    pub kind: AtomicU32,
    pub pd: AtomicU32,
    /// [`Sender::word`] of who may send to it on this host.
    pub sender: AtomicU64,
    /// `ibv_access_flags` that peers have.
    pub access: AtomicU32,
    pub qkey: AtomicU32,
    /// Name of the XRC domain, 0 for none.
    pub xrc_domain: AtomicU32,
    /// Number of the shared receive queue plus one, 0 for none.
    pub srq: AtomicU32,
    /// [`ObjectId`](super::super::segment::ObjectId)s of its completion queues.
    pub receive_cq: AtomicU64,
    pub send_cq: AtomicU64,
    pub device: AtomicU32,
    pub port: AtomicU32,
    pub dest_qpn: AtomicU32,
    pub min_rnr_timer: AtomicU32,
    pub max_dest_rd_atomic: AtomicU32,
    pub path_mtu: AtomicU32,
    /// Why it went to the error state, for the owner's events; one of the mailbox's kinds.
    pub failure: AtomicU32,
    /// Messages received, modulo 2^24.
    pub msn: AtomicU32,
    /// Bits of the slots of processes that have it open; XRC receive queue pairs only.
    pub openers: [AtomicU64; 4],
    /// What its users agree on beyond that; the fabric does not look at it.
    pub attributes: [AtomicU64; 24],
    pub ring: RingRecord,
}

// SAFETY: atomic integers only.
unsafe impl Shared for QpRecord {}

const _: () = assert!(size_of::<QpRecord>() == 512);

/// The sender that a connected queue pair accepts on the same host: a queue pair that begins with the PSN it expects, and, once it has accepted
/// one, that very one until it begins anew. A requester with other PSNs gets no answer, as between hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sender {
    pub qpn: u32,
    /// `sq_psn` of the sender, `rq_psn` of the receiver; 0 where the first packet decides (UC).
    pub psn: u32,
    /// Which time the sender came to RTS; 0 for one that was not heard yet.
    pub session: u16,
}

impl Sender {
    pub fn word(self) -> u64 {
        let number = |bits: u32| u64::from(bits & 0xff_ffff);
        number(self.qpn) | number(self.psn) << 24 | u64::from(self.session) << 48
    }

    pub fn from_word(word: u64) -> Sender {
        Sender {
            qpn: word as u32 & 0xff_ffff,
            psn: (word >> 24) as u32 & 0xff_ffff,
            session: (word >> 48) as u16,
        }
    }
}

impl QpRecord {
    /// Brings it from a state in which it receives to `error`; true if this call did, and the owner must be told.
    pub fn fail(&self, error: u32) -> bool {
        self.state.swap(error, Ordering::AcqRel) != error
    }

    /// Whether it hears this sender; the first one that it could hear is the one from now on.
    #[inline]
    pub fn accepts(&self, sender: u64) -> bool {
        self.sender.load(Ordering::Relaxed) == sender || self.begins_to_accept(sender)
    }

    #[cold]
    fn begins_to_accept(&self, sender: u64) -> bool {
        let unheard = Sender {
            session: 0,
            ..Sender::from_word(sender)
        };
        let (from, to) = (unheard.word(), sender);
        let begun = self
            .sender
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
        begun.is_ok()
    }

    pub fn exists(&self) -> bool {
        self.generation.load(Ordering::Acquire) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_survive_their_word() {
        let sender = Sender {
            qpn: 0xab_cdef,
            psn: 0x12_3456,
            session: 0x789a,
        };
        assert_eq!(Sender::from_word(sender.word()), sender);
    }

    #[test]
    fn the_first_sender_that_fits_is_heard_and_no_other() {
        // SAFETY: atomic integers, for which zeros are values.
        let record: QpRecord = unsafe { std::mem::zeroed() };
        let sender = |psn, session| {
            let sender = Sender {
                qpn: 7,
                psn,
                session,
            };
            sender.word()
        };
        record.sender.store(sender(100, 0), Ordering::Relaxed);
        assert!(!record.accepts(sender(101, 1)));
        assert!(record.accepts(sender(100, 2)));
        assert!(record.accepts(sender(100, 2)));
        assert!(!record.accepts(sender(100, 3)), "one that began anew");
    }
}

//! The first part of a segment: who its owner is, its doorbell, and the table of rings to it.
//!
//! Ringing and hearing (all operations SeqCst where not said otherwise):
//! 1. A sender that finds its ring unwatched sets its bit in the lane's `rang` words, then the word's bit in the
//!    lane's summary, then the lane's bit in `signalled`, then reads `sleeping`; if that is set it
//!    counts the doorbell up and wakes the sleeper.
//! 2. The owner, when it sees its lane in `signalled`, clears in the same order (`signalled`, summary, `rang`) and then
//!    looks at the rings. A bit set behind it leaves a later bit of the chain set, so the next turn finds it.
//! 3. A sender whose bit is still set need not ring again: the owner has the clearing of that bit, and so the
//!    look at the ring, still before it.
//! 4. Before a sleep the owner sets `sleeping`, then reads the doorbell, then looks at `signalled`, then sleeps
//!    unless the doorbell has changed: by 1 and 4 one of the two sees the other.
//!
//! Everything here may be written by a hostile peer: bits may name nobody, table entries point anywhere.

use std::time::Duration;

use weft_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use weft_sync::futex;

use crate::segment::{Mapping, PAGE};

const MAGIC: u64 = u64::from_le_bytes(*b"weftshm1");

/// The bit beyond all lanes' by which a peer calls the owner to run errands for it.
pub const ERRANDS: u32 = 63;

/// How many processes and lanes there are; the same in all processes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub size: u32,
    pub lanes: u32,
}

#[repr(C, align(64))]
struct Owner {
    magic: u64,
    rank: u32,
    size: u32,
    lanes: u32,
    pid: u32,
    key: [u64; 2],
    /// Where the owner has this page, for a probe of process_vm_readv(2).
    address: u64,
}

#[repr(C, align(64))]
struct Bell {
    /// Written by ringers (count up), read by the sleeper.
    doorbell: AtomicU32,
    /// Written by the owner.
    sleeping: AtomicU32,
}

/// A bit for each lane with something in its summary, and [`ERRANDS`]. Written by ringers and the owner; on its own line,
/// as the owner reads it every turn.
#[repr(C, align(64))]
struct Signalled(AtomicU64);

#[repr(C)]
struct Front {
    owner: Owner,
    bell: Bell,
    signalled: Signalled,
}

/// A base, the owner's or as mapped by a peer.
pub struct Base {
    mapping: Mapping,
    shape: Shape,
}

impl Shape {
    /// `rang` words of a lane.
    fn words(self) -> usize {
        (self.size as usize).div_ceil(64)
    }

    /// `rang` words behind each bit of the summary.
    fn words_per_bit(self) -> usize {
        self.words().div_ceil(64)
    }

    /// Bytes of one lane: summary on a line of its own, `rang` words, table of rings.
    fn lane_bytes(self) -> usize {
        64 + (8 * self.words()).next_multiple_of(64) + (8 * self.size as usize).next_multiple_of(64)
    }

    pub fn base_bytes(self) -> usize {
        (size_of::<Front>() + self.lanes as usize * self.lane_bytes()).next_multiple_of(PAGE)
    }
}

impl Base {
    /// Writes the owner's words into its fresh segment.
    pub fn found(mapping: Mapping, shape: Shape, rank: u32, key: [u64; 2]) -> Base {
        let base = Base { mapping, shape };
        let owner = Owner {
            magic: MAGIC,
            rank,
            size: shape.size,
            lanes: shape.lanes,
            pid: std::process::id(),
            key,
            address: base.mapping.base() as u64,
        };
        // SAFETY: the mapping is page-aligned and longer than a front; no peer knows of it yet.
        unsafe { base.mapping.base().cast::<Owner>().write(owner) };
        base
    }

    /// A peer's base, if it is what the peer's card says.
    pub fn of_peer(
        mapping: Mapping,
        shape: Shape,
        rank: u32,
        key: [u64; 2],
    ) -> Result<Base, String> {
        debug_assert_eq!(mapping.bytes(), shape.base_bytes());
        // SAFETY: the mapping is page-aligned and longer than a front; all bit patterns are valid.
        let owner = unsafe { mapping.base().cast::<Owner>().read_volatile() };
        if owner.magic != MAGIC || owner.key != key {
            return Err("its segment is not the one its card tells of".to_owned());
        }
        if owner.rank != rank || owner.size != shape.size || owner.lanes != shape.lanes {
            return Err(format!(
                "it says it is rank {} of {} with {} lanes, where rank {rank} of {} with {} was expected",
                owner.rank, owner.size, owner.lanes, shape.size, shape.lanes
            ));
        }
        Ok(Base { mapping, shape })
    }

    fn front(&self) -> &Front {
        // SAFETY: the mapping is page-aligned, longer than a front, and lives as long as `self`; after
        // `found` the plain words are only read.
        unsafe { &*self.mapping.base().cast::<Front>() }
    }

    /// The address of the owner's key in the owner's memory, and the key: what a probe reads.
    pub fn probe(&self) -> (u64, [u64; 2]) {
        let owner = &self.front().owner;
        (
            owner.address + std::mem::offset_of!(Owner, key) as u64,
            owner.key,
        )
    }

    fn word(&self, lane: u32, bytes: usize) -> &AtomicU64 {
        assert!(lane < self.shape.lanes && bytes + 8 <= self.shape.lane_bytes());
        let at = size_of::<Front>() + lane as usize * self.shape.lane_bytes() + bytes;
        // SAFETY: by the assertion the word lies in the mapping; it is 8-aligned, as all parts are.
        unsafe { &*self.mapping.base().add(at).cast::<AtomicU64>() }
    }

    fn summary(&self, lane: u32) -> &AtomicU64 {
        self.word(lane, 0)
    }

    fn rang(&self, lane: u32, word: usize) -> &AtomicU64 {
        self.word(lane, 64 + 8 * word)
    }

    /// Where the ring from `peer` lies in the peer's segment; zero if there is none.
    pub fn ring_of(&self, lane: u32, peer: u32) -> &AtomicU64 {
        assert!(peer < self.shape.size);
        let table = 64 + (8 * self.shape.words()).next_multiple_of(64);
        self.word(lane, table + 8 * peer as usize)
    }

    /// Rings the owner's doorbell in the name of `from` (rule 1).
    #[cold]
    pub fn ring(&self, lane: u32, from: u32) {
        let word = from as usize / 64;
        let bit = 1 << (from % 64);
        if self.rang(lane, word).load(Ordering::SeqCst) & bit == 0 {
            self.rang(lane, word).fetch_or(bit, Ordering::SeqCst);
            let group = word / self.shape.words_per_bit();
            self.summary(lane).fetch_or(1 << group, Ordering::SeqCst);
            self.front()
                .signalled
                .0
                .fetch_or(1 << lane, Ordering::SeqCst);
        }
        if self.front().bell.sleeping.load(Ordering::SeqCst) != 0 {
            self.wake();
        }
    }

    /// Calls the owner to run errands, as rule 1 has it for a lane.
    pub fn call(&self) {
        let signalled = &self.front().signalled.0;
        signalled.fetch_or(1 << ERRANDS, Ordering::SeqCst);
        self.wake();
    }

    /// Whether the owner was called; clears it.
    pub fn is_called(&self) -> bool {
        let bit = 1 << ERRANDS;
        self.front().signalled.0.fetch_and(!bit, Ordering::SeqCst) & bit != 0
    }

    /// Ends the owner's sleep, or keeps it from beginning.
    pub fn wake(&self) {
        let bell = &self.front().bell;
        bell.doorbell.fetch_add(1, Ordering::SeqCst);
        if bell.sleeping.load(Ordering::SeqCst) != 0 {
            futex::wake_shared(&bell.doorbell, 1);
        }
    }

    /// A bit for each lane in which someone rang.
    #[inline]
    pub fn signalled(&self) -> u64 {
        self.front().signalled.0.load(Ordering::SeqCst)
    }

    /// Clears the lane's bits (rule 2) and names who rang.
    #[cold]
    pub fn hear(&self, lane: u32, mut who: impl FnMut(u32)) {
        self.front()
            .signalled
            .0
            .fetch_and(!(1 << lane), Ordering::SeqCst);
        let mut groups = self.summary(lane).swap(0, Ordering::SeqCst);
        while groups != 0 {
            let group = groups.trailing_zeros() as usize;
            groups &= groups - 1;
            let first = group * self.shape.words_per_bit();
            for word in first..(first + self.shape.words_per_bit()).min(self.shape.words()) {
                let mut bits = self.rang(lane, word).swap(0, Ordering::SeqCst);
                while bits != 0 {
                    let peer = word as u32 * 64 + bits.trailing_zeros();
                    bits &= bits - 1;
                    if peer < self.shape.size {
                        who(peer);
                    }
                }
            }
        }
    }

    /// Begins a sleep (rule 4): the doorbell's count.
    pub fn prepare(&self) -> u32 {
        let bell = &self.front().bell;
        bell.sleeping.swap(1, Ordering::SeqCst);
        bell.doorbell.load(Ordering::SeqCst)
    }

    /// Sleeps until the doorbell counts past `ticket`, at most `timeout`.
    pub fn sleep(&self, ticket: u32, timeout: Duration) {
        let bell = &self.front().bell;
        futex::wait_shared(&bell.doorbell, ticket, Some(timeout));
        self.stay_awake();
    }

    /// Whether the owner sleeps or is about to.
    #[inline]
    pub fn is_sleeping(&self) -> bool {
        self.front().bell.sleeping.load(Ordering::SeqCst) != 0
    }

    /// Ends what `prepare` began.
    #[inline]
    pub fn stay_awake(&self) {
        let bell = &self.front().bell;
        if bell.sleeping.load(Ordering::Relaxed) != 0 {
            bell.sleeping.store(0, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Segment;

    fn base(size: u32, lanes: u32) -> Base {
        let shape = Shape { size, lanes };
        let segment = Segment::create(shape.base_bytes()).unwrap();
        Base::found(segment.map(shape.base_bytes()).unwrap(), shape, 0, [1, 2])
    }

    #[test]
    fn everyone_is_heard_once() {
        for size in [1, 2, 64, 65, 5000, 70_000] {
            let base = base(size, 3);
            let ringers = [0, size / 2, size - 1];
            for peer in ringers {
                base.ring(1, peer);
                base.ring(1, peer);
            }
            assert_eq!(base.signalled(), 2);
            let mut heard = Vec::new();
            base.hear(1, |peer| heard.push(peer));
            let mut expected = ringers.to_vec();
            expected.dedup();
            assert_eq!(heard, expected);
            base.hear(1, |peer| panic!("{peer} twice"));
            assert_eq!(base.signalled(), 0);
        }
    }

    #[test]
    fn bits_of_nobody_are_passed_over() {
        let base = base(3, 1);
        base.rang(0, 0).store(u64::MAX, Ordering::SeqCst);
        base.summary(0).store(u64::MAX, Ordering::SeqCst);
        let mut heard = Vec::new();
        base.hear(0, |peer| heard.push(peer));
        assert_eq!(heard, [0, 1, 2]);
    }

    #[test]
    fn ring_between_prepare_and_sleep_is_not_lost() {
        let base = base(2, 1);
        let ticket = base.prepare();
        base.ring(0, 1);
        let begin = std::time::Instant::now();
        base.sleep(ticket, Duration::from_secs(20));
        assert!(begin.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn another_base_is_refused() {
        let shape = Shape { size: 4, lanes: 2 };
        let segment = Segment::create(shape.base_bytes()).unwrap();
        let map = || segment.map(shape.base_bytes()).unwrap();
        Base::found(map(), shape, 3, [1, 2]);
        assert!(Base::of_peer(map(), shape, 3, [1, 2]).is_ok());
        assert!(Base::of_peer(map(), shape, 3, [1, 3]).is_err());
        assert!(Base::of_peer(map(), shape, 2, [1, 2]).is_err());
    }
}

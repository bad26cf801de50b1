//! The first part of a segment: its owner, the owner's doorbell, and the table of rings to it.
//!
//! How a peer notifies the owner and how the owner sleeps stands in [`weft_sync::doorbell`]; here is where the words lie.
//!
//! The table has a word for each lane and each rank of the host, by its position (`host`): zero, or where the peer's ring for the lane lies in the peer's segment, or
//! [`GIVEN_UP`]. The peer writes it: the place after it has made the ring (Release, read by Acquire), and [`GIVEN_UP`] when
//! that lane of its has ended the owner: it neither reads nor writes anything of the owner's for the lane any more.
//!
//! Behind the lanes' parts stands a word for each rank of the host, by its position, in which the owner says how far that rank's core is (`pair`).
//!
//! Everything here may be written by a hostile peer: bits may name nobody, table entries point anywhere.

use std::os::fd::RawFd;
use std::time::Duration;

use weft_sync::Pipe;
use weft_sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weft_sync::doorbell::{Doorbell, Notifiers, Signalled};

use crate::card::Card;
use crate::pipe;
use crate::segment::{Mapping, PAGE};

const MAGIC: u64 = u64::from_le_bytes(*b"weftshm1");

/// The bit beyond all lanes' by which a peer calls the owner to serve it.
pub const SERVICES: u32 = 63;

/// What stands in the table in place of a ring whose sender has ended the owner.
pub const GIVEN_UP: u64 = u64::MAX;

/// Where in a segment its key stands.
pub const KEY_AT: u64 = std::mem::offset_of!(Owner, key) as u64;

/// How many ranks the host has, a digest of which they are (`host`), and how many lanes there are; the same in all processes of
/// a job on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Shape {
    pub ranks: u32,
    pub lanes: u32,
    pub digest: u64,
}

#[repr(C, align(64))]
struct Owner {
    magic: u64,
    rank: u32,
    pid: u32,
    shape: Shape,
    key: [u64; 2],
    /// Where the owner has this page, for a probe of process_vm_readv(2).
    address: u64,
}

#[repr(C)]
struct Front {
    owner: Owner,
    doorbell: Doorbell,
    signalled: Signalled,
}

/// A base, the owner's or as mapped by a peer.
pub struct Base {
    mapping: Mapping,
    shape: Shape,
    /// The owner's, if it sleeps on one.
    pipe: Option<Pipe>,
}

impl Shape {
    /// Words of a lane's notifiers.
    fn words(self) -> usize {
        (self.ranks as usize).div_ceil(64)
    }

    /// Bytes of one lane: summary on a line of its own, the notifiers' words, table of rings.
    fn lane_bytes(self) -> usize {
        64 + (8 * self.words()).next_multiple_of(64)
            + (8 * self.ranks as usize).next_multiple_of(64)
    }

    /// Where the words of [`Base::distance`] begin.
    fn distances_at(self) -> usize {
        size_of::<Front>() + self.lanes as usize * self.lane_bytes()
    }

    pub fn base_bytes(self) -> usize {
        (self.distances_at() + size_of::<AtomicU32>() * self.ranks as usize).next_multiple_of(PAGE)
    }
}

impl Base {
    /// Writes the owner's words into its fresh segment.
    pub fn create(mapping: Mapping, shape: Shape, rank: u32, key: [u64; 2]) -> Base {
        let base = Base {
            mapping,
            shape,
            pipe: None,
        };
        let owner = Owner {
            magic: MAGIC,
            rank,
            pid: std::process::id(),
            shape,
            key,
            address: base.mapping.base() as u64,
        };
        // SAFETY: the mapping is page-aligned and longer than a front; no peer knows of it yet.
        unsafe { base.mapping.base().cast::<Owner>().write(owner) };
        base
    }

    /// A process's base, if it is what its card says, by which it can be woken.
    pub fn open(mapping: Mapping, shape: Shape, rank: u32, card: &Card) -> Result<Base, String> {
        debug_assert_eq!(mapping.bytes(), shape.base_bytes());
        // SAFETY: the mapping is page-aligned and longer than a front; all bit patterns are valid.
        let owner = unsafe { mapping.base().cast::<Owner>().read_volatile() };
        if owner.magic != MAGIC || owner.key != card.key {
            return Err("its segment is not the one its card tells of".to_owned());
        }
        if owner.rank != rank {
            return Err(format!("it says that it is rank {}", owner.rank));
        }
        if owner.shape != shape {
            return Err(format!(
                "it was told of other ranks on this host, or of other lanes: {:?}, not {shape:?}",
                owner.shape
            ));
        }
        let pipe = card.pipe.map(|name| pipe::open(card.pid, name));
        Ok(Base {
            mapping,
            shape,
            pipe: pipe.transpose()?,
        })
    }

    /// From here on the owner sleeps on `pipe`.
    pub fn sleep_on(&mut self, pipe: Pipe) {
        self.pipe = Some(pipe);
    }

    fn front(&self) -> &Front {
        // SAFETY: the mapping is page-aligned, longer than a front, and lives as long as `self`; after
        // `found` the plain words are only read.
        unsafe { &*self.mapping.base().cast::<Front>() }
    }

    /// The address of the owner's key in the owner's memory, and the key: what a probe reads. A peer may say any address; at a wrong one
    /// the key is not found.
    pub fn probe(&self) -> (u64, [u64; 2]) {
        let owner = &self.front().owner;
        (
            owner
                .address
                .wrapping_add(std::mem::offset_of!(Owner, key) as u64),
            owner.key,
        )
    }

    /// Words of a lane, from `bytes` on.
    fn words(&self, lane: u32, bytes: usize, count: usize) -> &[AtomicU64] {
        assert!(lane < self.shape.lanes && bytes + 8 * count <= self.shape.lane_bytes());
        let at = size_of::<Front>() + lane as usize * self.shape.lane_bytes() + bytes;
        // SAFETY: by the assertion the words lie in the mapping; they are 8-aligned, as all parts are, and atomics.
        unsafe { std::slice::from_raw_parts(self.mapping.base().add(at).cast(), count) }
    }

    fn word(&self, lane: u32, bytes: usize) -> &AtomicU64 {
        &self.words(lane, bytes, 1)[0]
    }

    /// The bits of a lane's notifiers.
    fn notifiers(&self, lane: u32) -> Notifiers<'_> {
        Notifiers {
            signalled: &self.front().signalled,
            lane,
            summary: self.word(lane, 0),
            words: self.words(lane, 64, self.shape.words()),
        }
    }

    /// Where the ring from the peer at `position` lies in the peer's segment; zero if there is none.
    pub fn ring_of(&self, lane: u32, position: u32) -> &AtomicU64 {
        assert!(position < self.shape.ranks);
        let table = 64 + (8 * self.shape.words()).next_multiple_of(64);
        self.word(lane, table + 8 * position as usize)
    }

    /// How far the owner's core is from that of the rank at `position` (`pair`). The owner writes it, that rank reads it.
    pub fn distance(&self, position: u32) -> &AtomicU32 {
        assert!(position < self.shape.ranks);
        let at = self.shape.distances_at() + size_of::<AtomicU32>() * position as usize;
        // SAFETY: by the assertion the word lies in the mapping; it is 4-aligned, as all parts are 8-aligned, and atomic.
        unsafe { &*self.mapping.base().add(at).cast::<AtomicU32>() }
    }

    /// Whether the ring from the peer at `position` was given up.
    pub fn is_given_up(&self, lane: u32, position: u32) -> bool {
        self.ring_of(lane, position).load(Ordering::SeqCst) == GIVEN_UP
    }

    /// Notifies the owner in the name of the process at position `from`.
    #[cold]
    pub fn notify(&self, lane: u32, from: u32) {
        self.notifiers(lane).set(from);
        self.front().doorbell.wake_sleeper(self.pipe.as_ref());
    }

    /// Calls the owner to serve this process.
    pub fn call(&self) {
        self.front().signalled.set(SERVICES);
        self.wake();
    }

    /// Whether the owner was called; clears it.
    pub fn is_called(&self) -> bool {
        self.signalled() >> SERVICES & 1 != 0 && self.front().signalled.take(SERVICES)
    }

    /// Ends the owner's sleep, or keeps it from beginning.
    pub fn wake(&self) {
        self.front().doorbell.wake(self.pipe.as_ref());
    }

    /// A bit for each lane that was notified.
    #[inline]
    pub fn signalled(&self) -> u64 {
        self.front().signalled.all()
    }

    /// Clears the lane's bits and names the notifiers, by their positions.
    #[cold]
    pub fn take_notifiers(&self, lane: u32, mut notified: impl FnMut(u32)) {
        self.notifiers(lane).take(|position| {
            if position < self.shape.ranks {
                notified(position);
            }
        });
    }

    /// Begins a sleep: the ticket for [`sleep`](Self::sleep).
    pub fn prepare_sleep(&self) -> u32 {
        let doorbell = &self.front().doorbell;
        match self.pipe {
            None => doorbell.prepare(),
            Some(_) => doorbell.prepare_on_pipe(),
        }
    }

    /// Sleeps unless the doorbell was rung after the ticket was given, at most `timeout`. With a pipe, also until one of
    /// `others` is readable: true if one is.
    pub fn sleep(&self, ticket: u32, timeout: Duration, others: &[RawFd]) -> bool {
        let doorbell = &self.front().doorbell;
        if let Some(pipe) = &self.pipe {
            return doorbell.sleep_on(pipe, ticket, timeout, others);
        }
        assert!(others.is_empty(), "there is a pipe where there are others");
        doorbell.sleep(ticket, timeout);
        false
    }

    /// When the last sleep was ended by a ring ([`Doorbell::rung_at`]).
    pub fn rung_at(&self) -> Option<u64> {
        self.front().doorbell.rung_at()
    }

    /// Whether the owner sleeps or is about to.
    #[inline]
    pub fn is_sleeping(&self) -> bool {
        self.front().doorbell.is_sleeping()
    }

    /// Ends what `prepare_sleep` began.
    #[inline]
    pub fn stay_awake(&self) {
        self.front().doorbell.stay_awake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::PipeName;
    use crate::segment::Segment;

    fn base(ranks: u32, lanes: u32) -> Base {
        let shape = Shape {
            ranks,
            lanes,
            digest: 0,
        };
        let segment = Segment::create(shape.base_bytes()).unwrap();
        Base::create(segment.map(shape.base_bytes()).unwrap(), shape, 0, [1, 2])
    }

    #[test]
    fn every_notifier_is_named_once() {
        for size in [1, 2, 64, 65, 5000, 70_000] {
            let base = base(size, 3);
            let notifiers = [0, size / 2, size - 1];
            for peer in notifiers {
                base.notify(1, peer);
                base.notify(1, peer);
            }
            assert_eq!(base.signalled(), 2);
            let mut heard = Vec::new();
            base.take_notifiers(1, |peer| heard.push(peer));
            let mut expected = notifiers.to_vec();
            expected.dedup();
            assert_eq!(heard, expected);
            base.take_notifiers(1, |peer| panic!("{peer} twice"));
            assert_eq!(base.signalled(), 0);
        }
    }

    #[test]
    fn bits_of_nobody_are_passed_over() {
        let base = base(3, 1);
        let notifiers = base.notifiers(0);
        notifiers.words[0].store(u64::MAX, Ordering::SeqCst);
        notifiers.summary.store(u64::MAX, Ordering::SeqCst);
        let mut heard = Vec::new();
        base.take_notifiers(0, |peer| heard.push(peer));
        assert_eq!(heard, [0, 1, 2]);
    }

    #[test]
    fn notification_between_prepare_and_sleep_is_not_lost() {
        for pipe in [None, Some(crate::pipe::create().unwrap().0)] {
            let mut base = base(2, 1);
            base.pipe = pipe;
            let ticket = base.prepare_sleep();
            base.notify(0, 1);
            let begin = std::time::Instant::now();
            base.sleep(ticket, Duration::from_secs(20), &[]);
            assert!(begin.elapsed() < Duration::from_secs(10));
        }
    }

    #[test]
    fn another_base_is_refused() {
        let shape = Shape {
            ranks: 4,
            lanes: 2,
            digest: 5,
        };
        let segment = Segment::create(shape.base_bytes()).unwrap();
        let map = || segment.map(shape.base_bytes()).unwrap();
        Base::create(map(), shape, 3, [1, 2]);
        let card = |key| Card {
            pid: std::process::id(),
            start: 0,
            memfd: 0,
            key,
            view: 0,
            pipe: None,
        };
        let (right, wrong) = (card([1, 2]), card([1, 3]));
        let told = Shape { digest: 6, ..shape };
        assert!(Base::open(map(), shape, 3, &right).is_ok());
        assert!(Base::open(map(), shape, 3, &wrong).is_err());
        assert!(Base::open(map(), shape, 2, &right).is_err());
        assert!(Base::open(map(), told, 3, &right).is_err());
        let number = 999_999;
        let pipe = Some(PipeName { number, inode: 1 });
        let cannot_be_woken = Card { pipe, ..right };
        let why = Base::open(map(), shape, 3, &cannot_be_woken).map(drop);
        assert!(why.unwrap_err().contains("by which it is woken"));
    }
}

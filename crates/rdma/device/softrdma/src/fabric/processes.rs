//! The table of processes, and who of them lives.
//!
//! # Who lives
//! A process holds a kernel record lock (fcntl(2), F_SETLK) on byte `slot` of the fabric's memfd. The kernel lets it go when the
//! last thread of the process has left it, by whatever death, or when it runs another program, and never before; no process
//! number can be mistaken for another's, and processes that cannot see each other's numbers still agree. So:
//! 1. Taking a slot *is* getting its lock; the kernel decides between several.
//! 2. The process that holds the lock of a slot, and no other, writes the slot.
//! 3. A slot whose lock nobody holds and whose state is not free belonged to a process that is dead. The process that gets its lock takes
//!    back what the dead one owned (`reap`), which can be cut off and begun anew at any point, frees it, and lets the lock go.
//! 4. A record lock is the process's, so its threads do not exclude each other by it: `reaping` does. It also ends when the
//!    process closes *any* descriptor of that file: each process has exactly one and keeps it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use weft_kernel::above_standard;

use super::identity::Identity;
use super::mapping::{Mapping, Shared, checked};
use super::numbers::{GENERATION_MASK, Owner, PROCESSES};

pub const FREE: u32 = 0;
pub const LIVE: u32 = 2;

/// Where the table of processes begins in the fabric segment.
pub const PROCESS_SLOTS: u64 = 4096;

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

// SAFETY: atomic integers only.
unsafe impl Shared for ProcessSlot {}

/// Takes back what a dead process owned in the fabric segment beside its slot.
pub type TakeBack = fn(&Mapping, Owner);

/// The fabric segment and this process's place in it.
pub struct Processes {
    fabric: Mapping,
    me: Owner,
    identity: Identity,
    take_back: TakeBack,
    reaping: Mutex<()>,
}

/// What a process's slot says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub owner: Owner,
    pub pid: u32,
    pub start: u64,
    pub pid_namespace: u64,
    pub memfd: u32,
    pub key: u64,
    pub address: u64,
}

/// What a process says of its segment when it takes a slot.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    pub memfd: u32,
    pub key: u64,
    pub address: u64,
}

/// Why no slot could be taken.
#[derive(Debug)]
pub enum ClaimError {
    /// All slots belong to processes that live.
    Full,
    System(io::Error),
}

impl Processes {
    /// Takes a slot of the fabric that `fabric` maps. What dead processes left is taken back on the way.
    pub fn claim(
        fabric: Mapping,
        identity: Identity,
        claim: Claim,
        take_back: TakeBack,
    ) -> Result<Processes, ClaimError> {
        for slot in 0..PROCESSES as u8 {
            if !lock_slot(fabric.memfd(), slot).map_err(ClaimError::System)? {
                continue;
            }
            let entry = slot_at(&fabric, slot);
            let last = entry.generation.load(Ordering::Relaxed) & GENERATION_MASK;
            if entry.state.load(Ordering::Relaxed) != FREE {
                Owner::new(slot, last).inspect(|&dead| take_back(&fabric, dead));
            }
            let generation = (last + 1) & GENERATION_MASK;
            let generation = generation.max(1);
            let me = Owner::new(slot, generation).expect("a generation above 0");
            entry.state.store(FREE, Ordering::Relaxed);
            entry.generation.store(generation, Ordering::Relaxed);
            entry.pid.store(identity.pid, Ordering::Relaxed);
            entry.start.store(identity.start, Ordering::Relaxed);
            entry
                .pid_namespace
                .store(identity.pid_namespace, Ordering::Relaxed);
            entry.memfd.store(claim.memfd, Ordering::Relaxed);
            entry.key.store(claim.key, Ordering::Relaxed);
            entry.address.store(claim.address, Ordering::Relaxed);
            // SeqCst: who holds the fabric's name and looks for living members either sees this one, or has taken the
            // name before this one asks for it again (`join`).
            entry.state.store(LIVE, Ordering::SeqCst);
            return Ok(Processes {
                fabric,
                me,
                identity,
                take_back,
                reaping: Mutex::new(()),
            });
        }
        Err(ClaimError::Full)
    }

    /// Gives the slot up: this was not the fabric to join. Dropping the mapping closes the descriptor and with it the lock.
    pub fn withdraw(self) {
        let entry = slot_at(&self.fabric, self.me.slot());
        entry.state.store(FREE, Ordering::Release);
    }

    #[inline]
    pub fn me(&self) -> Owner {
        self.me
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn fabric(&self) -> &Mapping {
        &self.fabric
    }

    /// Whether the process lives: one system call.
    pub fn alive(&self, owner: Owner) -> bool {
        owner == self.me
            || self
                .entry(owner.slot())
                .is_some_and(|entry| entry.owner == owner)
                && is_locked(self.fabric.memfd(), owner.slot())
    }

    /// The process that has `slot`, if any; perhaps dead.
    pub fn entry(&self, slot: u8) -> Option<Entry> {
        entry(&self.fabric, slot)
    }

    /// The generation that has, or had last, `slot`.
    #[inline]
    pub fn generation(&self, slot: u8) -> u32 {
        slot_at(&self.fabric, slot)
            .generation
            .load(Ordering::Relaxed)
    }

    /// All living processes.
    pub fn living(&self) -> Vec<Entry> {
        (0..PROCESSES as u8)
            .filter_map(|slot| self.entry(slot))
            .filter(|entry| self.alive(entry.owner))
            .collect()
    }

    /// Takes back what dead processes owned. True if there was one.
    pub fn reap(&self) -> bool {
        let mut any = false;
        for slot in (0..PROCESSES as u8).filter(|&slot| slot != self.me.slot()) {
            let taken = slot_at(&self.fabric, slot).state.load(Ordering::Acquire) != FREE;
            any |= taken && self.reap_slot(slot);
        }
        any
    }

    /// As [`reap`](Self::reap), of one process.
    pub fn reap_slot(&self, slot: u8) -> bool {
        let _one = self.reaping.lock().unwrap_or_else(PoisonError::into_inner);
        if slot == self.me.slot() || !lock_slot(self.fabric.memfd(), slot).unwrap_or(false) {
            return false;
        }
        let entry = slot_at(&self.fabric, slot);
        let dead = entry.state.load(Ordering::Relaxed) != FREE;
        if dead {
            let generation = entry.generation.load(Ordering::Relaxed);
            Owner::new(slot, generation).inspect(|&dead| (self.take_back)(&self.fabric, dead));
            entry.state.store(FREE, Ordering::Release);
        }
        unlock_slot(self.fabric.memfd(), slot);
        dead
    }
}

fn slot_at(fabric: &Mapping, slot: u8) -> &ProcessSlot {
    let offset = PROCESS_SLOTS + u64::from(slot) * size_of::<ProcessSlot>() as u64;
    fabric.at(offset).expect("inside the fabric segment")
}

/// The process that has `slot`, if any; perhaps dead.
pub fn entry(fabric: &Mapping, slot: u8) -> Option<Entry> {
    let entry = slot_at(fabric, slot);
    (entry.state.load(Ordering::Acquire) == LIVE).then_some(())?;
    let owner = Owner::new(slot, entry.generation.load(Ordering::Relaxed))?;
    Some(Entry {
        owner,
        pid: entry.pid.load(Ordering::Relaxed),
        start: entry.start.load(Ordering::Relaxed),
        pid_namespace: entry.pid_namespace.load(Ordering::Relaxed),
        memfd: entry.memfd.load(Ordering::Relaxed),
        key: entry.key.load(Ordering::Relaxed),
        address: entry.address.load(Ordering::Relaxed),
    })
}

/// Whether any process lives in the fabric that `fabric` maps.
pub fn any_alive(fabric: &Mapping) -> bool {
    (0..PROCESSES as u8).any(|slot| {
        slot_at(fabric, slot).state.load(Ordering::SeqCst) == LIVE
            && is_locked(fabric.memfd(), slot)
    })
}

fn record(slot: u8, kind: libc::c_int) -> libc::flock {
    // SAFETY: all zeros is a valid `flock`.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = libc::off_t::from(slot);
    lock.l_len = 1;
    lock
}

/// Gets the slot's lock if no other process has it.
fn lock_slot(memfd: BorrowedFd<'_>, slot: u8) -> io::Result<bool> {
    let lock = record(slot, libc::F_WRLCK);
    // SAFETY: `lock` is readable.
    let result = unsafe { libc::fcntl(memfd.as_raw_fd(), libc::F_SETLK, &lock) };
    match checked(result) {
        Ok(_) => Ok(true),
        Err(error) => match error.raw_os_error() {
            Some(libc::EACCES | libc::EAGAIN) => Ok(false),
            _ => Err(error),
        },
    }
}

fn unlock_slot(memfd: BorrowedFd<'_>, slot: u8) {
    let lock = record(slot, libc::F_UNLCK);
    // SAFETY: `lock` is readable. Unlocking what one holds does not fail.
    unsafe { libc::fcntl(memfd.as_raw_fd(), libc::F_SETLK, &lock) };
}

/// Whether another process has the slot's lock.
fn is_locked(memfd: BorrowedFd<'_>, slot: u8) -> bool {
    let mut lock = record(slot, libc::F_WRLCK);
    // SAFETY: `lock` is writable.
    let result = unsafe { libc::fcntl(memfd.as_raw_fd(), libc::F_GETLK, &mut lock) };
    // Doubt is life: what is wrongly taken from the living is worse than what is kept for the dead.
    result < 0 || lock.l_type != libc::F_UNLCK as libc::c_short
}

/// A descriptor that is readable once the process is gone (pidfd_open(2)); none if it is gone, or cannot be seen from here.
pub fn pidfd(identity: &Identity, entry: &Entry) -> Option<OwnedFd> {
    use std::os::fd::FromRawFd;
    if entry.pid_namespace != identity.pid_namespace {
        return None;
    }
    // SAFETY: takes numbers only.
    let open = || unsafe { libc::syscall(libc::SYS_pidfd_open, entry.pid as libc::pid_t, 0) };
    let fd = above_standard(open);
    let fd = checked(fd as libc::c_int).ok()?;
    // SAFETY: the descriptor is fresh and this process's.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // The number may have gone to another process before the descriptor was made, but not after.
    (super::identity::start_of(entry.pid) == Some(entry.start)).then_some(fd)
}

impl AsFd for Processes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fabric.memfd()
    }
}

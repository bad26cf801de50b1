//! Short accesses to memory of the user's that the target makes in a turn of progress, while it waits in MPI.
//!
//! A call of the kernel that copies between processes takes more than a microsecond; two processes that both run tell each other
//! something in a fraction of that. So an origin with a short access writes it, with its data, into a [`ShortAccess`] in the target's
//! control area, of which each process has one there, and spins for a moment. A target that waits in MPI makes the access and
//! answers. Where the answer does not come the origin withdraws what it asked and reaches the memory itself, by the kernel. That the
//! target computes, sleeps, holds a lock or cannot be reached so is no fault: nothing depends on an answer.
//!
//! 1. What is asked goes to and fro as [`Handoff`] says: an access is made once, by the target or by its origin.
//! 2. Updates are made under the target's lock of updates by whichever makes them, so they exclude each other. The target
//!    only tries the lock; if another has it, it refuses, and the origin waits for it.
//! 3. The target looks each turn at the accesses of those that it *watches*: who asked lately. Others leave their rank among the
//!    `callers` and call it. A rank that is overwritten there, or not watched any more, gets no answer.
//! 4. An origin that got no answer asks again only after some accesses, more and more of them ([`Attention`]).
//!
//! An access is over when its call returns, by whichever way, so that accumulates stay in order (MPI-5.0 §12.7.2).
//! What stands in a control area may come from a hostile peer: the target checks it.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

use weft_datatype::{Op, Predefined};
use weft_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use weft_sync::{Handoff, prefetch_to_write};

use crate::operation::Operation;

/// Data of an access at most. With the words before them they fill whole cache lines, and a few bytes lie in the words' line.
pub const SHORT_BYTES: usize = (16 << 10) + 32;
/// Accesses that an origin makes itself before it asks again, at most: fewer than take as long as it is watched.
const LONGEST_PENALTY: u32 = 63;
/// The penalty from which on a target that sleeps is woken, as more accesses will come.
const WAKES_FROM: u32 = 7;
/// Accesses that an origin makes itself while a target wakes.
const WAKING: u32 = 4;
/// Bytes that go through a bounce buffer at once.
const BOUNCE: usize = 2048;

/// One process's way of asking, in another's control area.
#[repr(C, align(64))]
pub struct ShortAccess {
    pub handoff: Handoff,
    /// Whether the target looks here each turn. Written by it; the origin takes it as a hint.
    pub watched: AtomicU32,
    what: AtomicU64,
    address: AtomicU64,
    bytes: AtomicU64,
    data: UnsafeCell<[u8; SHORT_BYTES]>,
}

const _: () = assert!(size_of::<ShortAccess>().is_multiple_of(64));

// SAFETY: the data are touched through raw pointers by the process whose the piece is, as `Handoff` says; within the origin
// by the thread that holds the link's `attention`, within the target by the one in the section of services.
unsafe impl Sync for ShortAccess {}

/// What is to be done with the bytes at the target.
#[derive(Clone, Copy)]
pub enum What {
    /// The data go there.
    Put,
    /// The data are what is there.
    Get,
    /// Elements are combined with the data; if it `fetches`, the data are what was there.
    Update { operation: Operation, fetches: bool },
    /// Compare-and-swap of one element: the data are what it is compared with and what is written, then what was there.
    Swap(Predefined),
}

impl What {
    pub fn is_update(&self) -> bool {
        matches!(self, What::Update { .. } | What::Swap(_))
    }

    /// Whether data come back.
    fn returns(&self) -> bool {
        match self {
            What::Put => false,
            What::Get | What::Swap(_) => true,
            What::Update { fetches, .. } => *fetches,
        }
    }

    fn to_word(self) -> u64 {
        let word = |kind: u64, op: u64, basic: u64| kind | op << 8 | basic << 16;
        match self {
            What::Put => word(0, 0, 0),
            What::Get => word(1, 0, 0),
            What::Update { operation, fetches } => {
                let (op, basic) = (operation.op, operation.basic);
                word(2 + u64::from(fetches), op as u64, basic as u64)
            }
            What::Swap(basic) => word(4, 0, basic as u64),
        }
    }

    fn from_word(word: u64) -> Option<What> {
        let basic = || Predefined::ALL.get((word >> 16) as usize).copied();
        let op = || Op::ALL.get((word >> 8 & 0xff) as usize).copied();
        Some(match word & 0xff {
            0 => What::Put,
            1 => What::Get,
            kind @ (2 | 3) => What::Update {
                operation: Operation::new(op()?, basic()?).filter(Operation::is_dense)?,
                fetches: kind == 3,
            },
            4 => What::Swap(basic()?),
            _ => return None,
        })
    }

    /// Whether it can be done with so many bytes.
    pub fn takes(&self, bytes: usize) -> bool {
        match self {
            What::Put | What::Get => bytes <= SHORT_BYTES,
            What::Update { operation, .. } => {
                bytes <= SHORT_BYTES && bytes.is_multiple_of(operation.basic.size())
            }
            What::Swap(basic) => bytes == basic.size() && bytes <= LONGEST_ELEMENT,
        }
    }
}

/// Bytes of the longest element that is compared and swapped so.
const LONGEST_ELEMENT: usize = 16;

/// What is asked: an access to bytes at an address of the target's.
#[derive(Clone, Copy)]
pub struct Access {
    pub what: What,
    pub address: u64,
    pub bytes: usize,
}

impl ShortAccess {
    /// Begins to fetch the lines of so many bytes of data, all at once, as they will be written.
    pub fn prefetch(&self, bytes: usize) {
        for at in (32..bytes).step_by(64) {
            prefetch_to_write(self.data().wrapping_add(at));
        }
    }

    pub fn data(&self) -> *mut u8 {
        self.data.get().cast()
    }

    pub fn ask(&self, access: Access) {
        self.ask_words(access.what.to_word(), access.address, access.bytes as u64);
    }

    #[inline]
    pub(crate) fn ask_words(&self, what: u64, address: u64, bytes: u64) {
        self.what.store(what, Ordering::Relaxed);
        self.address.store(address, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.handoff.ask();
    }

    /// The target's part: makes what is asked, if anything is and it makes sense, by `make`, which says whether it did.
    pub fn run(&self, make: impl FnOnce(Access) -> bool) -> bool {
        self.handoff.run(|| {
            let bytes = usize::try_from(self.bytes.load(Ordering::Relaxed));
            let what = What::from_word(self.what.load(Ordering::Relaxed));
            let (Ok(bytes), Some(what)) = (bytes, what) else {
                return false;
            };
            let address = self.address.load(Ordering::Relaxed);
            if !what.takes(bytes) {
                return false;
            }
            if what.returns() {
                self.prefetch(bytes);
            }
            make(Access {
                what,
                address,
                bytes,
            })
        })
    }
}

/// The bytes at the target and the data of an access.
pub struct Ends {
    pub place: *mut u8,
    pub data: *mut u8,
    pub bytes: usize,
}

impl Ends {
    /// # Safety
    /// `place` and `data` are valid for reads and writes of what the access needs, which takes the bytes; the lock of updates is
    /// held for an update.
    pub unsafe fn make(&self, what: What) {
        let &Ends { place, data, bytes } = self;
        // SAFETY: by this function's contract.
        unsafe {
            match what {
                What::Put => std::ptr::copy_nonoverlapping(data, place, bytes),
                What::Get => std::ptr::copy_nonoverlapping(place, data, bytes),
                What::Update { operation, fetches } => self.update(operation, fetches),
                What::Swap(_) => self.swap(),
            }
        }
    }

    /// # Safety
    /// As [`make`](Self::make).
    unsafe fn update(&self, operation: Operation, fetches: bool) {
        let size = operation.basic.size();
        let mut old = MaybeUninit::<[u64; BOUNCE / 8]>::uninit();
        let old = old.as_mut_ptr().cast::<u8>();
        for at in (0..self.bytes).step_by(BOUNCE) {
            let part = (self.bytes - at).min(BOUNCE);
            let (place, data) = (self.place.wrapping_add(at), self.data.wrapping_add(at));
            // SAFETY: the part is whole elements, as the bounce buffer is of any; by this function's contract.
            unsafe {
                match fetches {
                    true => {
                        operation.apply(place, part / size, (data, old));
                        std::ptr::copy_nonoverlapping(old, data, part);
                    }
                    false => operation.apply(place, part / size, (data, std::ptr::null_mut())),
                }
            }
        }
    }

    /// # Safety
    /// As [`make`](Self::make).
    unsafe fn swap(&self) {
        let &Ends { place, data, bytes } = self;
        let mut old = [0u8; LONGEST_ELEMENT];
        // SAFETY: an element is no longer; by this function's contract.
        unsafe {
            std::ptr::copy_nonoverlapping(place, old.as_mut_ptr(), bytes);
            let compare = std::slice::from_raw_parts(data, bytes);
            if compare == &old[..bytes] {
                std::ptr::copy_nonoverlapping(data.wrapping_add(bytes), place, bytes);
            }
            std::ptr::copy_nonoverlapping(old.as_ptr(), data, bytes);
        }
    }
}

/// Whether a target is worth asking (rule 4).
#[derive(Default)]
pub struct Attention {
    /// Accesses that this process makes itself before it asks again.
    skips: u32,
    penalty: u32,
    /// The target was woken, and has not answered since.
    woken: bool,
}

impl Attention {
    pub fn is_worth_asking(&mut self) -> bool {
        let asks = self.skips == 0;
        self.skips = self.skips.saturating_sub(1);
        asks
    }

    pub fn answered(&mut self) {
        *self = Attention::default();
    }

    /// The target sleeps. Whether it is to be woken: not for the first accesses, and not again and again.
    pub fn found_asleep(&mut self) -> bool {
        self.woken = !self.woken && self.penalty >= WAKES_FROM;
        match self.woken {
            true => self.skips = WAKING,
            false => self.missed(),
        }
        self.woken
    }

    pub fn missed(&mut self) {
        self.penalty = (2 * self.penalty + 1).min(LONGEST_PENALTY);
        self.skips = self.penalty;
    }
}

//! A process's control area of one window: words that all processes of the window read and write.
//!
//! It begins with [`Header`]; behind it stand a [`Slot`] for each process of the window, in rank order, and for windows of
//! user memory the attachments, the bytes of active messages, and a [`ShortAccess`] for each process.

use weft_shm::{Exposed, Mapping};
use weft_sync::atomic::AtomicU32;

use crate::short_access::ShortAccess;
use weft_sync::{ActiveMessage, OwnedLock, QueuedLock, QueuedLockSlot, QueuedLockWords};

use crate::attachments::Attachments;
use crate::stripes::Stripes;

/// Bytes that one active message moves.
pub const MESSAGE_BYTES: usize = 64 << 10;

pub const CALLERS: usize = 16;

/// On cache lines of its own.
#[repr(C, align(64))]
pub struct Line<T>(pub T);

#[repr(C)]
pub struct Header {
    /// The locks of elements that are updated in place.
    pub stripes: Stripes,
    /// Guards the updates of all other elements.
    pub updates: Line<OwnedLock>,
    /// How many wait for `updates` or the active message's lock with patience; see `window`.
    pub patient: AtomicU32,
    /// The passive-target lock (MPI-5.0 §12.5.3).
    pub lock: Line<QueuedLockWords>,
    pub message: Line<ActiveMessage>,
    /// Who asks for a short access and is perhaps not watched: a rank + 1, or 0. Written by those, taken by the owner. A rank that
    /// another one overwrites does its access itself.
    pub callers: Line<[AtomicU32; CALLERS]>,
}

/// One process's words in another's control area.
#[repr(C)]
pub struct Slot {
    /// Of the passive-target lock.
    pub lock: QueuedLockSlot,
    /// Not 0 while it waits with patience, and is to be woken at a release. Written by itself.
    pub waits: AtomicU32,
    _reserved: u32,
}

/// What a control area consists of, the same on all processes of a window.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Processes of the window.
    pub size: u32,
    /// Whether its memory is the user's, so that it can need active messages and attachments.
    pub user_memory: bool,
}

impl Shape {
    fn attachments(self) -> usize {
        let slots = self.size as usize * size_of::<Slot>();
        (size_of::<Header>() + slots).next_multiple_of(64)
    }

    fn message_bytes(self) -> usize {
        (self.attachments() + size_of::<Attachments>()).next_multiple_of(64)
    }

    fn short_accesses(self) -> usize {
        self.message_bytes() + MESSAGE_BYTES
    }

    pub fn bytes(self) -> usize {
        match self.user_memory {
            true => self.short_accesses() + self.size as usize * size_of::<ShortAccess>(),
            false => self.attachments(),
        }
    }
}

enum Backing {
    Own(Exposed),
    Peer(Mapping),
}

/// A control area, this process's or another's.
pub struct Control {
    backing: Backing,
    shape: Shape,
}

impl Control {
    /// This process's, of zeros: all locks are free, nothing is attached.
    pub fn own(area: Exposed, shape: Shape) -> Control {
        assert!(area.bytes() >= shape.bytes());
        let backing = Backing::Own(area);
        Control { backing, shape }
    }

    pub fn peer(area: Mapping, shape: Shape) -> Control {
        assert!(area.bytes() >= shape.bytes());
        let backing = Backing::Peer(area);
        Control { backing, shape }
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Where peers find it in this process's segment, if it is this process's.
    pub fn offset(&self) -> Option<u64> {
        match &self.backing {
            Backing::Own(area) => Some(area.offset()),
            Backing::Peer(_) => None,
        }
    }

    fn base(&self) -> *mut u8 {
        match &self.backing {
            Backing::Own(area) => area.base(),
            Backing::Peer(area) => area.base(),
        }
    }

    pub fn header(&self) -> &Header {
        // SAFETY: the area is page-aligned and longer than a header, lives as long as `self`, and holds atomics only.
        unsafe { &*self.base().cast::<Header>() }
    }

    pub fn slots(&self) -> &[Slot] {
        let first = self.base().wrapping_add(size_of::<Header>()).cast::<Slot>();
        // SAFETY: as many slots lie behind the header by `Shape`, aligned as the header's size is; atomics only.
        unsafe { std::slice::from_raw_parts(first, self.shape.size as usize) }
    }

    /// # Panics
    /// If the window has no user memory.
    pub fn attachments(&self) -> &Attachments {
        assert!(self.shape.user_memory);
        let at = self.base().wrapping_add(self.shape.attachments());
        // SAFETY: it lies there by `Shape`, on a line of its own; atomics only.
        unsafe { &*at.cast::<Attachments>() }
    }

    /// Where the bytes of active messages are, [`MESSAGE_BYTES`] of them.
    ///
    /// # Panics
    /// If the window has no user memory.
    pub fn message_bytes(&self) -> *mut u8 {
        assert!(self.shape.user_memory);
        self.base().wrapping_add(self.shape.message_bytes())
    }

    /// By which process `rank` asks for short accesses.
    ///
    /// # Panics
    /// If the window has no user memory, or no such process.
    pub fn short_access(&self, rank: u32) -> &ShortAccess {
        assert!(self.shape.user_memory && rank < self.shape.size);
        let first = self.base().wrapping_add(self.shape.short_accesses());
        // SAFETY: one for each process lies there by `Shape`, aligned as all parts are; it is shared as its protocol says.
        unsafe { &*first.cast::<ShortAccess>().wrapping_add(rank as usize) }
    }

    /// The passive-target lock as process `me` uses it. It is taken without a call of the process whose area this is.
    pub fn lock<'a>(&'a self, me: u32) -> QueuedLock<'a, impl Fn(u32) -> &'a QueuedLockSlot> {
        let slots = self.slots();
        QueuedLock {
            words: &self.header().lock.0,
            slot: move |rank: u32| &slots[rank as usize].lock,
            size: self.shape.size,
            me,
        }
    }
}

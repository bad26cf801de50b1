//! A request's memory and who may touch it when.
//!
//! States of a slot, in `state`:
//! ```text
//! FREE ──allocate──▶ PENDING ──complete──▶ COMPLETE or PLAIN ──finish──▶ FREE (next generation)
//! ```
//! PLAIN is the commonest end, in which there is nothing to ask for but the message: it went well, and the request holds
//! nothing that must be let go of. All that is said of COMPLETE holds for it too.
//! Rules:
//! 1. From `allocate` until it is handed to its lane, a slot belongs to the thread that allocated it. It is
//!    handed over by holding the lane's section, or by pushing its index on the lane's submission list
//!    (a release; the taker acquires). A request that the engine has nothing to do for is handed over as it is
//!    made: a thread that is told its identifier afterwards finds it pending.
//! 2. A pending slot belongs to its lane: only the holder of the lane's section touches `cells`.
//! 3. `complete` writes the outcome, then stores COMPLETE with release: the holder touches the slot no more.
//!    A thread that loads COMPLETE with acquire may read the outcome.
//! 4. A complete slot belongs to the thread that finishes the request; finishing a request in two threads
//!    at once is the user's error (MPI-5.0 §3.7.3).
//! 5. A detached slot (its outcome will not be asked for) is recycled by the holder instead of rule 3.
//! 6. `generation` grows when a slot is freed, so an identifier kept too long names nothing.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_matching::{Pattern, PostedId};
use weft_memory::{Layout, Memory};
use weft_transport::{BulkDescriptor, Direction, Exposed, Peer};

use crate::status::{Failure, Status};
use crate::unexpected::Extracted;
use crate::waiter::Waiter;

/// No slot, in a link.
pub(crate) const NIL: u32 = u32::MAX;

pub(crate) const FREE: u32 = 0;
pub(crate) const PENDING: u32 = 1;
pub(crate) const COMPLETE: u32 = 2;
pub(crate) const PLAIN: u32 = 3;

/// In [`Cells::lane`]: a free slot goes to the magazines that all threads share. Else to its lane's list.
pub(crate) const POOLED: u8 = 1 << 7;

/// What a request is waiting to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Send,
    Receive,
    /// A message taken out by a matched probe, to be received later.
    Message,
    /// To be completed by its maker: nothing arrives for it (`external.rs`).
    External,
    /// What is made of other messages and completes it (`operation.rs`).
    Operation,
    /// To memory that a peer has exposed (`access.rs`).
    Access(Direction),
}

impl Role {
    /// Whether other processes are concerned though this process does not ask for the outcome any more.
    pub fn outlives_its_call(self) -> bool {
        matches!(self, Role::Send | Role::Operation | Role::Access(_))
    }
}

/// Facts about a request that are either so or not.
pub(crate) mod flag {
    /// The sender waits for the match (MPI-5.0 §3.4, synchronous mode).
    pub const SYNCHRONOUS: u8 = 1;
    /// The outcome will not be asked for (MPI-5.0 §3.7.3, `MPI_Request_free`).
    pub const DETACHED: u8 = 2;
    /// A cancel message is under way.
    pub const CANCELLING: u8 = 4;
    /// The envelope has left: the receiver knows this request's cookie.
    pub const ANNOUNCED: u8 = 8;
    /// The envelope stands in the outbound queue.
    pub const QUEUED: u8 = 16;
    /// `waiter` is set.
    pub const AWAITED: u8 = 32;
    /// Sends no data, but that its maker failed: `Extra::failure` says why.
    pub const FAILED: u8 = 64;
    /// The user's memory does not lie together: `layout` is set.
    pub const STRIDED: u8 = 128;
}

/// What a request that is under way may still wait for. What comes and is not among it does not fit the request's stage.
pub(crate) mod awaits {
    /// Of a synchronous send: to hear of the match.
    pub const ACK: u8 = 1;
    /// Of a send whose payload stays here: to be asked for it.
    pub const CTS: u8 = 2;
    /// A packet of this request's is to leave: the payload of a send, the question for that of a receive.
    pub const PACKET: u8 = 4;
    /// The end of the bulk transfer.
    pub const BULK: u8 = 8;
    /// Of a receive: the payload that it has asked for.
    pub const DATA: u8 = 16;
}

/// The outcome, as in `MPI_Status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub source: i32,
    pub tag: i32,
    pub bytes: u64,
    pub failure: Option<Failure>,
    pub cancelled: bool,
}

/// What rules 1 to 4 protect.
#[repr(C)]
pub(crate) struct Cells {
    // The first cache line: all that a contiguous eager message needs.
    pub role: Role,
    /// The request's lane and, by [`POOLED`], where the slot goes when it is free. Written with rule 1's right.
    pub lane: u8,
    pub flags: u8,
    /// What is still missing until the request is complete, of [`awaits`]: the stage of its protocol.
    pub awaits: u8,
    pub peer: Peer,
    pub base: *mut u8,
    pub bytes: usize,
    /// Written when a receive is matched, or withdrawn unmatched; of others from the start.
    pub outcome: Outcome,
    // The second.
    /// The envelope: a send's context, rank and tag; a receive's context and pattern.
    pub context: u32,
    pub source: i32,
    pub tag: i32,
    /// Where a receive that was posted found no message; it may have been matched since.
    pub posted: Option<PostedId>,
    pub layout: Option<Arc<dyn Layout>>,
    pub extra: Option<Box<Extra>>,
    pub waiter: Option<Arc<Waiter>>,
}

/// What few requests need.
#[derive(Default)]
pub(crate) struct Extra {
    /// Of the bulk transfer, which is open; the RTS may not be sent yet for want of room.
    pub descriptor: Option<BulkDescriptor>,
    /// The receiver's cookie, to be put before the data.
    pub remote: u64,
    /// The number that a send with [`flag::FAILED`] tells.
    pub failure: u8,
    /// Of an access: what is exposed, and how far in.
    pub remote_memory: Option<(Exposed, u64)>,
    /// What a matched probe took out.
    pub extracted: Option<Extracted>,
    /// Those that wait besides the first (`wake.rs`).
    pub waiters: Vec<Arc<Waiter>>,
}

/// One request, two cache lines.
#[repr(C, align(128))]
pub(crate) struct Slot {
    pub state: AtomicU32,
    pub generation: AtomicU32,
    /// The submission list's link, then the outbound queue's, and while free that of the lane's returned ones.
    pub link: AtomicU32,
    /// Which of the slots this is.
    pub index: u32,
    pub cells: UnsafeCell<Cells>,
}

const _: () = assert!(size_of::<Slot>() == 128);

impl Slot {
    /// Has the slot fetched, for later: one line, which processors accompany by the other of an aligned pair.
    #[inline(always)]
    pub fn fetch(&self) {
        weft_sync::fetch(self);
    }

    /// Whether the outcome is there.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        self.state.load(Ordering::Acquire) >= COMPLETE
    }

    /// Whether it is a request that is not over.
    #[inline(always)]
    pub fn is_pending(&self) -> bool {
        self.state.load(Ordering::Acquire) == PENDING
    }

    pub fn free(index: u32) -> Slot {
        Slot {
            state: AtomicU32::new(FREE),
            generation: AtomicU32::new(1),
            link: AtomicU32::new(NIL),
            index,
            cells: UnsafeCell::new(Cells {
                role: Role::Send,
                lane: 0,
                flags: 0,
                awaits: 0,
                peer: 0,
                base: std::ptr::null_mut(),
                bytes: 0,
                outcome: Outcome::default(),
                context: 0,
                source: 0,
                tag: 0,
                posted: None,
                layout: None,
                extra: None,
                waiter: None,
            }),
        }
    }
}

impl Cells {
    /// The user's buffer.
    #[inline]
    pub fn memory(&self) -> Memory {
        Memory {
            base: self.base,
            bytes: self.bytes,
            layout: self.layout.clone(),
        }
    }

    /// What a receive asks for.
    #[inline]
    pub fn pattern(&self) -> Pattern {
        Pattern {
            context: self.context,
            source: self.source,
            tag: self.tag,
        }
    }

    /// The status of a complete request.
    #[inline]
    pub fn status(&self) -> Status {
        let Outcome {
            source,
            tag,
            bytes,
            failure,
            cancelled,
        } = self.outcome;
        // The context lies in another cache line, and only an error needs it.
        let context = if failure.is_some() { self.context } else { 0 };
        let receive = self.role == Role::Receive;
        Status {
            source,
            tag,
            bytes,
            failure,
            cancelled,
            context,
            receive,
        }
    }

    /// The lane that a request is of.
    #[inline(always)]
    pub fn lane(&self) -> u32 {
        u32::from(self.lane & !POOLED)
    }

    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether a receive that its message fills ends as PLAIN.
    #[inline]
    pub fn is_plain(&self) -> bool {
        let special = flag::STRIDED | flag::DETACHED | flag::AWAITED;
        !self.has(special) && self.outcome.failure.is_none() && self.extra.is_none()
    }

    /// The user's bytes, if they lie together.
    #[inline]
    pub fn contiguous(&self) -> Option<&[u8]> {
        match (&self.layout, self.bytes) {
            (Some(_), _) => None,
            (None, 0) => Some(&[]),
            // SAFETY: MPI-5.0 §3.7.2: from the start of a send until its completion the buffer is the
            // library's to read; the shims checked that it is not null.
            (None, bytes) => Some(unsafe { std::slice::from_raw_parts(self.base, bytes) }),
        }
    }

    /// Copies packed bytes out of the user's buffer of a send.
    #[inline]
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        debug_assert!(offset + out.len() <= self.bytes);
        match &self.layout {
            None if out.is_empty() => {}
            // SAFETY: as in `contiguous`, and within the message's length.
            None => unsafe {
                weft_memory::copy(self.base.add(offset), out.as_mut_ptr(), out.len());
            },
            // SAFETY: as in `contiguous`; the layout was made for this buffer.
            Some(layout) => unsafe { layout.pack(self.base, offset, out) },
        }
    }

    /// Copies a message into the user's buffer of a receive.
    #[inline]
    pub fn write(&mut self, data: &[u8]) {
        debug_assert!(data.len() <= self.bytes);
        match &self.layout {
            None => self.write_together(data),
            // SAFETY: as in `write_together`; the layout was made for this buffer.
            Some(layout) => unsafe { layout.unpack(self.base, 0, data) },
        }
    }

    /// As [`write`](Self::write), where the buffer is known to lie together.
    #[inline]
    pub fn write_together(&mut self, data: &[u8]) {
        debug_assert!(data.len() <= self.bytes && self.layout.is_none());
        // SAFETY: MPI-5.0 §3.7.2: from the start of a receive until its completion the buffer is the
        // library's to write; the length was checked against it.
        unsafe { copy_out(data.as_ptr(), self.base, data.len()) };
    }

    /// Drops what few requests hold.
    #[cold]
    #[inline(never)]
    pub fn let_go(&mut self) {
        self.layout = None;
        self.extra = None;
    }

    pub fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }
}

/// Copies a payload to a user's buffer; one word, which is commonest, without a call.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`]; an empty payload's addresses may be anything.
#[inline]
unsafe fn copy_out(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        if bytes == 8 {
            to.cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned());
        } else {
            copy_other(from, to, bytes);
        }
    }
}

/// # Safety
/// As for [`copy_out`].
#[inline(never)]
unsafe fn copy_other(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        match bytes {
            0 => {}
            1 => *to = *from,
            4 => to
                .cast::<u32>()
                .write_unaligned(from.cast::<u32>().read_unaligned()),
            _ => weft_memory::copy(from, to, bytes),
        }
    }
}

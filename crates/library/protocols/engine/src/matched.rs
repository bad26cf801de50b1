//! What the matching tables hold for the engine.

use std::ptr::NonNull;

use weft_matching::{Envelope, Pattern};
use weft_transport::{BulkDescriptor, Cookie, Peer};

use crate::slot::Slot;

/// A posted receive: its request, which is pending while this is.
pub(crate) struct Posted(NonNull<Slot>);

const _: () = assert!(size_of::<Option<Posted>>() == 8);

// SAFETY: the slot is the lane's while it is pending, and its protocol says who may touch it when.
unsafe impl Send for Posted {}

impl Posted {
    /// Of a receive that is about to stand among a lane's posted ones.
    ///
    /// # Safety
    /// The slot lies in the table that the lane shares, and is pending on that lane, or begun before the lane's section is left,
    /// for as long as this is (slot protocol, rule 2).
    #[inline(always)]
    pub unsafe fn new(slot: &Slot) -> Posted {
        Posted(NonNull::from(slot))
    }

    #[inline(always)]
    pub fn slot(&self) -> &Slot {
        // SAFETY: by the condition of `new`.
        unsafe { self.0.as_ref() }
    }

    /// What the receive asks for. Values that are copied out, so that no reference to the cells is left beside another.
    #[inline(always)]
    pub fn pattern(&self) -> Pattern {
        let cells = self.slot().cells.get();
        // SAFETY: pending, and so of the lane's holder (slot protocol, rule 2), who alone has this. Fields are read through the
        // pointer, and no reference to them is made.
        let (context, source, tag) = unsafe { ((*cells).context, (*cells).source, (*cells).tag) };
        Pattern {
            context,
            source,
            tag,
        }
    }

    /// The process that it names.
    pub fn peer(&self) -> Peer {
        // SAFETY: as in `pattern`.
        unsafe { (*self.slot().cells.get()).peer }
    }

    /// Where the user's buffer is, and its length.
    #[inline(always)]
    pub fn buffer(&self) -> (*const u8, usize) {
        let cells = self.slot().cells.get();
        // SAFETY: as in `pattern`.
        unsafe { ((*cells).base, (*cells).bytes) }
    }

    /// Where the request's cells are.
    #[inline(always)]
    pub fn place(&self) -> *const Slot {
        self.0.as_ptr()
    }
}

/// Payload short enough to stand in the unexpected cell itself.
pub(crate) const SHORT_BYTES: usize = 40;

/// Where an unexpected message's bytes are.
pub(crate) enum Payload {
    Short {
        length: u8,
        bytes: [u8; SHORT_BYTES],
    },
    Stored(Box<[u8]>),
    /// With the sender: accepted through its transport.
    Offered {
        bytes: u64,
        offer: BulkDescriptor,
    },
    /// With the sender: to be asked for.
    Kept {
        bytes: u64,
    },
    /// There are none: the sender's operation failed, and its maker knows why by this number.
    Failed(u8),
    /// In the buffer of a send of this process.
    Own {
        slot: u32,
        bytes: u64,
    },
}

impl Payload {
    #[inline]
    pub fn store(bytes: &[u8]) -> Payload {
        if bytes.len() <= SHORT_BYTES {
            let mut short = [0; SHORT_BYTES];
            short[..bytes.len()].copy_from_slice(bytes);
            Payload::Short {
                length: bytes.len() as u8,
                bytes: short,
            }
        } else {
            Payload::Stored(bytes.into())
        }
    }

    /// The message's length.
    pub fn bytes(&self) -> u64 {
        match self {
            Payload::Short { length, .. } => u64::from(*length),
            Payload::Failed(_) => 0,
            Payload::Stored(bytes) => bytes.len() as u64,
            Payload::Offered { bytes, .. }
            | Payload::Kept { bytes }
            | Payload::Own { bytes, .. } => *bytes,
        }
    }

    /// Bytes of this process's memory that the message holds beside its cell.
    pub fn held_bytes(&self) -> u64 {
        match self {
            Payload::Stored(bytes) => bytes.len() as u64,
            _ => 0,
        }
    }
}

/// A message that came before its receive.
pub(crate) struct Unexpected {
    pub payload: Payload,
    pub peer: Peer,
    /// The sender waits to hear of the match.
    pub synchronous: bool,
    /// Names the send at its process; of an eager message only if synchronous.
    pub cookie: Cookie,
}

/// A message taken out by a matched probe.
pub(crate) struct Extracted {
    pub envelope: Envelope,
    pub unexpected: Unexpected,
}

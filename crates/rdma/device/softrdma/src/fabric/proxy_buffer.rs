//! The memory by which this process asks a peer's agent for something (`proxy`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::memory::{self, Direction, Local, MemoryError, Reach};
use super::own_segment::OwnSegment;
use super::peers::Peer;
use super::processes::Processes;
use super::record::region::Span;

pub const WORD: u64 = 8;
pub const ANSWER_AT: u64 = 1;
pub const REQUEST_AT: u64 = 3;

/// Where the bytes begin in a stage.
pub const BYTES: u64 = 128;

pub const IDLE: u64 = 0;
pub const WAITS: u64 = 1;
pub const TAKEN: u64 = 2;
pub const WITHDRAWN: u64 = 3;
pub const ANSWERED: u64 = 4;

/// Stages that nobody waits for but that their targets may still touch.
#[derive(Default)]
pub struct Abandoned(Mutex<Vec<ProxyBuffer>>);

/// A head of words and room for bytes in this process's segment.
pub struct ProxyBuffer {
    own_segment: &'static OwnSegment,
    pub(super) peer: Arc<Peer>,
    address: *mut u8,
    pub(super) room: u64,
}

// SAFETY: the memory is shared by atomic words, and its bytes by the protocol.
unsafe impl Send for ProxyBuffer {}

impl ProxyBuffer {
    /// None if there is no memory for it.
    pub fn new(
        own_segment: &'static OwnSegment,
        peer: Arc<Peer>,
        room: u64,
    ) -> Option<ProxyBuffer> {
        let address = own_segment.allocate_buffer(BYTES + room).ok()?;
        Some(ProxyBuffer {
            own_segment,
            peer,
            address,
            room,
        })
    }

    pub fn offset(&self) -> u64 {
        self.address as u64 - self.own_segment.segment().mapping().address()
    }

    pub fn word(&self, index: u64) -> &AtomicU64 {
        let mapping = self.own_segment.segment().mapping();
        let word = mapping.at(self.offset() + index * WORD);
        word.expect("a block of this process's heap")
    }

    pub fn state(&self) -> &AtomicU64 {
        self.word(0)
    }

    /// Whether the target does not touch it any more.
    pub fn is_quiet(&self) -> bool {
        matches!(self.state().load(Ordering::Acquire), IDLE | ANSWERED)
    }

    pub fn withdraw(&self) -> bool {
        let state = self.state();
        state
            .compare_exchange(WAITS, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// # Safety
    /// As [`memory::copy`].
    pub unsafe fn copy(&self, direction: Direction, local: &[Local]) -> Result<(), MemoryError> {
        let length = local.iter().map(|piece| piece.length).sum();
        if length > self.room {
            return Err(MemoryError::Fault);
        }
        let span = Span {
            address: 0,
            length,
            segment_offset: Some(self.offset() + BYTES),
        };
        let segment = self.own_segment.segment();
        // SAFETY: the caller's; the stage is this process's, and nobody else's while it is quiet.
        unsafe { memory::copy(direction, segment, Reach::Own, local, &[span]) }
    }
}

impl Abandoned {
    fn list(&self) -> MutexGuard<'_, Vec<ProxyBuffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one in.
    pub fn add(&self, buffer: ProxyBuffer, processes: &Processes) {
        self.list().push(buffer);
        self.tidy(processes);
    }

    /// Gives back the memory of those that nobody touches any more.
    pub fn tidy(&self, processes: &Processes) {
        self.list().retain(|buffer| {
            let done = buffer.is_quiet() || buffer.peer.look(processes);
            if done {
                buffer.own_segment.free_buffer(buffer.address);
            }
            !done
        });
    }
}

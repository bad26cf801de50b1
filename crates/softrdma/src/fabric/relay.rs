//! Moving bytes where the kernel lets no process copy from another: by the agent of the process whose memory it is.
//!
//! # Protocol
//! 1. The initiator has a *stage* in its own segment: a word of state, then room for the bytes. For a write it fills the stage; then
//!    it sends a letter that names stage, key, address and length.
//! 2. The target's agent judges key and range anew and copies between the stage, which it has mapped, and its own memory; then it
//!    stores the outcome in the state (release) and rings the initiator's agent.
//! 3. The initiator polls the state (acquire). For a read the bytes are in the stage by then. It frees the stage only once there is
//!    an outcome or the target is dead; a stage given up before is never used again, for the target may still write to it.
//!
//! At most [`MOST_BYTES`] go at a time, so that an agent is not held up by one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::mailbox::{Letter, MailError};
use super::memory::{self, Direction, Local, MemoryError, Reach};
use super::peers::Peer;
use super::regions::Span;
use super::{Fabric, PATIENT};

/// First word of the letters; other kinds are others' matter.
pub const RELAY: u64 = u64::from_le_bytes(*b"relay\0\0\0");

pub const MOST_BYTES: u64 = 64 << 10;

/// Where the bytes begin in a stage.
const BYTES: u64 = 64;

const WAITS: u64 = 0;
const DONE: u64 = 1;
const FAULT: u64 = 2;

/// A transfer that a peer's agent was asked for.
pub struct Relay {
    fabric: &'static Fabric,
    peer: Arc<Peer>,
    stage: *mut u8,
    length: u64,
}

// SAFETY: the stage is this transfer's alone on this side, and is reached by one thread at a time.
unsafe impl Send for Relay {}

impl Relay {
    /// Asks the agent of `peer` to move `length` bytes (at most [`MOST_BYTES`]) between the memory that `key` gives at `iova` and a
    /// stage; for a write the stage is filled from `local`. The caller has checked key and access; both are judged again.
    ///
    /// # Safety
    /// As [`memory::copy`], for a write.
    pub unsafe fn start(
        fabric: &'static Fabric,
        peer: Arc<Peer>,
        direction: Direction,
        (key, iova, length): (u32, u64, u64),
        local: &[Local],
        patience: Duration,
    ) -> Result<Relay, MailError> {
        let home = fabric.home();
        let stage = home.allocate_buffer(BYTES + length.min(MOST_BYTES));
        let stage = stage.map_err(|_| MailError::Full)?;
        let offset = stage as u64 - home.segment().mapping().address();
        let moved = match direction {
            // SAFETY: the caller's.
            Direction::Write => unsafe { fill(fabric, offset, local) },
            Direction::Read => Ok(()),
        };
        let letter: Letter = [
            RELAY,
            u64::from(direction == Direction::Write),
            u64::from(key),
            iova,
            length.min(MOST_BYTES),
            offset,
            u64::from(fabric.me().word()),
            0,
        ];
        let sent = moved.map_err(|_| MailError::Full);
        let sent = sent.and_then(|()| fabric.send(&peer, &letter, patience));
        if let Err(error) = sent {
            home.free_buffer(stage);
            return Err(error);
        }
        Ok(Relay {
            fabric,
            peer,
            stage,
            length: length.min(MOST_BYTES),
        })
    }

    fn state(&self) -> u64 {
        let mapping = self.fabric.segment().mapping();
        let state = mapping.at::<AtomicU64>(self.stage as u64 - mapping.address());
        state.map_or(FAULT, |state| state.load(Ordering::Acquire))
    }

    /// What became of it; none while the agent has not answered. For a read the bytes are at [`bytes`](Self::bytes).
    pub fn outcome(&self) -> Option<Result<(), MemoryError>> {
        match self.state() {
            DONE => Some(Ok(())),
            WAITS if self.peer.look(self.fabric.processes()) => Some(Err(MemoryError::Gone)),
            WAITS => None,
            _ => Some(Err(MemoryError::Fault)),
        }
    }

    /// The bytes in the stage.
    pub fn bytes(&self) -> Local {
        Local {
            address: self.stage as u64 + BYTES,
            length: self.length,
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        if self.outcome().is_some() {
            self.fabric.home().free_buffer(self.stage);
        }
    }
}

/// # Safety
/// As [`memory::copy`].
unsafe fn fill(fabric: &Fabric, stage: u64, local: &[Local]) -> Result<(), MemoryError> {
    let span = Span {
        address: 0,
        length: local.iter().map(|piece| piece.length).sum(),
        place: Some(stage + BYTES),
    };
    // SAFETY: the caller's; the stage is this process's.
    unsafe {
        memory::copy(
            Direction::Write,
            fabric.segment(),
            Reach::Own,
            local,
            &[span],
        )
    }
}

/// For the agent: does what a letter asks for, and answers. False if it is of another kind.
pub fn serve(fabric: &Fabric, letter: &Letter) -> bool {
    let [RELAY, writes, key, iova, length, stage, asker, _] = *letter else {
        return false;
    };
    let peer = fabric.peer(asker as u8);
    let Some(peer) = peer.filter(|peer| u64::from(peer.owner().word()) == asker) else {
        return true;
    };
    let done = transfer(
        fabric,
        &peer,
        writes != 0,
        key as u32,
        (iova, length),
        stage,
    );
    if let Some(state) = peer.segment().mapping().at::<AtomicU64>(stage) {
        state.store(if done.is_some() { DONE } else { FAULT }, Ordering::Release);
    }
    // Its agent looks at the state when it is rung; a letter that finds no room means that it is awake.
    let _ = fabric.send(&peer, &[RELAY; 8], PATIENT);
    true
}

/// Moves the bytes between this process's memory and the asker's stage.
fn transfer(
    fabric: &Fabric,
    asker: &Peer,
    writes: bool,
    key: u32,
    (iova, length): (u64, u64),
    stage: u64,
) -> Option<()> {
    let visit = fabric.own().visit(key, 0)?;
    let region = visit.region();
    let span = region.span(iova, length, region.pd, 0).ok()?;
    let begin = stage.checked_add(BYTES).filter(|_| length <= MOST_BYTES)?;
    let here = Local {
        address: span.address,
        length,
    };
    let there = Span {
        address: 0,
        length,
        place: Some(begin),
    };
    let direction = if writes {
        Direction::Read
    } else {
        Direction::Write
    };
    // SAFETY: `here` is this process's registered memory, which stays while it is visited.
    unsafe { asker.copy(direction, &[here], &[there]).ok() }
}

//! Asking a peer's agent for what this process cannot do itself, since the kernel lets it not copy from or to the peer.
//!
//! # Protocol
//! The asker has a *stage* in its own segment: a head of words (`state`, the answer, the errand), then room for bytes. It sends the
//! target's mailbox a letter that says where the stage is, one for each time it is asked. `state` goes
//!
//! ```text
//!   IDLE ──▶ WAITS ──▶ TAKEN ──▶ ANSWERED ──▶ WAITS …
//!              └────▶ WITHDRAWN ──▶ ANSWERED
//! ```
//! 1. The asker writes errand and bytes, then WAITS (release), then sends the letter. If that cannot be sent: IDLE again.
//! 2. The target's agent, for a letter, brings WAITS to TAKEN (acquire), does the errand with bytes of the stage, writes the answer, and
//!    then ANSWERED (release): its last access. An errand is thus done once at most.
//! 3. The asker brings WAITS to WITHDRAWN when it does not want it any more; then the errand is not done, and the target says
//!    ANSWERED when it reads the letter.
//! 4. The asker uses the stage anew, or gives its memory back, when `state` is IDLE or ANSWERED, or the target is dead. Until then a
//!    stage that nobody waits for stands in [`Abandoned`](super::stage::Abandoned).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::mailbox::{Letter, MailError};
use super::membership::Fabric;
use super::memory::{Direction, Local, MemoryError};
use super::peers::Peer;
use super::stage::{
    ANSWER_AT, ANSWERED, BYTES, ERRAND_AT, IDLE, Stage, TAKEN, WAITS, WITHDRAWN, WORD,
};

/// First words of letters: an errand, and that one was answered. Other letters are others' matter.
const ERRAND: u64 = u64::from_le_bytes(*b"errand\0\0");
const ANSWER: u64 = u64::from_le_bytes(*b"answer\0\0");

/// What is to be done; what the words mean is the users' matter.
pub type Errand = [u64; 12];
pub type Answer = [u64; 2];

/// How long an answer's letter may wait for the asker's mailbox. The asker looks now and then anyway.
const PATIENCE: Duration = Duration::from_millis(1);

/// What is known of an errand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The target has not taken it up, or is at it.
    Waits,
    Done(Answer),
    /// The target is dead.
    Gone,
}

/// A stage, with which one peer can be asked again and again.
pub struct Relay {
    fabric: &'static Fabric,
    stage: Option<Stage>,
}

impl Relay {
    /// To ask `peer`'s agent, with up to `room` bytes. None if there is no memory for it.
    pub fn new(fabric: &'static Fabric, peer: Arc<Peer>, room: u64) -> Option<Relay> {
        fabric.abandoned().tidy(fabric.processes());
        let stage = Stage::new(fabric.own_segment(), peer, room)?;
        Some(Relay {
            fabric,
            stage: Some(stage),
        })
    }

    fn stage(&self) -> &Stage {
        self.stage.as_ref().expect("taken by drop alone")
    }

    /// Whether `peer` can be asked with `room` bytes now.
    pub fn suits(&self, peer: &Arc<Peer>, room: u64) -> bool {
        let stage = self.stage();
        Arc::ptr_eq(&stage.peer, peer) && room <= stage.room && stage.is_quiet()
    }

    /// Sends the errand, with bytes from `local`.
    ///
    /// # Safety
    /// As [`memory::copy`](super::memory::copy), for a write.
    pub unsafe fn ask(
        &self,
        errand: &Errand,
        local: &[Local],
        patience: Duration,
    ) -> Result<(), AskError> {
        let stage = self.stage();
        // SAFETY: the caller's.
        unsafe { stage.copy(Direction::Write, local)? };
        for (index, &value) in errand.iter().enumerate() {
            stage
                .word(ERRAND_AT + index as u64)
                .store(value, Ordering::Relaxed);
        }
        stage.state().store(WAITS, Ordering::Release);
        let me = u64::from(self.fabric.me().word());
        let letter: Letter = [ERRAND, stage.offset(), me, 0, 0, 0, 0, 0];
        let sent = self.fabric.send(&stage.peer, &letter, patience);
        if sent.is_err() {
            stage.state().store(IDLE, Ordering::Relaxed);
        }
        Ok(sent?)
    }

    /// Whether the answer is there. No system call.
    pub fn is_answered(&self) -> bool {
        self.stage().state().load(Ordering::Acquire) == ANSWERED
    }

    pub fn progress(&self) -> Progress {
        let stage = self.stage();
        if !self.is_answered() {
            return match stage.peer.look(self.fabric.processes()) {
                true => Progress::Gone,
                false => Progress::Waits,
            };
        }
        let word = |index| stage.word(ANSWER_AT + index).load(Ordering::Relaxed);
        Progress::Done([word(0), word(1)])
    }

    /// Copies what the target left in the stage to `local`.
    ///
    /// # Safety
    /// As [`memory::copy`](super::memory::copy), for a read.
    pub unsafe fn fetch(&self, local: &[Local]) -> Result<(), MemoryError> {
        // SAFETY: the caller's.
        unsafe { self.stage().copy(Direction::Read, local) }
    }

    /// Sees to it that the errand is not done; false if the target was at it already.
    pub fn withdraw(&self) -> bool {
        self.stage().withdraw()
    }

    /// Leaves the errand to be done, whatever the answer.
    pub fn let_go(mut self) {
        if let Some(stage) = self.stage.take() {
            self.abandon(stage);
        }
    }

    fn abandon(&self, stage: Stage) {
        self.fabric.abandoned().add(stage, self.fabric.processes());
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        if let Some(stage) = self.stage.take() {
            stage.withdraw();
            self.abandon(stage);
        }
    }
}

/// Why an errand was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskError {
    Mail(MailError),
    Memory(MemoryError),
}

impl From<MailError> for AskError {
    fn from(error: MailError) -> AskError {
        AskError::Mail(error)
    }
}

impl From<MemoryError> for AskError {
    fn from(error: MemoryError) -> AskError {
        AskError::Memory(error)
    }
}

/// An errand as the target sees it.
pub struct Asked<'a> {
    pub errand: Errand,
    pub asker: &'a Peer,
    stage: u64,
}

impl Asked<'_> {
    /// Where the stage's first `length` bytes are mapped; none if it is not as long.
    pub fn bytes(&self, length: u64) -> Option<*mut u8> {
        let begin = self.stage.checked_add(BYTES)?;
        self.asker.segment().mapping().address_of(begin, length)
    }
}

/// What a letter was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Another kind of letter.
    Other,
    /// A peer asked; its errand was done, if it still wanted it.
    Asked,
    /// A peer has answered.
    Answered,
}

/// For the agent: what a letter asks for is done by `work`.
pub fn hear(fabric: &Fabric, letter: &Letter, work: impl FnOnce(&Asked<'_>) -> Answer) -> Heard {
    let [kind, stage, asker, ..] = *letter;
    match kind {
        ERRAND => {}
        ANSWER => return Heard::Answered,
        _ => return Heard::Other,
    }
    let peer = fabric.peer(asker as u8);
    // One that cannot be met has no answer; it gives up by itself.
    if let Some(peer) = peer.filter(|peer| u64::from(peer.owner().word()) == asker) {
        serve(&peer, stage, work);
        // If there is no room, its agent is awake.
        let _ = fabric.send(&peer, &[ANSWER, 0, 0, 0, 0, 0, 0, 0], PATIENCE);
    }
    Heard::Asked
}

fn serve(asker: &Peer, stage: u64, work: impl FnOnce(&Asked<'_>) -> Answer) {
    let mapping = asker.segment().mapping();
    let word = |index: u64| mapping.at::<AtomicU64>(stage.checked_add(index * WORD)?);
    let (Some(state), Some(_)) = (word(0), word(BYTES / WORD - 1)) else {
        return;
    };
    match state.compare_exchange(WAITS, TAKEN, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        Err(WITHDRAWN) => return state.store(ANSWERED, Ordering::Release),
        Err(_) => return,
    }
    let value = |index| word(index).map_or(0, |word| word.load(Ordering::Relaxed));
    let errand = std::array::from_fn(|index| value(ERRAND_AT + index as u64));
    let asked = Asked {
        errand,
        asker,
        stage,
    };
    for (index, value) in (ANSWER_AT..).zip(work(&asked)) {
        if let Some(word) = word(index) {
            word.store(value, Ordering::Relaxed);
        }
    }
    state.store(ANSWERED, Ordering::Release);
}

//! Asking a peer's agent for what this process cannot do itself, since the kernel lets it not copy from or to the peer.
//!
//! # Protocol
//! The asker has a *stage* in its own segment: a head of words (`state`, the answer, the request), then room for bytes. It sends the
//! target's mailbox a message that says where the stage is, one for each time it is asked. `state` goes
//!
//! ```text
//!   IDLE ──▶ WAITS ──▶ TAKEN ──▶ ANSWERED ──▶ WAITS …
//!              └────▶ WITHDRAWN ──▶ ANSWERED
//! ```
//! 1. The asker writes request and bytes, then WAITS (release), then sends the message. If that cannot be sent: IDLE again.
//! 2. The target's agent, for a message, brings WAITS to TAKEN (acquire), does the request with bytes of the stage, writes the answer, and
//!    then ANSWERED (release): its last access. A proxied step is thus done once at most.
//! 3. The asker brings WAITS to WITHDRAWN when it does not want it any more; then the request is not done, and the target says
//!    ANSWERED when it reads the message.
//! 4. The asker uses the stage anew, or gives its memory back, when `state` is IDLE or ANSWERED, or the target is dead. Until then a
//!    stage that nobody waits for stands in [`Abandoned`](super::stage::Abandoned).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::mailbox::{MailError, MailboxMessage};
use super::membership::Fabric;
use super::memory::{Direction, Local, MemoryError};
use super::peers::Peer;
use super::proxy_buffer::{
    ANSWER_AT, ANSWERED, BYTES, IDLE, ProxyBuffer, REQUEST_AT, TAKEN, WAITS, WITHDRAWN, WORD,
};

/// First words of messages: a proxied step, and that one was answered. Other messages are others' matter.
const REQUEST: u64 = u64::from_le_bytes(*b"request\0");
const ANSWER: u64 = u64::from_le_bytes(*b"answer\0\0");

/// What is to be done; what the words mean is the users' matter.
pub type ProxyRequest = [u64; 12];
pub type Answer = [u64; 2];

/// How long an answer's message may wait for the asker's mailbox. The asker looks now and then anyway.
const PATIENCE: Duration = Duration::from_millis(1);

/// What is known of a proxied step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The target has not taken it up, or is at it.
    Waits,
    Done(Answer),
    /// The target is dead.
    Gone,
}

/// A stage, with which one peer can be asked again and again.
pub struct ProxyChannel {
    fabric: &'static Fabric,
    buffer: Option<ProxyBuffer>,
}

impl ProxyChannel {
    /// To ask `peer`'s agent, with up to `room` bytes. None if there is no memory for it.
    pub fn new(fabric: &'static Fabric, peer: Arc<Peer>, room: u64) -> Option<ProxyChannel> {
        fabric.abandoned().tidy(fabric.processes());
        let buffer = ProxyBuffer::new(fabric.own_segment(), peer, room)?;
        Some(ProxyChannel {
            fabric,
            buffer: Some(buffer),
        })
    }

    fn buffer(&self) -> &ProxyBuffer {
        self.buffer.as_ref().expect("taken by drop alone")
    }

    /// Whether `peer` can be asked with `room` bytes now.
    pub fn suits(&self, peer: &Arc<Peer>, room: u64) -> bool {
        let buffer = self.buffer();
        Arc::ptr_eq(&buffer.peer, peer) && room <= buffer.room && buffer.is_quiet()
    }

    /// Sends the request, with bytes from `local`.
    ///
    /// # Safety
    /// As [`memory::copy`](super::memory::copy), for a write.
    pub unsafe fn ask(
        &self,
        request: &ProxyRequest,
        local: &[Local],
        patience: Duration,
    ) -> Result<(), ProxyError> {
        let buffer = self.buffer();
        // SAFETY: the caller's.
        unsafe { buffer.copy(Direction::Write, local)? };
        for (index, &value) in request.iter().enumerate() {
            buffer
                .word(REQUEST_AT + index as u64)
                .store(value, Ordering::Relaxed);
        }
        buffer.state().store(WAITS, Ordering::Release);
        let me = u64::from(self.fabric.me().word());
        let message: MailboxMessage = [REQUEST, buffer.offset(), me, 0, 0, 0, 0, 0];
        let sent = self.fabric.send(&buffer.peer, &message, patience);
        if sent.is_err() {
            buffer.state().store(IDLE, Ordering::Relaxed);
        }
        Ok(sent?)
    }

    /// Whether the answer is there. No system call.
    pub fn is_answered(&self) -> bool {
        self.buffer().state().load(Ordering::Acquire) == ANSWERED
    }

    pub fn progress(&self) -> Progress {
        let buffer = self.buffer();
        if !self.is_answered() {
            return match buffer.peer.look(self.fabric.processes()) {
                true => Progress::Gone,
                false => Progress::Waits,
            };
        }
        let word = |index| buffer.word(ANSWER_AT + index).load(Ordering::Relaxed);
        Progress::Done([word(0), word(1)])
    }

    /// Copies what the target left in the stage to `local`.
    ///
    /// # Safety
    /// As [`memory::copy`](super::memory::copy), for a read.
    pub unsafe fn fetch(&self, local: &[Local]) -> Result<(), MemoryError> {
        // SAFETY: the caller's.
        unsafe { self.buffer().copy(Direction::Read, local) }
    }

    /// Sees to it that the request is not done; false if the target was at it already.
    pub fn withdraw(&self) -> bool {
        self.buffer().withdraw()
    }

    /// Leaves the request to be done, whatever the answer.
    pub fn let_go(mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.abandon(buffer);
        }
    }

    fn abandon(&self, buffer: ProxyBuffer) {
        self.fabric.abandoned().add(buffer, self.fabric.processes());
    }
}

impl Drop for ProxyChannel {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            buffer.withdraw();
            self.abandon(buffer);
        }
    }
}

/// Why a proxied step was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyError {
    Mail(MailError),
    Memory(MemoryError),
}

impl From<MailError> for ProxyError {
    fn from(error: MailError) -> ProxyError {
        ProxyError::Mail(error)
    }
}

impl From<MemoryError> for ProxyError {
    fn from(error: MemoryError) -> ProxyError {
        ProxyError::Memory(error)
    }
}

/// A proxied step as the target sees it.
pub struct ProxyWork<'a> {
    pub request: ProxyRequest,
    pub asker: &'a Peer,
    buffer: u64,
}

impl ProxyWork<'_> {
    /// Where the stage's first `length` bytes are mapped; none if it is not as long.
    pub fn bytes(&self, length: u64) -> Option<*mut u8> {
        let begin = self.buffer.checked_add(BYTES)?;
        self.asker.segment().mapping().address_of(begin, length)
    }
}

/// What a message was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Another kind of message.
    Other,
    /// A peer asked; its request was done, if it still wanted it.
    Asked,
    /// A peer has answered.
    Answered,
}

/// For the agent: what a message asks for is done by `work`.
pub fn receive(
    fabric: &Fabric,
    message: &MailboxMessage,
    work: impl FnOnce(&ProxyWork<'_>) -> Answer,
) -> MessageKind {
    let [kind, buffer, asker, ..] = *message;
    match kind {
        REQUEST => {}
        ANSWER => return MessageKind::Answered,
        _ => return MessageKind::Other,
    }
    let peer = fabric.peer(asker as u8);
    // One that cannot be met has no answer; it gives up by itself.
    if let Some(peer) = peer.filter(|peer| u64::from(peer.owner().word()) == asker) {
        serve(&peer, buffer, work);
        // If there is no room, its agent is awake.
        let _ = fabric.send(&peer, &[ANSWER, 0, 0, 0, 0, 0, 0, 0], PATIENCE);
    }
    MessageKind::Asked
}

fn serve(asker: &Peer, buffer: u64, work: impl FnOnce(&ProxyWork<'_>) -> Answer) {
    let mapping = asker.segment().mapping();
    let word = |index: u64| mapping.at::<AtomicU64>(buffer.checked_add(index * WORD)?);
    let (Some(state), Some(_)) = (word(0), word(BYTES / WORD - 1)) else {
        return;
    };
    match state.compare_exchange(WAITS, TAKEN, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        Err(WITHDRAWN) => return state.store(ANSWERED, Ordering::Release),
        Err(_) => return,
    }
    let value = |index| word(index).map_or(0, |word| word.load(Ordering::Relaxed));
    let request = std::array::from_fn(|index| value(REQUEST_AT + index as u64));
    let asked = ProxyWork {
        request,
        asker,
        buffer,
    };
    for (index, value) in (ANSWER_AT..).zip(work(&asked)) {
        if let Some(word) = word(index) {
            word.store(value, Ordering::Relaxed);
        }
    }
    state.store(ANSWERED, Ordering::Release);
}

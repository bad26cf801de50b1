//! Messages to a process's agent thread, from any process.
//!
//! A ring in the receiver's segment. Senders hold `lock`; a message is whole before `tail` passes it (one store, so a dead
//! sender leaves nothing half-done). The one reader takes it and moves `head`. A sender then rings the agent's socket unless
//! it was rung already: `rung` goes to 1 by the sender, and to 0 by the agent before it looks (both SeqCst), so no
//! message stays behind a look.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::lock::{Busy, SharedLock};
use super::mapping::Shared;
use super::processes::Processes;

const MESSAGES: u32 = 1024;
pub const MESSAGE_WORDS: usize = 8;

/// A message; what its words mean is its users' matter. The first is not 0.
pub type MailboxMessage = [u64; MESSAGE_WORDS];

#[repr(C, align(64))]
struct CacheLine(AtomicU32);

#[repr(C, align(64))]
pub struct MailboxRecord {
    lock: SharedLock,
    tail: AtomicU32,
    rung: CacheLine,
    head: CacheLine,
    messages: [[AtomicU64; MESSAGE_WORDS]; MESSAGES as usize],
}

// SAFETY: atomic integers only.
unsafe impl Shared for MailboxRecord {}

/// A process's mailbox.
#[derive(Clone, Copy)]
pub struct Mailbox<'a> {
    record: &'a MailboxRecord,
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailError {
    Busy,
    /// The receiver does not read: try again later.
    Full,
}

impl From<Busy> for MailError {
    fn from(_: Busy) -> MailError {
        MailError::Busy
    }
}

impl<'a> Mailbox<'a> {
    pub(super) fn new(record: &'a MailboxRecord) -> Mailbox<'a> {
        Mailbox { record }
    }

    /// Puts a message in. True if the agent's doorbell must be rung now.
    pub(super) fn put(
        &self,
        processes: &Processes,
        message: &MailboxMessage,
        patience: Duration,
    ) -> Result<bool, MailError> {
        let held = self.record.lock.take(processes, patience)?;
        let tail = self.record.tail.load(Ordering::Relaxed);
        if tail.wrapping_sub(self.record.head.0.load(Ordering::Acquire)) >= MESSAGES {
            return Err(MailError::Full);
        }
        let slot = &self.record.messages[(tail % MESSAGES) as usize];
        for (word, &value) in slot.iter().zip(message) {
            word.store(value, Ordering::Relaxed);
        }
        self.record
            .tail
            .store(tail.wrapping_add(1), Ordering::Release);
        drop(held);
        Ok(self.ring())
    }

    /// True if the doorbell must be rung for somebody to look here.
    pub(super) fn ring(&self) -> bool {
        self.record.rung.0.swap(1, Ordering::SeqCst) == 0
    }

    /// The agent hears the doorbell: what is sent from here on rings again.
    pub fn clear_doorbell(&self) {
        self.record.rung.0.swap(0, Ordering::SeqCst);
    }

    /// The oldest message. One reader at a time.
    pub fn take(&self) -> Option<MailboxMessage> {
        let head = self.record.head.0.load(Ordering::Relaxed);
        let tail = self.record.tail.load(Ordering::Acquire);
        if head == tail || tail.wrapping_sub(head) > MESSAGES {
            return None;
        }
        let slot = &self.record.messages[(head % MESSAGES) as usize];
        let message = std::array::from_fn(|word| slot[word].load(Ordering::Relaxed));
        self.record
            .head
            .0
            .store(head.wrapping_add(1), Ordering::Release);
        Some(message)
    }
}

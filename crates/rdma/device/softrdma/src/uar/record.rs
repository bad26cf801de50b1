//! The figures of a process, in memory that other processes can read.
//!
//! # Layout
//! A *chunk* is 32 records of 128 bytes, which are 16 words in two cache lines of their own. Its first record is its head: magic, then the offset of the
//! chunk that was added before it. Every other record is a context's, a queue's, or free (all its first word zero).
//!
//! # Protocol
//! 1. A chunk is filled before it is published and is never taken away while the process lives.
//! 2. A record has one owner in its process: the object that it tells of. Its words are written by the thread that the
//!    object's lock lets in; two locks of one object have words of their own.
//! 3. The first word, the tag, is stored last when a record is taken and first when it is freed (release).
//! 4. Readers are anywhere, at any time, and change nothing. They take words as they stand: a sum may be a moment old, and
//!    an object that goes away while they read may be counted twice or not at all.

use std::sync::atomic::{AtomicU64, Ordering};

use super::lock::{Tally, add};

pub const WORDS: usize = 16;
pub const RECORDS: usize = 32;
pub const CHUNK_BYTES: usize = RECORDS * WORDS * 8;
pub const CHUNK_MAGIC: u64 = u64::from_le_bytes(*b"weft-uar");

#[derive(Debug)]
#[repr(C, align(64))]
pub struct Record(pub(super) [AtomicU64; WORDS]);

#[derive(Debug)]
#[repr(C, align(64))]
pub struct Chunk(pub(super) [Record; RECORDS]);

const _: () = assert!(size_of::<Chunk>() == CHUNK_BYTES && size_of::<Record>() == 128);

/// The words of a chunk, as a reader took them.
pub(super) type ChunkWords = [[u64; WORDS]; RECORDS];

impl Default for Chunk {
    fn default() -> Chunk {
        Chunk(std::array::from_fn(|_| {
            Record(std::array::from_fn(|_| AtomicU64::new(0)))
        }))
    }
}

impl Chunk {
    pub(super) fn words(&self) -> ChunkWords {
        self.0
            .each_ref()
            .map(|record| record.0.each_ref().map(|word| word.load(Ordering::Relaxed)))
    }
}

/// What a record tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// The counts of a context: the words of [`context_word`].
    Context = 1,
    /// A living object with figures of its own: the words of [`word`].
    Object = 2,
    /// The figures of a context's objects that are gone: the words of [`word`].
    Retired = 3,
}

/// The words of an object's record.
pub mod word {
    pub const REQUESTS: usize = 1;
    pub const POSTS: usize = 2;
    pub const DOORBELLS: usize = 3;
    pub const BLUEFLAME_WRITES: usize = 4;
    pub const BLUEFLAME_BYTES: usize = 5;
    /// Each lock has two words: takes, and those of them that found it taken.
    pub const SEND_LOCK: usize = 6;
    pub const UUAR_LOCK: usize = 8;
    pub const RECEIVE_LOCK: usize = 10;
    pub const CQ_LOCK: usize = 12;
    pub const SRQ_LOCK: usize = 14;
}

/// The words of a context's record.
pub mod context_word {
    /// `policy | total uUARs << 8 | low-latency uUARs << 24`, policy 0 for static.
    pub const SETTINGS: usize = 1;
    pub const STATIC_PAGES: usize = 2;
    pub const DYNAMIC_PAGES: usize = 3;
    pub const STATIC_UUARS: usize = 4;
    pub const DYNAMIC_UUARS: usize = 5;
    /// uUARs with at least one queue pair.
    pub const USED_UUARS: usize = 6;
    pub const TDS_LEVEL_1: usize = 7;
    pub const TDS_LEVEL_2: usize = 8;
    pub const PDS: usize = 9;
    pub const MRS: usize = 10;
    pub const QPS: usize = 11;
    pub const CQS: usize = 12;
    pub const SRQS: usize = 13;
}

/// The first word of a record: `kind | device << 8 | context << 16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub kind: RecordKind,
    pub device: u8,
    /// Which of the process's contexts.
    pub context: u32,
}

impl Tag {
    pub(super) fn to_word(self) -> u64 {
        self.kind as u64 | u64::from(self.device) << 8 | u64::from(self.context) << 16
    }

    /// The tag of a record that is not free; `None` also for nonsense.
    pub fn from_word(word: u64) -> Option<Tag> {
        let kind = match word as u8 {
            1 => RecordKind::Context,
            2 => RecordKind::Object,
            3 => RecordKind::Retired,
            _ => return None,
        };
        Some(Tag {
            kind,
            device: (word >> 8) as u8,
            context: u32::try_from(word >> 16).ok()?,
        })
    }
}

impl Record {
    pub(super) fn add(&self, word: usize, more: u64) {
        add(&self.0[word], more);
    }

    pub(super) fn set(&self, word: usize, value: u64) {
        self.0[word].store(value, Ordering::Relaxed);
    }

    /// Adds the figures of `other`, an object that is going away.
    pub(super) fn absorb(&self, other: &Record) {
        for word in 1..WORDS {
            self.add(word, other.word(word));
        }
    }

    pub(super) fn word(&self, word: usize) -> u64 {
        self.0[word].load(Ordering::Relaxed)
    }

    /// Where the figures of the lock whose words start at `word` are written.
    #[inline]
    pub(super) fn tally(&self, word: usize) -> Tally<'_> {
        Tally {
            takes: &self.0[word],
            contentions: &self.0[word + 1],
        }
    }
}

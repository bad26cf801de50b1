//! What can be counted of the adapter's resources, read from records and added up.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use super::adapter::{CONTEXT_BYTES, CQ_BYTES, MR_BYTES, PD_BYTES, QP_BYTES};
use super::record::{CHUNK_MAGIC, ChunkWords, RecordKind, Tag, WORDS, context_word, word};
use super::settings::Policy;

pub use weft_verbs_abi::softrdma_lock_stat as LockFigures;

/// Figures of one context, or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub contexts: u64,
    /// UAR pages that contexts had from the start, and those that came later.
    pub static_uars: u64,
    pub dynamic_uars: u64,
    pub static_uuars: u64,
    pub dynamic_uuars: u64,
    /// uUARs on which at least one queue pair stands.
    pub used_uuars: u64,
    /// Thread domains by level of sharing.
    pub tds_level_1: u64,
    pub tds_level_2: u64,
    pub pds: u64,
    pub mrs: u64,
    pub qps: u64,
    pub cqs: u64,
    pub srqs: u64,
    /// Work requests on send queues, and the calls that posted them.
    pub requests: u64,
    pub posts: u64,
    pub doorbells: u64,
    pub blueflame_writes: u64,
    pub blueflame_bytes: u64,
    pub send_lock: LockFigures,
    pub uuar_lock: LockFigures,
    pub receive_lock: LockFigures,
    pub cq_lock: LockFigures,
    pub srq_lock: LockFigures,
}

impl Figures {
    pub fn uars(&self) -> u64 {
        self.static_uars.saturating_add(self.dynamic_uars)
    }

    pub fn uuars(&self) -> u64 {
        self.static_uuars.saturating_add(self.dynamic_uuars)
    }

    /// uUARs that were allocated and have no queue pair.
    pub fn wasted_uuars(&self) -> u64 {
        self.uuars().saturating_sub(self.used_uuars)
    }

    /// Memory by Table I of the paper.
    pub fn bytes(&self) -> u64 {
        [
            (self.contexts, CONTEXT_BYTES),
            (self.pds, PD_BYTES),
            (self.mrs, MR_BYTES),
            (self.qps, QP_BYTES),
            (self.cqs, CQ_BYTES),
        ]
        .iter()
        .fold(0, |sum: u64, (count, each)| {
            sum.saturating_add(count.saturating_mul(*each))
        })
    }

    /// All locks together.
    pub fn locks(&self) -> LockFigures {
        let mut sum = LockFigures::default();
        for lock in [
            self.send_lock,
            self.uuar_lock,
            self.receive_lock,
            self.cq_lock,
            self.srq_lock,
        ] {
            sum += lock;
        }
        sum
    }

    fn of_context(words: &[u64; WORDS]) -> Figures {
        Figures {
            contexts: 1,
            static_uars: words[context_word::STATIC_PAGES],
            dynamic_uars: words[context_word::DYNAMIC_PAGES],
            static_uuars: words[context_word::STATIC_UUARS],
            dynamic_uuars: words[context_word::DYNAMIC_UUARS],
            used_uuars: words[context_word::USED_UUARS],
            tds_level_1: words[context_word::TDS_LEVEL_1],
            tds_level_2: words[context_word::TDS_LEVEL_2],
            pds: words[context_word::PDS],
            mrs: words[context_word::MRS],
            qps: words[context_word::QPS],
            cqs: words[context_word::CQS],
            srqs: words[context_word::SRQS],
            ..Figures::default()
        }
    }

    fn of_object(words: &[u64; WORDS]) -> Figures {
        let lock = |word: usize| LockFigures {
            takes: words[word],
            contentions: words[word + 1],
        };
        Figures {
            requests: words[word::REQUESTS],
            posts: words[word::POSTS],
            doorbells: words[word::DOORBELLS],
            blueflame_writes: words[word::BLUEFLAME_WRITES],
            blueflame_bytes: words[word::BLUEFLAME_BYTES],
            send_lock: lock(word::SEND_LOCK),
            uuar_lock: lock(word::UUAR_LOCK),
            receive_lock: lock(word::RECEIVE_LOCK),
            cq_lock: lock(word::CQ_LOCK),
            srq_lock: lock(word::SRQ_LOCK),
            ..Figures::default()
        }
    }
}

/// Sums of what another process wrote, which may be nonsense: they end at the largest number.
impl AddAssign for Figures {
    fn add_assign(&mut self, other: Figures) {
        for (sum, more) in [
            (&mut self.contexts, other.contexts),
            (&mut self.static_uars, other.static_uars),
            (&mut self.dynamic_uars, other.dynamic_uars),
            (&mut self.static_uuars, other.static_uuars),
            (&mut self.dynamic_uuars, other.dynamic_uuars),
            (&mut self.used_uuars, other.used_uuars),
            (&mut self.tds_level_1, other.tds_level_1),
            (&mut self.tds_level_2, other.tds_level_2),
            (&mut self.pds, other.pds),
            (&mut self.mrs, other.mrs),
            (&mut self.qps, other.qps),
            (&mut self.cqs, other.cqs),
            (&mut self.srqs, other.srqs),
            (&mut self.requests, other.requests),
            (&mut self.posts, other.posts),
            (&mut self.doorbells, other.doorbells),
            (&mut self.blueflame_writes, other.blueflame_writes),
            (&mut self.blueflame_bytes, other.blueflame_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.send_lock += other.send_lock;
        self.uuar_lock += other.uuar_lock;
        self.receive_lock += other.receive_lock;
        self.cq_lock += other.cq_lock;
        self.srq_lock += other.srq_lock;
    }
}

/// One context of a process, with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFigures {
    /// The device that it is a context of.
    pub device: u8,
    /// Counts the contexts of its process from 1.
    pub number: u32,
    pub policy: Policy,
    /// `MLX5_TOTAL_UUARS` and `MLX5_NUM_LOW_LAT_UUARS` as they took effect.
    pub total_uuars: u32,
    pub low_latency_uuars: u32,
    pub figures: Figures,
}

impl ContextFigures {
    fn new(tag: Tag, words: &[u64; WORDS]) -> ContextFigures {
        let settings = words[context_word::SETTINGS];
        ContextFigures {
            device: tag.device,
            number: tag.context,
            policy: if settings & 0xff == 0 {
                Policy::Static
            } else {
                Policy::Dynamic
            },
            total_uuars: (settings >> 8) as u32 & 0xffff,
            low_latency_uuars: (settings >> 24) as u32 & 0xffff,
            figures: Figures::of_context(words),
        }
    }
}

/// Reads the chunks of a process from the newest on, and adds up its contexts, by number. `read` gives the chunk at an
/// offset; where there is none, or it is no chunk, the rest is left out.
pub(super) fn read_contexts(
    newest: u64,
    mut read: impl FnMut(u64) -> Option<ChunkWords>,
) -> Vec<ContextFigures> {
    let mut contexts = BTreeMap::new();
    let mut objects = Vec::new();
    let mut at = newest;
    for _ in 0..MOST_CHUNKS {
        let chunk = match read(at) {
            Some(chunk) if at != 0 && chunk[0][0] == CHUNK_MAGIC => chunk,
            _ => break,
        };
        for words in &chunk[1..] {
            match Tag::from_word(words[0]) {
                Some(tag) if tag.kind == RecordKind::Context => {
                    contexts.insert(tag.context, ContextFigures::new(tag, words));
                }
                Some(tag) => objects.push((tag.context, Figures::of_object(words))),
                None => {}
            }
        }
        at = chunk[0][1];
    }
    for (context, figures) in objects {
        if let Some(context) = contexts.get_mut(&context) {
            context.figures += figures;
        }
    }
    contexts.into_values().collect()
}

/// More than the objects of a process need, so that a chain that is a ring ends.
const MOST_CHUNKS: usize = 1 << 14;

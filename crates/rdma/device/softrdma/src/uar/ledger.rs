//! The records of a process: taken, given back, and where readers find them.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::figures::{ContextFigures, read_contexts};
use super::record::{CHUNK_MAGIC, Chunk, Record, Tag, WORDS};

/// Where chunks come from: the process's segment, or a test's heap.
pub trait ChunkSource: Send + Sync {
    /// A chunk of zeroes that lives as long as the process, and its offset, which is not 0.
    fn allocate(&self) -> Option<(&'static Chunk, u64)>;

    /// Makes the chunk at `offset` the one where readers start.
    fn publish(&self, offset: u64);
}

/// The records of this process.
pub struct Ledger {
    source: Box<dyn ChunkSource>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    newest_chunk: u64,
    chunks: BTreeMap<u64, &'static Chunk>,
    free: Vec<&'static Record>,
    contexts: u32,
}

impl Ledger {
    pub fn new(source: Box<dyn ChunkSource>) -> Ledger {
        Ledger {
            source,
            state: Mutex::default(),
        }
    }

    /// A number that no other context of this process has had.
    pub(super) fn next_context(&self) -> u32 {
        let mut state = self.lock();
        state.contexts += 1;
        state.contexts
    }

    /// A record with all its words zero but the tag.
    pub(super) fn take(&self, tag: Tag) -> Option<&'static Record> {
        let mut state = self.lock();
        if state.free.is_empty() {
            self.grow(&mut state)?;
        }
        let record = state.free.pop()?;
        for word in 1..WORDS {
            record.set(word, 0);
        }
        record.0[0].store(tag.to_word(), Ordering::Release);
        Some(record)
    }

    /// Takes back what [`Ledger::take`] gave.
    pub(super) fn give_back(&self, record: &'static Record) {
        record.0[0].store(0, Ordering::Release);
        self.lock().free.push(record);
    }

    /// The contexts of this process.
    pub fn contexts(&self) -> Vec<ContextFigures> {
        let (newest, chunks) = {
            let state = self.lock();
            (state.newest_chunk, state.chunks.clone())
        };
        read_contexts(newest, |offset| {
            chunks.get(&offset).map(|chunk| chunk.words())
        })
    }

    #[cfg(test)]
    pub(super) fn chunk_count(&self) -> usize {
        self.lock().chunks.len()
    }

    fn grow(&self, state: &mut State) -> Option<()> {
        let (chunk, offset) = self.source.allocate()?;
        let (head, records) = chunk.0.split_first()?;
        head.set(1, state.newest_chunk);
        head.set(0, CHUNK_MAGIC);
        state.newest_chunk = offset;
        state.chunks.insert(offset, chunk);
        state.free.extend(records.iter().rev());
        self.source.publish(offset);
        Some(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

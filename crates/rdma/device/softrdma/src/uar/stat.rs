//! The figures of the processes of a fabric.
//!
//! They are read from the processes' segments (`fabric::look`), which takes no place in the fabric and changes nothing.

use std::io;

use super::figures::read_contexts;
pub use super::figures::{ContextFigures, Figures, LockFigures};
use super::record::{Chunk, ChunkWords, RECORDS, WORDS};
use crate::fabric::look::{self, Seen};

/// A process and its contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// What it runs, as far as the kernel tells: 15 characters.
    pub program: String,
    pub contexts: Vec<ContextFigures>,
}

/// The living processes of this user in the fabric called `fabric`, by number; none if there is no such fabric.
pub fn processes(fabric: &str) -> io::Result<Vec<Process>> {
    let mut processes: Vec<Process> = look::processes(fabric)?.iter().map(Process::new).collect();
    processes.sort_by_key(|process| process.pid);
    Ok(processes)
}

/// The process of that number, if it lives in the fabric called `fabric`.
pub fn process(fabric: &str, pid: u32) -> io::Result<Option<Process>> {
    let seen = look::processes(fabric)?;
    Ok(seen.iter().find(|seen| seen.pid == pid).map(Process::new))
}

impl Process {
    fn new(seen: &Seen) -> Process {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", seen.pid));
        let contexts = read_contexts(seen.figures(), |offset| {
            let mut bytes = [0; size_of::<Chunk>()];
            seen.read(offset, &mut bytes).then(|| words_of(&bytes))
        });
        Process {
            pid: seen.pid,
            program: name.unwrap_or_default().trim_end().to_owned(),
            contexts,
        }
    }
}

fn words_of(bytes: &[u8; size_of::<Chunk>()]) -> ChunkWords {
    let mut words: ChunkWords = [[0; WORDS]; RECORDS];
    let (all, _) = bytes.as_chunks();
    for (word, bytes) in words.as_flattened_mut().iter_mut().zip(all) {
        *word = u64::from_ne_bytes(*bytes);
    }
    words
}

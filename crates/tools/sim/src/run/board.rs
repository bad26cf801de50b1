//! What ranks have posted and entered on the board (`weft_sync::board`), and who waits for what.

use std::collections::HashMap;

use crate::Act;
use weft_sync::board::{BUFFERS, CELLS, INLINE_BYTES};

pub struct Board {
    /// The last step that each rank has entered.
    entered: Vec<u64>,
    /// When each rank has posted in each step.
    posted: HashMap<(usize, u64), f64>,
    /// The last step in which each has posted; the last that it knows that all have entered.
    last: Vec<u64>,
    known: Vec<u64>,
    /// How many wait for each post, soon or late.
    readers: HashMap<(usize, u64), usize>,
    /// Who waits for a rank's post, or for its entry.
    posts: HashMap<(usize, u64), Vec<usize>>,
    entries: HashMap<(usize, u64), Vec<usize>>,
}

/// A rank that is behind, and the step that it has to enter.
pub struct Late {
    rank: usize,
    step: u64,
}

impl Board {
    pub fn new(acts: &[Vec<Act>]) -> Board {
        let ranks = acts.len();
        let mut readers: HashMap<(usize, u64), usize> = HashMap::new();
        for act in acts.iter().flatten() {
            if let Act::Await { rank, step } = *act {
                *readers.entry((rank, step)).or_default() += 1;
            }
        }
        Board {
            entered: vec![0; ranks],
            posted: HashMap::new(),
            last: vec![0; ranks],
            known: vec![0; ranks],
            readers,
            posts: HashMap::new(),
            entries: HashMap::new(),
        }
    }

    /// When a rank has posted in the step, or will have.
    pub fn posted(&self, rank: usize, step: u64) -> Option<f64> {
        self.posted.get(&(rank, step)).copied()
    }

    pub fn await_post(&mut self, rank: usize, step: u64, waiting: usize) {
        self.posts.entry((rank, step)).or_default().push(waiting);
    }

    pub fn await_entry(&mut self, Late { rank, step }: Late, waiting: usize) {
        self.entries.entry((rank, step)).or_default().push(waiting);
    }

    /// Who waited for it.
    pub fn enter(&mut self, rank: usize, step: u64) -> Vec<usize> {
        self.entered[rank] = step;
        self.entries.remove(&(rank, step)).unwrap_or_default()
    }

    pub fn post(&mut self, rank: usize, step: u64, ns: f64) -> Vec<usize> {
        self.posted.insert((rank, step), ns);
        self.last[rank] = step;
        self.posts.remove(&(rank, step)).unwrap_or_default()
    }

    /// How many wait for what a rank posts in the step.
    pub fn readers(&self, rank: usize, step: u64) -> usize {
        self.readers.get(&(rank, step)).copied().unwrap_or(0)
    }

    /// When a rank has posted last, and how many wait for that.
    pub fn last(&self, rank: usize) -> Option<(f64, usize)> {
        let step = self.last[rank];
        Some((self.posted(rank, step)?, self.readers(rank, step)))
    }

    /// Whether what a rank posts in the step may be written: all have entered a step behind the one that its place held
    /// (rule 2 of the board). If so, whether the rank has to look where all are.
    pub fn has_room(&mut self, rank: usize, step: u64, bytes: usize) -> Result<bool, Late> {
        let ahead = if bytes > INLINE_BYTES { BUFFERS } else { CELLS } as u64;
        let step = (step + 1).saturating_sub(ahead);
        if self.known[rank] >= step {
            return Ok(false);
        }
        let mut entered = self.entered.iter();
        if let Some(rank) = entered.position(|&entered| entered < step) {
            return Err(Late { rank, step });
        }
        self.known[rank] = self.entered.iter().copied().min().unwrap_or(0);
        Ok(true)
    }
}

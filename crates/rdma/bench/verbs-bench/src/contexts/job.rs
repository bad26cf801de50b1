//! What both sides know before they begin, and what they tell the driver.

use serde::{Deserialize, Serialize};

use crate::cycles;
use crate::pins::Placement;

/// What both sides know before they begin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shape {
    pub contexts: usize,
    /// Requests that a queue pair has room for.
    pub depth: usize,
    pub bytes: usize,
    /// Of two threads, the sender's first.
    pub placement: Placement,
}

/// What the sender is told to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Round {
    pub seconds: f64,
    /// Reads the counter before and after every call.
    pub is_measured: bool,
}

/// Calls, and the cycles spent in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    pub count: u64,
    pub cycles: u64,
}

impl Calls {
    pub fn add(&mut self, cycles: u64) {
        self.count += 1;
        self.cycles += cycles;
    }

    /// Cycles a call.
    pub fn mean(self) -> f64 {
        self.cycles as f64 / self.count as f64
    }
}

/// What a round gave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    pub completed: u64,
    pub seconds: f64,
    /// From the first post to the last poll.
    pub cycles: u64,
    pub posts: Calls,
    /// By the number of completions that a call gave: the paper's Figure 3.
    pub polls: Vec<Calls>,
}

impl Tally {
    pub fn rate(&self) -> f64 {
        self.completed as f64 / self.seconds
    }

    pub fn all_polls(&self) -> Calls {
        self.polls
            .iter()
            .fold(Calls::default(), |sum, calls| Calls {
                count: sum.count + calls.count,
                cycles: sum.cycles + calls.cycles,
            })
    }
}

/// The same with and without measuring inside: the paper's rates are those without.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sample {
    pub plain: Tally,
    pub measured: Tally,
}

/// What measured cycles are called.
pub const UNIT: &str = cycles::UNIT;

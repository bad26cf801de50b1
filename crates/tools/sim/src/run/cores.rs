//! Who runs on which core.

use std::collections::VecDeque;

use weft_engine::{Pace, awake_ns};

use crate::Host;
use crate::software::{SPIN_NS, SWITCH_NS};

/// xorshift64*
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        number as f64 / (1u64 << 53) as f64
    }
}

#[derive(Clone, Default)]
struct Core {
    runs: Option<usize>,
    ready: VecDeque<usize>,
    waiting: usize,
}

pub struct Cores<'a> {
    host: &'a Host,
    cores: Vec<Core>,
    awake_ns: f64,
    random: Random,
}

impl Cores<'_> {
    pub fn new(host: &Host, ranks: usize, random: Random) -> Cores<'_> {
        let pace = match ranks > host.cores {
            true => Pace::SHARED,
            false => Pace::ALONE,
        };
        // A turn of one that yields is one of all on its core.
        let turns = ranks.div_ceil(host.cores) as f64;
        let spins = f64::from(pace.spins) * SPIN_NS;
        let yields = f64::from(pace.yields) * (host.yield_ns + SWITCH_NS) * turns;
        let by_clock = awake_ns(pace, Some(host.wake.between_ns(0.0) as u64)) as f64;
        Cores {
            host,
            cores: vec![Core::default(); host.cores],
            awake_ns: spins + yields.max(by_clock),
            random,
        }
    }

    /// For how long a rank that waits stays awake.
    pub fn awake_ns(&self) -> f64 {
        self.awake_ns
    }

    /// Whether a rank waits, and so takes turns of its core.
    pub fn waits(&mut self, rank: usize, does: bool) {
        let core = &mut self.cores[rank % self.host.cores];
        match does {
            true => core.waiting += 1,
            false => core.waiting -= 1,
        }
    }

    /// A rank could run: from when on it does, if its core is free.
    pub fn enter(&mut self, rank: usize, ns: f64) -> Option<f64> {
        let core = &mut self.cores[rank % self.host.cores];
        if core.runs.is_some() {
            core.ready.push_back(rank);
            return None;
        }
        core.runs = Some(rank);
        let turns = core.waiting as f64 * (self.host.yield_ns + SWITCH_NS);
        Some(ns + self.random.part() * turns)
    }

    /// A rank runs no more: which runs next, and from when on.
    pub fn leave(&mut self, rank: usize, ns: f64) -> Option<(usize, f64)> {
        let core = &mut self.cores[rank % self.host.cores];
        core.runs = core.ready.pop_front();
        core.runs
            .map(|next| (next, ns + self.host.yield_ns + SWITCH_NS))
    }
}

//! The static policy: all uUARs are there when the context is opened, and queue pairs are spread over them.
//!
//! Zambre 2018, appendix B, and what the kernel does where the paper is silent. Of `total` uUARs, the top `low_latency` ones
//! belong to one queue pair each; number 0, *high latency*, takes doorbells only; those between are *medium latency* and
//! shared. A new queue pair gets
//! 1. the first low-latency uUAR, ascending, that has none;
//! 2. else, where there are medium ones, the one with the fewest, the lowest number among equals;
//! 3. else number 0.

/// How many queue pairs stand on each static uUAR of a context.
#[derive(Debug)]
pub struct StaticUuars {
    queue_pairs: Vec<u32>,
    first_low_latency: usize,
}

impl StaticUuars {
    pub fn new(total: u32, low_latency: u32) -> StaticUuars {
        assert!(low_latency < total, "number 0 is never a low-latency uUAR");
        StaticUuars {
            queue_pairs: vec![0; total as usize],
            first_low_latency: (total - low_latency) as usize,
        }
    }

    /// Puts a new queue pair on a uUAR; its number.
    pub fn assign(&mut self) -> u32 {
        let number = self
            .free_low_latency()
            .unwrap_or_else(|| self.emptiest_medium());
        self.queue_pairs[number] += 1;
        number as u32
    }

    /// Takes a queue pair away from uUAR `number`.
    pub fn release(&mut self, number: u32) {
        self.queue_pairs[number as usize] -= 1;
    }

    /// Whether writing to uUAR `number` needs a lock. A low-latency one has one writer; number 0 takes doorbells only,
    /// which are single stores.
    pub fn needs_lock(&self, number: u32) -> bool {
        number != 0 && (number as usize) < self.first_low_latency
    }

    fn free_low_latency(&self) -> Option<usize> {
        (self.first_low_latency..self.queue_pairs.len()).find(|&n| self.queue_pairs[n] == 0)
    }

    /// The medium uUAR with the fewest queue pairs, or number 0 where there is none.
    fn emptiest_medium(&self) -> usize {
        (1..self.first_low_latency)
            .min_by_key(|&n| self.queue_pairs[n])
            .unwrap_or(0)
    }
}

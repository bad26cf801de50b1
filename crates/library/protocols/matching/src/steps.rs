//! Counted work.

/// How much matching did. A step is a bucket or a cell looked at: what may cost a cache miss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Calls that may change the structure; probes are not among them.
    pub operations: u64,
    /// Steps of all operations together, upkeep included.
    pub total: u64,
    /// Steps of the operation that did most.
    pub max: u32,
}

/// Counts what [`Steps`] reports. Every operation counts as at least one step, so that the commonest counts itself only.
#[derive(Default)]
pub(crate) struct Counter {
    pub operations: u64,
    /// Operations that no upkeep follows, on few posted receives; not among `operations`.
    pub singles: u64,
    /// Steps beyond the first of each operation: of all, and of the operation that did most.
    beyond: u64,
    beyond_max: u32,
}

impl Counter {
    #[inline(always)]
    pub fn add(&mut self, steps: u32) {
        let beyond = steps.saturating_sub(1);
        self.beyond += u64::from(beyond);
        self.beyond_max = self.beyond_max.max(beyond);
    }

    pub fn steps(&self) -> Steps {
        let operations = self.operations + self.singles;
        Steps {
            operations,
            total: operations + self.beyond,
            max: self.beyond_max + u32::from(operations != 0),
        }
    }
}

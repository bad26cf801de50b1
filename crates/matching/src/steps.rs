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

impl Steps {
    #[inline(always)]
    pub(crate) fn add(&mut self, steps: u32) {
        self.total += u64::from(steps);
        self.max = self.max.max(steps);
    }
}

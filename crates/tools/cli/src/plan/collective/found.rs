//! What was found.

use weft_plan::{Estimate, Exactness, TooLong};

/// What was found of a length.
pub struct Row {
    pub bytes: u64,
    pub found: Result<Found, TooLong>,
}

pub struct Found {
    pub algorithm: String,
    pub ours: Estimate,
    /// Of which so long within the hosts; this much was added to the others.
    pub within_ns: f64,
    pub others: Vec<(&'static str, Estimate)>,
}

impl Found {
    /// The shortest of the others, of which nothing is only bounded.
    pub fn best(&self) -> Option<(&'static str, f64)> {
        let whole = |one: &&(&str, Estimate)| one.1.exactness != Exactness::AtLeast;
        let others = self.others.iter().filter(whole);
        let best = others.min_by(|one, other| one.1.ns.total_cmp(&other.1.ns));
        best.map(|&(name, estimate)| (name, estimate.ns))
    }

    pub fn ratio(&self) -> Option<f64> {
        self.best().map(|(_, ns)| self.ours.ns / ns)
    }
}

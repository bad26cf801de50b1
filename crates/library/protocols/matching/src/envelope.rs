//! What messages carry and what receives ask for.

/// What an arriving message says of itself (MPI-5.0 §3.2.3). `source` and `tag` are not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub context: u32,
    pub source: i32,
    pub tag: i32,
}

/// What a receive accepts: a negative `source` is any source, a negative `tag` any tag (MPI-5.0 §3.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub context: u32,
    pub source: i32,
    pub tag: i32,
}

impl Pattern {
    /// Whether a receive of this pattern may take a message of `envelope`.
    #[inline(always)]
    pub fn accepts(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && (self.source == envelope.source || self.source < 0)
            && (self.tag == envelope.tag || self.tag < 0)
    }
}

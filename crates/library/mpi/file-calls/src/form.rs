//! What kind of access a call makes.

use weft_messages::request::Request;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
}

/// Where in the view an access begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positioning {
    /// At an offset, in etypes.
    At(i64),
    /// At the individual file pointer, which moves on.
    Individual,
    /// At the shared file pointer, which moves on; in a collective call each process after those of lower rank.
    Shared,
}

/// Which pair of calls it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    At,
    Individual,
    Ordered,
}

impl Pair {
    pub(super) fn of(positioning: Positioning) -> Pair {
        match positioning {
            Positioning::At(_) => Pair::At,
            Positioning::Individual => Pair::Individual,
            Positioning::Shared => Pair::Ordered,
        }
    }
}

/// An access that was begun and not ended.
pub(super) struct Split {
    pub direction: Direction,
    pub pair: Pair,
    /// Of its data.
    pub address: usize,
    pub request: Request,
}

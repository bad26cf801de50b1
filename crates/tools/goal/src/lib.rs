//! GOAL (Hoefler, Siebert and Lumsdaine 2009): what each rank sends, receives and computes, and what has to be over
//! before; and how long that takes by LogGOPS (Hoefler, Schneider and Lumsdaine 2010), as LogGOPSim tells it.

#![forbid(unsafe_code)]

mod program;
mod read;
mod simulate;
mod write;

pub use program::Program;
pub use read::{Unreadable, read};
pub use simulate::{Fold, Machine, Network, Stuck, Times, simulate};
pub use write::write;

/// What all ranks do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    pub ranks: Vec<Rank>,
}

/// What one rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    pub operations: Vec<Operation>,
    pub orders: Vec<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Send {
        to: u32,
        bytes: u64,
        tag: u32,
    },
    /// Of a message of at most so many bytes.
    Receive {
        from: u32,
        bytes: u64,
        tag: u32,
    },
    Calc {
        ns: u64,
    },
}

/// One of a rank's operations does not begin before another, both by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub operation: u32,
    pub before: u32,
    pub until: Until,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// `irequires`: before the other has begun.
    Begun,
    /// `requires`: before the other is over.
    Over,
}

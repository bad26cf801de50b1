//! The ranks of one host in virtual time: what each does is recorded from the library's own operations; how long that
//! takes follows from what the host charges.
//!
//! # The model
//! Rank r runs on core `r % cores`. Nothing else runs there.
//! 1. *Lines.* What a rank has written another sees one line later ([`Host::line_ns`]: by group, socket and host). Of
//!    several lines that a rank looks for one after the other the first takes as long as that, unless it has waited;
//!    misses overlap, so each further one takes [`Host::further_line_ns`].
//! 2. *Copies.* Bytes that another core has written, or has read and that are written anew, take what the host takes for
//!    copies of what one core wrote, times a factor of the library's own loops ([`software`]).
//! 3. *Copies by the kernel.* Of those who read one process's memory at once one does at a time, and slower.
//! 4. *Messages.* A short one lies in memory when its sender has done its part. Of a long one the receiver copies the
//!    bytes from the sender's memory by the kernel, and tells it. A rank that waits for one request takes what comes for
//!    the others, in the order in which it comes.
//! 5. *Waiting.* A rank that waits spins, as long as the engine's own policy says (`weft_engine::awake_ns`), and then
//!    sleeps: its waker makes a call, and it runs a wake later. Where ranks share a core one that waits yields: the one
//!    that has been ready longest runs, a yield later; and where none is ready, those that wait take turns, so that what
//!    comes is seen after a part of a round of them that the seed chooses.

#![forbid(unsafe_code)]

mod host;
mod run;
pub mod software;
#[cfg(test)]
mod tests;

pub use host::{Host, MACHINES, Table};
pub use run::{Disturbance, Outcome, run};

/// What a rank does. Requests are numbered in the order of its sends and receives; a board's steps begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Send {
        to: usize,
        bytes: usize,
    },
    Receive {
        from: usize,
    },
    Wait(usize),
    /// Combines two operands of so many bytes.
    Combine(usize),
    /// Enters a step of the board.
    Enter(u64),
    /// Posts so many bytes there.
    Post {
        step: u64,
        bytes: usize,
    },
    /// Waits until the rank has posted in the step.
    Await {
        rank: usize,
        step: u64,
    },
    /// Copies so many bytes of what the rank has posted.
    Take {
        rank: usize,
        bytes: usize,
    },
    /// Has so many bytes of what the rank has posted for a combination.
    Fold {
        rank: usize,
        bytes: usize,
    },
    /// Copies so many bytes of its own.
    Copy(usize),
    /// Has the kernel copy from another rank's memory.
    Read {
        rank: usize,
        bytes: usize,
    },
    /// An operation is over.
    End,
}

//! Which algorithm runs: tables, read from the top, the first rule that admits the call wins.
//!
//! With a core for every rank, rounds of messages are cheap, and what counts is their number for short
//! messages and the bytes each rank moves for long ones. Without, each round costs a turn of the scheduler
//! on every rank, and the total work counts: short operations go through one root, which hears from everyone
//! and answers everyone, so that each rank needs to run about once. Where the ranks share memory there is no message, and
//! a rank that posts what others need may go on; a rule whose algorithm needs what the ranks do not share is passed over.
//!
//! Among three ranks or more of one host that have a core each, the fastest algorithm of all that there are was measured (`measured`, which
//! `weft bench collectives --tune` writes); the table is for more of them, and for two.
//!
//! Where the ranks' cores share caches messages take half the time that a copy from process to process takes: there are rules for that of their own, and
//! of the others those with `Direct` are passed over. Two ranks whose cores share none have rules of their own (`Far`): lines that the other core has read take long to write again, so that what goes one way is better copied
//! from 3 KiB on, and what goes both ways is better sent by messages, whose blocks go to and fro.
//!
//! Where the ranks are on several hosts, with several on one at least, an operation has two other tables, which are read first:
//! what was measured on the test bed for some hosts and ranks a host (`measured`, which `make tune` writes), then, for all others, what
//! follows from counts of rounds, messages and bytes (`tables`, which says why). They name what the operation is composed of; the parts
//! are chosen by the first table, where ranks on different hosts have a core each. A reduction that does not commute is composed
//! only where each host's ranks follow each other. Else, and where no rule admits the call, an algorithm of the first table runs
//! among all ranks.

mod choice;
mod measured;
mod rules;
mod tables;
#[cfg(test)]
mod tests;

use crate::Hosts;

pub use choice::Choice;
pub use tables::{CHOICES, Operation};
pub(crate) use tables::{
    allgather, allreduce, alltoall, barrier, bcast, flat, gather, reduce, reduce_scatter, scan,
    scatter,
};

/// What all ranks of a call know of it.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// Packed bytes of the message, or of one block.
    pub bytes: usize,
    pub ranks: usize,
    pub oversubscribed: bool,
    pub sharing: Sharing,
    /// Whether their cores share caches.
    pub are_near: bool,
    /// None if an algorithm that knows hosts has nothing to gain, or would not keep the order of a reduction.
    pub placement: Option<Placement>,
}

impl Call {
    /// Whether three ranks or more share memory, and each has a core: what was measured among such says how (`measured`). Two have
    /// rules of their own.
    fn has_cores(self) -> bool {
        self.ranks > 2 && !self.oversubscribed && self.sharing >= Sharing::Board
    }
}

/// How ranks are placed on several hosts, of which one has several at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    pub hosts: usize,
    /// The most that a host has.
    pub ranks_a_host: usize,
    /// Whether all have as many.
    pub is_even: bool,
    /// Whether each host's ranks follow each other.
    pub is_contiguous: bool,
}

impl Placement {
    pub fn of(hosts: &Hosts) -> Option<Placement> {
        let placement = Placement {
            hosts: hosts.count(),
            ranks_a_host: hosts.most_ranks(),
            is_even: hosts.is_even(),
            is_contiguous: hosts.is_contiguous(),
        };
        (placement.ranks_a_host > 1).then_some(placement)
    }
}

/// What an algorithm asks of the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Board,
    Everything,
    /// That they are on several hosts.
    Hosts,
    /// And each host's ranks follow each other.
    ContiguousHosts,
    /// And all hosts have as many ranks.
    EvenHosts,
    /// Both.
    EvenContiguousHosts,
}

impl Needs {
    fn are_met(self, call: Call) -> bool {
        let placed = |enough: fn(Placement) -> bool| call.placement.is_some_and(enough);
        match self {
            Needs::Nothing => true,
            Needs::Board => call.sharing >= Sharing::Board,
            Needs::Everything => call.sharing >= Sharing::Everything,
            Needs::Hosts => placed(|_| true),
            Needs::ContiguousHosts => placed(|placement| placement.is_contiguous),
            Needs::EvenHosts => placed(|placement| placement.is_even),
            Needs::EvenContiguousHosts => {
                placed(|placement| placement.is_even && placement.is_contiguous)
            }
        }
    }
}

/// What the ranks share, alike on all of them; each more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sharing {
    Nothing,
    /// A board, in memory that all map.
    Board,
    /// And each may copy from every other's memory.
    Everything,
}

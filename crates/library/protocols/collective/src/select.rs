//! Which algorithm runs: the cheapest of those that the ranks can go by.
//!
//! What an algorithm has its ranks do it tells itself (`crate::cost`), and what that costs stands in lists of prices
//! (`weft_prices`), one for each kind of group: ranks with a core each, near to each other or not; ranks that share cores; and those that
//! share no memory. All ranks know the same of a call, go by the same lists, and so choose alike.
//!
//! Where the ranks are on several hosts, with several on one at least, a table says what an operation is composed of (`tables`, which says why);
//! the parts are chosen by cost, where ranks on different hosts have a core each. A reduction that does not commute is composed
//! only where each host's ranks follow each other. Else, and where no rule admits the call, an algorithm runs among all ranks alike.

mod choice;
mod memo;
mod rules;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use weft_prices::{Group, ITEMS, Item, Lists, Prices};

use crate::Hosts;
use crate::cost::Work;

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
    /// Whether their cores share caches, where each has one.
    pub are_near: bool,
    /// None if an algorithm that knows hosts has nothing to gain, or would not keep the order of a reduction.
    pub placement: Option<Placement>,
}

impl Call {
    fn group(self) -> Group {
        match (self.sharing, self.oversubscribed) {
            (Sharing::Nothing, false) => Group::Network,
            (Sharing::Nothing, true) => Group::NetworkOfSharedCores,
            (_, true) => Group::SharedCores,
            (_, false) if self.are_near => Group::Near,
            (_, false) => Group::Far,
        }
    }
}

static BUILT_IN: Lists = Lists::BUILT_IN;
static LISTS: OnceLock<Lists> = OnceLock::new();

/// Has this process choose by these prices, as all others of its job do. Once, before anything is chosen.
pub fn set_prices(lists: Lists) {
    let set = LISTS.set(lists);
    assert!(set.is_ok(), "prices are set once");
}

fn prices(group: Group) -> &'static Prices {
    LISTS.get().unwrap_or(&BUILT_IN).of(group)
}

/// How many bytes take as long between hosts as a round does.
pub(crate) fn round_bytes() -> f64 {
    let prices = prices(Group::Network);
    let of = |item: Item, times: f64| {
        let mut counts = [0.0; ITEMS];
        counts[item as usize] = times;
        prices.of(&counts)
    };
    // A byte is counted where it is sent and where it is received.
    of(Item::Round, 1.0) / of(Item::PassedPacketByte, 2.0).max(f64::MIN_POSITIVE)
}

/// What each algorithm that can run takes of each item, by its number.
fn counts<A: Copy>(
    all: &[A],
    call: Call,
    needs: fn(A) -> Needs,
    work: fn(A, usize, f64) -> Work,
) -> impl Iterator<Item = (u8, [f64; ITEMS])> {
    let (ranks, bytes) = (call.ranks.max(2), call.bytes as f64);
    let possible = (0..).zip(all);
    let possible = possible.filter(move |(_, one)| needs(**one).are_met(call));
    possible.map(move |(number, &one)| {
        let work = work(one, ranks, bytes);
        (number, work.counts(ranks, call.oversubscribed))
    })
}

/// The number of the algorithm that costs least of those whose needs are met; of several, the first.
fn cheapest(counts: impl Iterator<Item = (u8, [f64; ITEMS])>, call: Call) -> u8 {
    let prices = prices(call.group());
    let priced = counts.map(|(number, counts)| (number, prices.of(&counts)));
    let least = priced.min_by(|(_, a), (_, b)| a.total_cmp(b));
    least
        .expect("each operation has an algorithm that needs nothing")
        .0
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

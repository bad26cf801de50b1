//! The cost of an algorithm: how often its ranks do each kind of work ([`Counts`]), times what that takes on a machine (`weft_prices`).
//!
//! Each algorithm tells its [`Work`] beside its code, for a number of ranks and a length, and `select` takes the cheapest.
//! With a core for every rank an operation takes as long as its busiest rank. Where ranks share cores all that any rank does
//! takes time from the others, and for each round or step every rank has to be given a core.

use std::iter::Sum;
use std::ops::{Add, Mul};

use weft_prices::{ITEMS, Item};

/// How often a rank does each.
#[derive(Clone, Copy)]
pub(crate) struct Counts([f64; ITEMS]);

impl Counts {
    pub const NOTHING: Counts = Counts([0.0; ITEMS]);

    const fn of(item: Item, count: f64) -> Counts {
        let mut counts = Counts::NOTHING;
        counts.0[item as usize] = count;
        counts
    }
}

impl Add for Counts {
    type Output = Counts;

    #[inline]
    fn add(mut self, other: Counts) -> Counts {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
        self
    }
}

/// So many times as often.
impl Mul<Counts> for f64 {
    type Output = Counts;

    #[inline]
    fn mul(self, counts: Counts) -> Counts {
        Counts(counts.0.map(|count| self * count))
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(all: I) -> Counts {
        all.fold(Counts::NOTHING, Counts::add)
    }
}

/// The work of an operation's ranks.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    /// The rank that has the most to do, or what comes one after the other.
    busiest: Counts,
    /// Each of the others.
    other: Counts,
}

impl Work {
    pub fn alike(each: Counts) -> Work {
        Work {
            busiest: each,
            other: each,
        }
    }

    pub fn rooted(busiest: Counts, other: Counts) -> Work {
        Work { busiest, other }
    }

    /// How much of each item an operation takes; where ranks share cores, of all cores together, however many they are.
    pub fn counts(self, ranks: usize, oversubscribed: bool) -> [f64; ITEMS] {
        let Counts(mut counts) = self.busiest;
        if oversubscribed {
            Counts(counts) = self.busiest + others(ranks) * self.other;
            let turns = |item| ranks as f64 * self.busiest.0[item as usize];
            counts[Item::RoundTurn as usize] = turns(Item::Round);
            counts[Item::StepTurn as usize] = turns(Item::Step);
        }
        counts
    }
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work {
            busiest: self.busiest + other.busiest,
            other: self.other + other.other,
        }
    }
}

/// The longest message that goes in a packet, within a host.
const PACKET_BYTES: f64 = (16 << 10) as f64;

/// How much memory one of the kernel's tables of pages maps: who copies from the same waits for the same lock.
const PAGE_TABLE_BYTES: f64 = (2 << 20) as f64;

/// How many rounds there are if the ranks that have something double in each: the levels of a binary tree.
pub(crate) fn levels(ranks: usize) -> u32 {
    ranks.next_power_of_two().ilog2()
}

/// The same, to count with.
pub(crate) fn doublings(ranks: usize) -> f64 {
    f64::from(levels(ranks))
}

/// How many blocks a rank has of its own and others' before each round in which they double: 1, 2, 4 and so on.
pub(crate) fn doubled(ranks: usize) -> impl Iterator<Item = usize> {
    (0..levels(ranks)).map(|round| 1 << round)
}

/// Blocks that a rank passes on until it has one of each, while what it has doubles from round to round.
pub(crate) fn gathering(ranks: usize, block: f64) -> Counts {
    let blocks = doubled(ranks).map(|blocks| blocks.min(ranks - blocks) as f64);
    blocks.map(|blocks| pass(blocks * block)).sum()
}

/// How often ranks, or as many of them as are a power of two, can be halved.
pub(crate) fn halvings(ranks: usize) -> impl Iterator<Item = f64> {
    (1..=ranks.ilog2()).map(|round| 1.0 / (1_u64 << round) as f64)
}

pub(crate) fn round() -> Counts {
    Counts::of(Item::Round, 1.0)
}

pub(crate) fn step() -> Counts {
    Counts::of(Item::Step, 1.0)
}

/// A message on its way, at its sender and at its receiver, who waits for it.
pub(crate) fn hop(bytes: f64) -> Counts {
    round()
        + match bytes <= PACKET_BYTES {
            true => Counts::of(Item::PacketByte, 2.0 * bytes),
            false => Counts::of(Item::Long, 1.0) + Counts::of(Item::LongByte, bytes),
        }
}

/// A message each way between two ranks.
pub(crate) fn exchange(bytes: f64) -> Counts {
    round()
        + match bytes <= PACKET_BYTES {
            true => Counts::of(Item::ExchangedPacketByte, 2.0 * bytes),
            false => Counts::of(Item::Long, 1.0) + Counts::of(Item::ExchangedLongByte, 2.0 * bytes),
        }
}

/// A message to one rank, and one from another.
pub(crate) fn pass(bytes: f64) -> Counts {
    round() + passed(bytes)
}

/// The same while those before and after are on their way, too, so that nobody waits.
pub(crate) fn passed(bytes: f64) -> Counts {
    match bytes <= PACKET_BYTES {
        true => Counts::of(Item::PassedPacketByte, 2.0 * bytes),
        false => Counts::of(Item::Long, 1.0) + Counts::of(Item::PassedLongByte, 2.0 * bytes),
    }
}

/// A further message, at its sender. Who receives it copies what is long.
pub(crate) fn sent(bytes: f64) -> Counts {
    match bytes <= PACKET_BYTES {
        true => Counts::of(Item::Message, 1.0) + Counts::of(Item::PacketByte, bytes),
        false => Counts::of(Item::Long, 0.5),
    }
}

/// A further message, at its receiver.
pub(crate) fn received(bytes: f64) -> Counts {
    match bytes <= PACKET_BYTES {
        true => Counts::of(Item::Message, 1.0) + Counts::of(Item::PacketByte, bytes),
        false => Counts::of(Item::Long, 0.5) + Counts::of(Item::LongByte, bytes),
    }
}

/// The bytes of a message that its receiver copies from where they lie, as they are more than a packet.
pub(crate) fn long(bytes: f64) -> f64 {
    match bytes <= PACKET_BYTES {
        true => 0.0,
        false => bytes,
    }
}

/// That others copy as much from the same memory at the same time, as the receivers of a root's long messages do.
pub(crate) fn contended(others: f64, bytes: f64) -> Counts {
    Counts::of(Item::ContendedByte, others * bytes)
}

/// That others copy blocks that lie behind each other: as many as one table of pages maps get into each other's way.
pub(crate) fn contended_blocks(others: f64, bytes: f64) -> Counts {
    let near = (PAGE_TABLE_BYTES / bytes.max(1.0)).clamp(1.0, others + 1.0) - 1.0;
    contended(near, bytes)
}

/// A copy from another rank's memory.
pub(crate) fn copied(bytes: f64) -> Counts {
    calls(1.0) + Counts::of(Item::CallByte, bytes)
}

/// Calls that copy, beside their bytes.
pub(crate) fn calls(count: f64) -> Counts {
    Counts::of(Item::Call, count)
}

pub(crate) fn posted(bytes: f64) -> Counts {
    Counts::of(Item::Post, 1.0) + Counts::of(Item::PostedByte, bytes)
}

/// A post of another rank, which is copied out.
pub(crate) fn looked(bytes: f64) -> Counts {
    looks(1.0) + Counts::of(Item::LookedByte, bytes)
}

pub(crate) fn looks(count: f64) -> Counts {
    Counts::of(Item::Look, count)
}

/// A post of another rank, which is combined from where it lies.
pub(crate) fn folded(bytes: f64) -> Counts {
    looks(1.0) + Counts::of(Item::FoldedByte, bytes)
}

pub(crate) fn combined(bytes: f64) -> Counts {
    Counts::of(Item::CombinedByte, bytes)
}

pub(crate) fn packed(bytes: f64) -> Counts {
    Counts::of(Item::PackedByte, bytes)
}

/// Copies of a rank's own blocks, beside their bytes: each takes about a quarter of a look at what another core wrote (16 cores of
/// an Intel Xeon).
pub(crate) fn copies(count: usize) -> Counts {
    looks(0.25 * count as f64)
}

/// A step in which a rank waits for all others.
pub(crate) fn meeting(ranks: usize) -> Counts {
    step() + looks(others(ranks))
}

pub(crate) fn others(ranks: usize) -> f64 {
    (ranks - 1) as f64
}

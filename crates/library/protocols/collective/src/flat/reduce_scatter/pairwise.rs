//! Each rank sends every other its share of the operand, and combines what comes for its own: for long vectors.
//!
//! The leaves of the order of combination meet in the order of the bits in which their numbers differ: what comes to a rank is its own
//! tree's other half, then the next greater tree's, and so on, so that a logarithm of partial results is all that waits.

use std::ops::Range;

use super::Shares;
use crate::cost::{Work, combined, others, pass};
use crate::memory::{Operand, Scratch};
use crate::order::Folded;
use crate::segments::Segments;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    let own = reduction.share(shares.range(channel.rank()));
    let segments = |rank: usize| Segments::of(reduction, shares.of(rank));
    let longest = own.share(0..segments(channel.rank()).longest());
    // In place, the output holds operands until they are sent.
    let kept = match reduction.is_in_place() {
        true => own.scratch(1),
        false => Scratch::new(0),
    };
    let Some(kept) = channel.room(kept) else {
        return;
    };
    let result = match reduction.is_in_place() {
        true => own.in_scratch(&kept, 0),
        false => own.output(),
    };
    let folded = Folded::new(channel.size());
    let scratch = longest.scratch(Tree::places(&folded));
    let Some(scratch) = channel.room(scratch) else {
        return;
    };
    let mut tree = Tree {
        reduction: &longest,
        scratch: &scratch,
        leaf: folded.leaf(channel.rank()),
        is_last: channel.rank() + 1 == channel.size(),
        result: result.part(0..0),
        partials: Vec::new(),
        used: 0,
    };
    let most = (0..channel.size()).map(|rank| segments(rank).len()).max();
    for index in 0..most.unwrap_or(0) {
        let elements = segments(channel.rank()).range(index);
        let given = |to: usize| {
            let Range { start, end } = segments(to).range(index);
            let before = shares.range(to).start;
            reduction.input().part(before + start..before + end)
        };
        tree.begin(result.part(elements));
        for apart in 0..folded.participants {
            meet(channel, &folded, apart, &given, &mut tree).await;
        }
    }
    result.part(0..own.count()).copy_to(own.output());
}

/// Exchanges operands with the ranks of the leaf whose number differs from this rank's in these bits.
async fn meet<'a, P: PointToPoint>(
    channel: &Channel<'_, P>,
    folded: &Folded,
    apart: usize,
    given: &impl Fn(usize) -> Operand<'a>,
    tree: &mut Tree<'_, 'a>,
) {
    let rank = channel.rank();
    let mut leaf = [None; 2];
    let mut requests = [None; 4];
    for (index, peer) in folded.ranks(tree.leaf ^ apart).enumerate() {
        if peer == rank {
            leaf[index] = Some(Partial {
                operand: given(rank),
                place: Place::Input,
            });
            continue;
        }
        let incoming = tree.room(peer + 1 == channel.size());
        leaf[index] = Some(incoming);
        let (incoming, outgoing) = (incoming.operand.memory(), given(peer).memory());
        if incoming.bytes > 0 {
            requests[index] = channel.receive(peer, incoming);
        }
        if outgoing.bytes > 0 {
            requests[2 + index] = channel.send(peer, outgoing);
        }
    }
    channel.wait_all(&requests).await;
    tree.put(leaf, apart);
}

/// Partial results of one segment, each of a tree of leaves. What combines is where the higher operand was: the last rank's is put where the
/// result is to be.
struct Tree<'s, 'a> {
    reduction: &'s Reduction<'a>,
    scratch: &'s Scratch,
    /// This rank's leaf.
    leaf: usize,
    /// Whether this is the last rank.
    is_last: bool,
    result: Operand<'a>,
    partials: Vec<Partial<'a>>,
    /// A bit for each place in scratch that is in use.
    used: u64,
}

#[derive(Clone, Copy)]
struct Partial<'a> {
    operand: Operand<'a>,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// This rank's operand, which stays as it is.
    Input,
    Result,
    Scratch(u32),
}

impl<'a> Tree<'_, 'a> {
    /// How many operands there are at once: a partial result for each round, and what comes from two ranks.
    fn places(folded: &Folded) -> usize {
        folded.rounds() as usize + 3
    }

    /// Of as many elements as the result has there.
    fn begin(&mut self, result: Operand<'a>) {
        self.result = result;
        self.partials.clear();
        self.used = 0;
    }

    /// Room for an operand, the last rank's or another's.
    fn room(&mut self, is_last: bool) -> Partial<'a> {
        if is_last {
            let (operand, place) = (self.result, Place::Result);
            return Partial { operand, place };
        }
        let place = self.used.trailing_ones();
        self.used |= 1 << place;
        let room = self.reduction.in_scratch(self.scratch, place as usize);
        Partial {
            operand: room.part(0..self.result.count()),
            place: Place::Scratch(place),
        }
    }

    /// Puts in the operands of the next leaf, whose number differs from this rank's leaf in these bits.
    fn put(&mut self, leaf: [Option<Partial<'a>>; 2], apart: usize) {
        let ranks = leaf.into_iter().flatten();
        let mut partial = ranks.reduce(|lower, higher| self.combined(lower, higher));
        for round in 0..apart.trailing_ones() {
            let pair = self.partials.pop().zip(partial);
            partial = pair.map(|(own, theirs)| match self.leaf >> round & 1 {
                0 => self.combined(own, theirs),
                _ => self.combined(theirs, own),
            });
        }
        self.partials.extend(partial);
    }

    fn combined(&mut self, lower: Partial<'a>, mut higher: Partial<'a>) -> Partial<'a> {
        if let Place::Input = higher.place {
            let room = self.room(self.is_last);
            higher.operand.copy_to(room.operand);
            higher = room;
        }
        self.reduction.combine(lower.operand, higher.operand);
        if let Place::Scratch(place) = lower.place {
            self.used &= !(1 << place);
        }
        higher
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let share = bytes / ranks as f64;
    Work::alike(others(ranks) * (pass(share) + combined(share)))
}

//! The root hears from everyone, and combines from the last rank down.

use crate::cost::{Work, combined, hop, others, received, sent};
use std::ops::Range;

use weft_reserve::NoMemory;

use crate::channel::WINDOW;
use crate::memory::{Operand, Scratch};
use crate::segments::{self, Segments};
use crate::{Channel, PointToPoint, Reduction};

/// How much the root receives ahead of combining.
const AHEAD_BYTES: usize = 1 << 20;

pub(crate) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) {
    let segments = Segments::of(reduction, reduction.count());
    if channel.rank() != root {
        return segments::send(channel, segments, root, reduction.input()).await;
    }
    let combining = Combining::new(channel, reduction, segments.longest());
    let Some(combining) = channel.room(combining) else {
        return;
    };
    for index in 0..segments.len() {
        combining.segment(segments.range(index)).await;
    }
}

/// The root's reduction, and the memory in which it combines one segment after the other.
struct Combining<'a, P: PointToPoint> {
    channel: &'a Channel<'a, P>,
    reduction: &'a Reduction<'a>,
    /// The reduction of the longest segment alone, for the size of its operands.
    longest: Reduction<'a>,
    /// The result grows in the output. In place that is where the root's operand lies, which then waits for its turn here,
    /// unless it comes first.
    kept: Option<Scratch>,
    /// So many operands are received ahead.
    ahead: usize,
    received: Scratch,
}

impl<'a, P: PointToPoint> Combining<'a, P> {
    fn new(
        channel: &'a Channel<'a, P>,
        reduction: &'a Reduction<'a>,
        elements: usize,
    ) -> Result<Combining<'a, P>, NoMemory> {
        let ranks = channel.size();
        let moves = reduction.is_in_place() && channel.rank() != ranks - 1;
        let longest = reduction.share(0..elements);
        let ahead = (AHEAD_BYTES / longest.bytes()).clamp(1, WINDOW).min(ranks);
        Ok(Combining {
            channel,
            reduction,
            kept: moves.then(|| longest.scratch(1)).transpose()?,
            ahead,
            received: longest.scratch(ahead)?,
            longest,
        })
    }

    async fn segment(&self, elements: Range<usize>) {
        let (channel, root) = (self.channel, self.channel.rank());
        let result = self.reduction.output().part(elements.clone());
        let own = self.own(elements);
        let mut top = channel.size() - 1;
        if root == top {
            own.copy_to(result);
        } else {
            channel.wait(channel.receive(top, result.memory())).await;
        }
        while top > 0 {
            let bottom = top.saturating_sub(self.ahead);
            self.combine(bottom..top, own, result).await;
            top = bottom;
        }
    }

    /// The root's operand of these elements, where it stays as it is.
    fn own(&self, elements: Range<usize>) -> Operand<'a> {
        let input = self.reduction.input().part(elements.clone());
        let Some(kept) = &self.kept else {
            return input;
        };
        let own = self.longest.in_scratch(kept, 0).part(0..elements.len());
        input.copy_to(own);
        own
    }

    /// Receives the operands of these ranks, and combines them with the result, the last first.
    async fn combine(&self, ranks: Range<usize>, own: Operand<'_>, result: Operand<'_>) {
        let (channel, root) = (self.channel, self.channel.rank());
        let place = |rank: usize| {
            let operand = self.longest.in_scratch(&self.received, rank - ranks.start);
            operand.part(0..result.count())
        };
        let mut requests = [None; WINDOW];
        for rank in ranks.clone().filter(|&rank| rank != root) {
            requests[rank - ranks.start] = channel.receive(rank, place(rank).memory());
        }
        for rank in ranks.clone().rev() {
            if rank == root {
                self.reduction.combine(own, result);
            } else {
                channel.wait(requests[rank - ranks.start]).await;
                self.reduction.combine(place(rank), result);
            }
        }
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let further = others(ranks) - 1.0;
    let operands = hop(bytes) + further * received(bytes) + others(ranks) * combined(bytes);
    Work::rooted(operands, sent(bytes))
}

//! The root hears from everyone, and combines.

use crate::cost::{Work, combined, hop, others, received, sent};
use std::ops::Range;

use weft_reserve::NoMemory;

use crate::channel::WINDOW;
use crate::memory::Scratch;
use crate::order::{Order, Partials};
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
    order: Order,
    /// The reduction of the longest segment alone, for the size of its operands.
    longest: Reduction<'a>,
    /// So many operands are received ahead.
    ahead: usize,
    scratch: Scratch,
}

impl<'a, P: PointToPoint> Combining<'a, P> {
    fn new(
        channel: &'a Channel<'a, P>,
        reduction: &'a Reduction<'a>,
        elements: usize,
    ) -> Result<Combining<'a, P>, NoMemory> {
        let ranks = channel.size();
        let order = Order::all(ranks);
        let longest = reduction.share(0..elements);
        let ahead = (AHEAD_BYTES / longest.bytes()).clamp(1, WINDOW).min(ranks);
        Ok(Combining {
            channel,
            reduction,
            order,
            ahead,
            // For this rank's own operand, for partial results, and for what is received ahead.
            scratch: longest.scratch(order.places() + ahead)?,
            longest,
        })
    }

    async fn segment(&self, elements: Range<usize>) {
        let (channel, root) = (self.channel, self.channel.rank());
        let result = self.reduction.output().part(elements.clone());
        let place = |index: usize| {
            let operand = self.longest.in_scratch(&self.scratch, index);
            operand.part(0..elements.len())
        };
        let mut own = self.reduction.input().part(elements.clone());
        // The result grows in the output. In place that is where this rank's operand lies, which then waits for its turn elsewhere.
        if self.reduction.is_in_place() {
            own.copy_to(place(0));
            own = place(0);
        }
        let mut partials = Partials::new(&self.longest, &self.scratch, result);
        let ahead = |rank: usize| match rank + 1 == channel.size() {
            true => result,
            false => place(self.order.places() + rank % self.ahead),
        };
        let mut requests = [None; WINDOW];
        let receive = |rank: usize| {
            let incoming = (rank != root).then(|| channel.receive(rank, ahead(rank).memory()));
            incoming.flatten()
        };
        let ranks = channel.size();
        for rank in ranks - self.ahead..ranks {
            requests[rank % self.ahead] = receive(rank);
        }
        for (rank, completes) in self.order.last_first() {
            let operand = if rank == root { own } else { ahead(rank) };
            channel.wait(requests[rank % self.ahead]).await;
            partials.take(Some(operand), completes);
            if let Some(next) = rank.checked_sub(self.ahead) {
                requests[rank % self.ahead] = receive(next);
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

//! Through rank 0, which hears from everyone in turn, combines, and answers everyone.

use super::Kind;
use crate::channel::WINDOW;
use crate::cost::Work;
use crate::flat::allreduce;
use crate::flat::reduce::Accumulator;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    kind: Kind,
) {
    let (ranks, output) = (channel.size(), reduction.output());
    if channel.rank() != 0 {
        // Not at once: in place, the result would arrive where the operand lies.
        channel
            .wait(channel.send(0, reduction.input().memory()))
            .await;
        return channel.wait(channel.receive(0, output.memory())).await;
    }
    if kind == Kind::Inclusive {
        reduction.input().copy_to(output);
    }
    // One place for the result of the ranks before a window, then one for each rank of the window, which
    // holds its operand and then the result up to it.
    let window = WINDOW.min(ranks);
    let Some(scratch) = channel.room(reduction.scratch(window + 1)) else {
        return;
    };
    let mut before = reduction.in_scratch(&scratch, 0);
    reduction.input().copy_to(before);
    for begin in (1..ranks).step_by(window) {
        let end = ranks.min(begin + window);
        let place = |rank: usize| reduction.in_scratch(&scratch, rank + 1 - begin);
        channel
            .windowed(end - begin, |slot| {
                let operand = place(begin + slot);
                channel.receive(begin + slot, operand.memory())
            })
            .await;
        let mut upto = before;
        let mut requests = [None; WINDOW];
        for rank in begin..end {
            let operand = place(rank);
            let mut total = Accumulator::new(reduction, upto, operand);
            total.take_higher();
            let result = if kind == Kind::Inclusive {
                operand
            } else {
                upto
            };
            requests[rank - begin] = channel.send(rank, result.memory());
            upto = total.current;
        }
        channel.wait_all(&requests).await;
        before = place(begin - 1);
        upto.copy_to(before);
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    allreduce::linear::work(ranks, bytes)
}

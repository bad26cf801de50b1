//! The root hears from everyone, and combines from the last rank down.

use crate::channel::WINDOW;
use crate::{Channel, PointToPoint, Reduction};

/// How much the root receives ahead of combining.
const AHEAD_BYTES: usize = 1 << 20;

pub(crate) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) {
    if channel.rank() != root {
        return channel
            .wait(channel.send(root, reduction.input().memory()))
            .await;
    }
    let ranks = channel.size();
    // The result grows in the output. In place that is where the root's operand lies, which then has to wait
    // for its turn elsewhere, unless it comes first.
    let moves = reduction.is_in_place() && root != ranks - 1;
    let kept = reduction.scratch(usize::from(moves));
    let mut own = reduction.input();
    if moves {
        own = reduction.in_scratch(&kept, 0);
        reduction.input().copy_to(own);
    }
    let result = reduction.output();
    if root == ranks - 1 {
        own.copy_to(result);
    } else {
        channel
            .wait(channel.receive(ranks - 1, result.memory()))
            .await;
    }

    let ahead = (AHEAD_BYTES / reduction.bytes())
        .clamp(1, WINDOW)
        .min(ranks);
    let scratch = reduction.scratch(ahead);
    let mut top = ranks - 1;
    while top > 0 {
        let bottom = top.saturating_sub(ahead);
        let mut requests = [None; WINDOW];
        for rank in (bottom..top).filter(|&rank| rank != root) {
            let operand = reduction.in_scratch(&scratch, rank - bottom);
            requests[rank - bottom] = channel.receive(rank, operand.memory());
        }
        for rank in (bottom..top).rev() {
            let operand = if rank == root {
                own
            } else {
                channel.wait(requests[rank - bottom]).await;
                reduction.in_scratch(&scratch, rank - bottom)
            };
            reduction.combine(operand, result);
        }
        top = bottom;
    }
}

//! The root hears from everyone, and combines from the last rank down.

use crate::channel::WINDOW;
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
    let ranks = channel.size();
    // The result grows in the output. In place that is where the root's operand lies, which then has to wait
    // for its turn elsewhere, unless it comes first.
    let moves = reduction.is_in_place() && root != ranks - 1;
    let longest = reduction.share(0..segments.longest());
    let kept = longest.scratch(usize::from(moves));
    let ahead = (AHEAD_BYTES / longest.bytes()).clamp(1, WINDOW).min(ranks);
    let scratch = longest.scratch(ahead);
    for index in 0..segments.len() {
        let elements = segments.range(index);
        let place = |scratch, index| longest.in_scratch(scratch, index).part(0..elements.len());
        let mut own = reduction.input().part(elements.clone());
        let result = reduction.output().part(elements.clone());
        if moves {
            let input = std::mem::replace(&mut own, place(&kept, 0));
            input.copy_to(own);
        }
        if root == ranks - 1 {
            own.copy_to(result);
        } else {
            channel
                .wait(channel.receive(ranks - 1, result.memory()))
                .await;
        }
        let mut top = ranks - 1;
        while top > 0 {
            let bottom = top.saturating_sub(ahead);
            let mut requests = [None; WINDOW];
            for rank in (bottom..top).filter(|&rank| rank != root) {
                let operand = place(&scratch, rank - bottom);
                requests[rank - bottom] = channel.receive(rank, operand.memory());
            }
            for rank in (bottom..top).rev() {
                let operand = if rank == root {
                    own
                } else {
                    channel.wait(requests[rank - bottom]).await;
                    place(&scratch, rank - bottom)
                };
                reduction.combine(operand, result);
            }
            top = bottom;
        }
    }
}

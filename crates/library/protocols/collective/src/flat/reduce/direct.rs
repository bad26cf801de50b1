//! Each rank combines a slice, which it copies from everyone's memory, and the root copies the results from theirs.

use crate::cost::{Work, combined, copied, meeting, others};
use crate::memory::{Packed, Scratch, window};
use crate::steps::{Direct, slice};
use crate::{Channel, PointToPoint, Reduction};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    let (rank, ranks) = (channel.rank(), channel.size());
    let size = reduction.element_bytes();
    let input = channel.room(Packed::of(&reduction.input().memory()))?;
    let step = steps.post_region(&input.memory()).await?;
    let direct = Direct::new(&steps, reduction, step).await?;
    let own = slice(reduction.count(), rank, ranks);

    if rank != root {
        let scratch = channel.room(Scratch::new(own.len() * size))?;
        let result = scratch.memory(own.len() * size);
        direct.combine(own, &result)?;
        let step = steps.post_region(&result).await?;
        // Until all have combined they read this rank's operand, and then the root its result.
        steps.others_posted(step).await?;
        let done = steps.listen();
        return steps.rank_posted(done, root).await;
    }
    let output = channel.room(Packed::room_for(&reduction.output().memory()))?;
    let whole = output.memory();
    let part = |rank: usize| -> Memory {
        let elements = slice(reduction.count(), rank, ranks);
        window(&whole, elements.start * size..elements.end * size)
    };
    direct.combine(own, &part(root))?;
    let step = steps.post_region(&whole).await?;
    // In place, the others read what the results replace until they have combined.
    steps.others_posted(step).await?;
    for from in (0..ranks).filter(|&from| from != root) {
        let theirs = steps.posted_region(step, from).await?;
        steps.take(theirs, &part(from))?;
    }
    output.unpack(&reduction.output().memory());
    steps.announce().await.map(drop)
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let slice = bytes / ranks as f64;
    let reads = 2.0 * others(ranks) * copied(slice);
    Work::alike(3.0 * meeting(ranks) + reads + combined(bytes))
}

//! Everyone copies from the root's memory, and the root waits until all have.

use crate::cost::{Work, calls, contended, copied, meeting, others, step};
use crate::{Channel, PointToPoint};
use weft_memory::Memory;

/// The memory is contiguous.
pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: &Memory,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    if channel.rank() == root {
        steps.post_region(memory).await?;
        let done = steps.listen();
        steps.others_posted(done).await
    } else {
        let step = steps.listen();
        let theirs = steps.posted_region(step, root).await?;
        steps.take(theirs, memory)?;
        steps.announce().await.map(drop)
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let further = others(ranks) - 1.0;
    // The kernel lets calls for the same memory in one after the other, for the part of each that is not the copy.
    let waits = calls(0.7 * further) + contended(further, bytes);
    Work::rooted(
        step() + meeting(ranks) + copied(bytes) + waits,
        copied(bytes),
    )
}

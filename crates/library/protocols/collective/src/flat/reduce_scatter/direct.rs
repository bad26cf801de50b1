//! Each rank combines its share, which it copies from everyone's memory, and waits until all have.

use super::Shares;
use crate::cost::{Work, combined, copied, meeting, others};
use crate::memory::{Packed, Scratch, copy};
use crate::steps::Direct;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) -> Option<()> {
    let steps = channel.steps();
    let own = shares.range(channel.rank());
    let input = channel.room(Packed::of(&reduction.input().memory()))?;
    let output = reduction.share(own.clone()).output().memory();
    let step = steps.post_region(&input.memory()).await?;
    let direct = Direct::new(&steps, reduction, step).await?;
    if !reduction.is_in_place() {
        direct.combine(own, &output)?;
        return steps.meet().await;
    }
    // What the result replaces is read until all have combined.
    let scratch = channel.room(Scratch::new(output.bytes))?;
    let result = scratch.memory(output.bytes);
    direct.combine(own, &result)?;
    steps.meet().await?;
    copy(&result, &output);
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let share = bytes / ranks as f64;
    Work::alike(2.0 * meeting(ranks) + others(ranks) * (copied(share) + combined(share)))
}

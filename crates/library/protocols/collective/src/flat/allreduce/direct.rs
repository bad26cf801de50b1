//! Each rank combines a slice, which it copies from everyone's memory, and copies the others' results from theirs.
//!
//! In place, a rank's slice of its own input is read by itself alone, and the others' results come when all have combined.

use crate::cost::{Work, combined, copied, meeting, others};
use crate::memory::{Packed, window};
use crate::steps::{Direct, slice};
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
) -> Option<()> {
    let steps = channel.steps();
    let (rank, ranks) = (channel.rank(), channel.size());
    let size = reduction.element_bytes();
    let input = channel.room(Packed::of(&reduction.input().memory()))?;
    let output = channel.room(Packed::room_for(&reduction.output().memory()))?;
    let (from, whole) = (input.memory(), output.memory());
    let part = |rank: usize| {
        let elements = slice(reduction.count(), rank, ranks);
        window(&whole, elements.start * size..elements.end * size)
    };

    let step = steps.post_region(&from).await?;
    let direct = Direct::new(&steps, reduction, step).await?;
    direct.combine(slice(reduction.count(), rank, ranks), &part(rank))?;
    let step = steps.post_region(&whole).await?;
    steps.others_posted(step).await?;
    for distance in 1..ranks {
        let from = channel.after(distance);
        let offset = slice(reduction.count(), from, ranks).start * size;
        let theirs = steps.posted_region(step, from).await?;
        steps.read(theirs.after(offset), &part(from))?;
    }
    output.unpack(&reduction.output().memory());
    steps.meet().await
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let slice = bytes / ranks as f64;
    let reads = 2.0 * others(ranks) * copied(slice);
    Work::alike(4.0 * meeting(ranks) + reads + combined(bytes))
}

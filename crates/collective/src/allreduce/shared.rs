//! Everyone posts its operand. Short ones are combined by everyone; of long ones each rank combines a slice and posts that.
//! Either way an element is combined in the same order wherever that happens.

use crate::arena::{PIECE, Steps, pieces, slice};
use crate::memory::{Operand, copy};
use crate::{Channel, PointToPoint, Reduction};
use std::ops::Range;

/// Up to how many bytes of all operands each rank combines everything itself: that takes one step, not two.
const ALONE_BYTES: usize = 8 << 10;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
) -> Option<()> {
    let steps = channel.steps();
    let longest = PIECE / reduction.element_bytes();
    let room = reduction.share(0..longest.min(reduction.count()));
    let scratch = room.scratch(2);
    let (spare, partial) = (room.in_scratch(&scratch, 0), room.in_scratch(&scratch, 1));
    let alone = channel.size() * reduction.bytes() <= ALONE_BYTES;
    for piece in pieces(reduction.count(), longest) {
        let input = reduction.input().part(piece.clone()).memory();
        let posted = (steps.post(&input).await?, input.bytes);
        match alone {
            true => {
                let output = reduction.output().part(piece.clone());
                let (all, whole) = ((0..channel.size(), None), 0..piece.len());
                steps
                    .fold(reduction, posted, all, whole, (output, spare))
                    .await?;
            }
            false => {
                share(
                    channel,
                    &steps,
                    reduction,
                    (posted, piece),
                    (partial, spare),
                )
                .await?
            }
        }
    }
    Some(())
}

/// Combines this rank's slice of a piece, and takes the others' results.
async fn share<P: PointToPoint>(
    channel: &Channel<'_, P>,
    steps: &Steps<'_, '_, P>,
    reduction: &Reduction<'_>,
    (posted, piece): ((u64, usize), Range<usize>),
    (partial, spare): (Operand<'_>, Operand<'_>),
) -> Option<()> {
    let (rank, ranks) = (channel.rank(), channel.size());
    let output = reduction.output().part(piece.clone());
    let of = |rank: usize| slice(piece.len(), rank, ranks);
    let own = partial.part(0..of(rank).len());
    let all = (0..ranks, None);
    steps
        .fold(reduction, posted, all, of(rank), (own, spare))
        .await?;
    let step = steps.post(&own.memory()).await?;
    own.copy_to(output.part(of(rank)));
    for distance in 1..ranks {
        let from = channel.after(distance);
        let theirs = output.part(of(from)).memory();
        let slot = steps.posted(step, from, theirs.bytes).await?;
        copy(&slot, &theirs);
    }
    Some(())
}

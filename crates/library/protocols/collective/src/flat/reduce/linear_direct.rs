//! The root copies everyone's operand from their memory and combines them, and all wait until it has.

use crate::cost::{Work, combined, copied, looks, meeting, others};
use crate::memory::{Operand, Packed};
use crate::order::{Order, Partials};
use crate::steps::{COPIED_PIECE, RemoteRegion, Steps, pieces};
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    if channel.rank() != root {
        let input = channel.room(Packed::of(&reduction.input().memory()))?;
        steps.post_region(&input.memory()).await?;
        let done = steps.listen();
        return steps.rank_posted(done, root).await;
    }
    let step = steps.listen();
    let last = channel.size() - 1;
    let elements = (COPIED_PIECE / reduction.element_bytes()).clamp(1, reduction.count());
    let room = reduction.share(0..elements);
    let order = Order::all(channel.size());
    let scratch = channel.room(room.scratch(order.places() + 1))?;
    // In place the result grows where the root's operand lies, which then waits for its turn elsewhere, unless it comes first.
    let moves = reduction.is_in_place() && root != last;
    for (piece, _) in pieces(reduction.count(), elements) {
        let result = reduction.output().part(piece.clone());
        let kept = room.in_scratch(&scratch, order.places());
        let kept = kept.part(0..piece.len());
        let mut own = reduction.input().part(piece.clone());
        if moves {
            own.copy_to(kept);
            own = kept;
        }
        let begin = piece.start * reduction.element_bytes();
        let mut partials = Partials::new(&room, &scratch, result);
        for (rank, completes) in order.last_first() {
            let mut operand = own;
            if rank != root {
                operand = partials.room(completes);
                let theirs = steps.posted_region(step, rank).await?;
                read(&steps, theirs.after(begin), operand)?;
            }
            partials.take(Some(operand), completes);
        }
    }
    steps.announce().await.map(drop)
}

/// Copies a packed operand.
fn read<P: PointToPoint>(
    steps: &Steps<'_, '_, P>,
    theirs: RemoteRegion,
    into: Operand<'_>,
) -> Option<()> {
    let packed = steps.channel.room(Packed::room_for(&into.memory()))?;
    steps.read(theirs, &packed.memory())?;
    packed.unpack(&into.memory());
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let operands = others(ranks) * (copied(bytes) + combined(bytes));
    Work::rooted(2.0 * meeting(ranks) + operands, looks(1.0))
}

//! Everyone posts its operand. Short ones are combined by everyone, in one step; long ones by rank 0, which posts the result
//! piece after piece while others post the next.

use crate::cost::{Counts, Work, folded, others, posted, step};
use crate::flat::{bcast, reduce};
use crate::order::{Order, Partials};
use crate::steps::PIECE;
use crate::{Channel, PointToPoint, Reduction};
use weft_sync::board::Piece;

/// Up to how many bytes of all operands each rank combines everything itself.
pub(crate) const ALONE_BYTES: usize = 4 << 10;

const _: () = assert!(ALONE_BYTES <= PIECE);

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
) -> Option<()> {
    if channel.size() * reduction.bytes() > ALONE_BYTES {
        reduce::shared::run(channel, reduction, 0).await?;
        return bcast::through_board(channel, &reduction.output().memory(), 0).await;
    }
    let steps = channel.steps();
    let order = Order::all(channel.size());
    let scratch = channel.room(reduction.scratch(order.places()))?;
    let input = reduction.input().memory();
    let piece = Piece::whole(input.bytes);
    let posted = (steps.post(&input, false).await?, piece);
    let (all, whole) = ((order, None), 0..reduction.count());
    let partials = Partials::new(reduction, &scratch, reduction.output());
    steps.fold(reduction, posted, all, whole, partials).await
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    if ranks as f64 * bytes <= ALONE_BYTES as f64 {
        return Work::alike(step() + posted(bytes) + others(ranks) * folded(bytes));
    }
    let turn = Work::rooted(step(), Counts::NOTHING);
    reduce::shared::work(ranks, bytes) + turn + bcast::shared::work(ranks, bytes)
}

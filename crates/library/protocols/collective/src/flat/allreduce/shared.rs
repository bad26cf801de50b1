//! Everyone posts its operand piece after piece, and combines those of all.

use crate::cost::{Work, combined, looked, others, posted, step};
use crate::order::{Order, Partials};
use crate::steps::{PIECE, pieces};
use crate::{Channel, PointToPoint, Reduction};
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
) -> Option<()> {
    let steps = channel.steps();
    let order = Order::all(channel.size());
    let longest = PIECE / reduction.element_bytes();
    let room = reduction.share(0..longest.min(reduction.count()));
    let scratch = channel.room(room.scratch(order.places()))?;
    for (piece, more) in pieces(reduction.count(), longest) {
        let input = reduction.input().part(piece.clone()).memory();
        let bytes = input.bytes;
        let posted = (steps.post(&input, more).await?, Piece { bytes, more });
        let output = reduction.output().part(piece.clone());
        let (all, whole) = ((order, None), 0..piece.len());
        let partials = Partials::new(&room, &scratch, output);
        steps.fold(reduction, posted, all, whole, partials).await?;
    }
    Some(())
}

/// The work of its ranks. All look at the same operand at once.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let operands = others(ranks) * (looked(bytes) + combined(bytes));
    Work::alike(step() + posted(bytes) + operands)
}

//! Everyone posts its operand piece after piece, and the root combines them.

use crate::cost::{Work, folded, others, posted, step};
use crate::order::{Order, Partials};
use crate::steps::{PIECE, pieces};
use crate::{Channel, PointToPoint, Reduction};
use weft_sync::board::Piece;

pub(crate) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    let ranks = channel.size();
    let size = reduction.element_bytes();
    let longest = PIECE / size;
    if channel.rank() != root {
        for (piece, more) in pieces(reduction.count(), longest) {
            let operand = reduction.input().part(piece);
            steps.post(&operand.memory(), more).await?;
        }
        return Some(());
    }
    // In place the result grows where the root's operand lies, unless that comes first.
    let moves = reduction.is_in_place() && root != ranks - 1;
    let room = reduction.share(0..longest.min(reduction.count()));
    let order = Order::all(ranks);
    let scratch = channel.room(room.scratch(order.places() + 1))?;
    let kept = room.in_scratch(&scratch, order.places());
    for (piece, more) in pieces(reduction.count(), longest) {
        let step = steps.listen();
        let result = reduction.output().part(piece.clone());
        let mut own = reduction.input().part(piece.clone());
        if moves {
            let place = kept.part(0..piece.len());
            own.copy_to(place);
            own = place;
        }
        let bytes = piece.len() * size;
        let posted = (step, Piece { bytes, more });
        let all = (order, Some(own));
        let partials = Partials::new(&room, &scratch, result);
        steps
            .fold(reduction, posted, all, 0..piece.len(), partials)
            .await?;
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    // The root combines behind those that post, who post at once.
    let operands = posted(bytes) + others(ranks) * folded(bytes);
    let further = 1.0 - 1.0 / others(ranks);
    Work::rooted(step() + operands, further * posted(bytes))
}

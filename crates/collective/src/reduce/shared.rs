//! Everyone posts its operand piece after piece, and the root combines them.

use crate::arena::{PIECE, pieces};
use crate::{Channel, PointToPoint, Reduction};

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
        for piece in pieces(reduction.count(), longest) {
            steps.post(&reduction.input().part(piece).memory()).await?;
        }
        return Some(());
    }
    // In place the result grows where the root's operand lies, unless that comes first.
    let moves = reduction.is_in_place() && root != ranks - 1;
    let room = reduction.share(0..longest.min(reduction.count()));
    let scratch = room.scratch(2);
    let (kept, spare) = (room.in_scratch(&scratch, 0), room.in_scratch(&scratch, 1));
    for piece in pieces(reduction.count(), longest) {
        let step = steps.listen();
        let result = reduction.output().part(piece.clone());
        let mut own = reduction.input().part(piece.clone());
        if moves {
            let place = kept.part(0..piece.len());
            own.copy_to(place);
            own = place;
        }
        let posted = (step, piece.len() * size);
        let all = (0..ranks, Some(own));
        let operands = (result, spare);
        steps
            .fold(reduction, posted, all, 0..piece.len(), operands)
            .await?;
    }
    Some(())
}

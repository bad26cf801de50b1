//! Everyone posts its operand piece after piece, and combines those of the ranks before it.

use super::Kind;
use crate::cost::{Work, folded, others, posted, step};
use crate::steps::{PIECE, pieces};
use crate::{Channel, PointToPoint, Reduction};
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    kind: Kind,
) -> Option<()> {
    let steps = channel.steps();
    let ranks = match kind {
        Kind::Inclusive => 0..channel.rank() + 1,
        Kind::Exclusive => 0..channel.rank(),
    };
    let longest = PIECE / reduction.element_bytes();
    let room = reduction.share(0..longest.min(reduction.count()));
    let scratch = channel.room(room.scratch(1))?;
    let spare = room.in_scratch(&scratch, 0);
    for (piece, more) in pieces(reduction.count(), longest) {
        let input = reduction.input().part(piece.clone()).memory();
        let bytes = input.bytes;
        let posted = (steps.post(&input, more).await?, Piece { bytes, more });
        let output = reduction.output().part(piece.clone());
        let (lower, whole) = ((ranks.clone(), None), 0..piece.len());
        steps
            .fold(reduction, posted, lower, whole, (output, spare))
            .await?;
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(step() + posted(bytes) + others(ranks) * folded(bytes))
}

//! Everyone posts its operand piece after piece, and combines those of the ranks before it.

use super::ScanKind;
use crate::cost::{Work, folded, others, posted, step};
use crate::order::{Order, Partials};
use crate::steps::{PIECE, pieces};
use crate::{Channel, PointToPoint, Reduction};
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    kind: ScanKind,
) -> Option<()> {
    let steps = channel.steps();
    let order = match kind {
        ScanKind::Inclusive => Order::UpTo(channel.rank()),
        ScanKind::Exclusive => Order::Before(channel.rank()),
    };
    let longest = PIECE / reduction.element_bytes();
    let room = reduction.share(0..longest.min(reduction.count()));
    let scratch = channel.room(room.scratch(order.places()))?;
    for (piece, more) in pieces(reduction.count(), longest) {
        let input = reduction.input().part(piece.clone()).memory();
        let bytes = input.bytes;
        let posted = (steps.post(&input, more).await?, Piece { bytes, more });
        let output = reduction.output().part(piece.clone());
        let (lower, whole) = ((order, None), 0..piece.len());
        let partials = Partials::new(&room, &scratch, output);
        steps
            .fold(reduction, posted, lower, whole, partials)
            .await?;
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(step() + posted(bytes) + others(ranks) * folded(bytes))
}

//! Everyone posts its block piece after piece, and copies everyone's out.

use crate::cost::{Work, looked, others, posted, step};
use crate::steps::{PIECE, pieces};
use crate::{Blocks, Channel, PointToPoint};
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: &dyn Blocks,
) -> Option<()> {
    let steps = channel.steps();
    let own = blocks.block(channel.rank());
    let longest = (0..channel.size()).map(|rank| blocks.block(rank).bytes);
    for (piece, more) in pieces(longest.max()?, PIECE) {
        let step = steps
            .post(&own.part(piece.start, piece.len()), more)
            .await?;
        for distance in 1..channel.size() {
            let rank = channel.after(distance);
            let part = blocks.block(rank).part(piece.start, piece.len());
            let bytes = part.bytes;
            let slot = steps.posted(step, rank, Piece { bytes, more }).await?;
            steps.copy_posted(rank, &slot, &part);
        }
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(step() + posted(bytes) + others(ranks) * looked(bytes))
}

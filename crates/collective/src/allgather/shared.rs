//! Everyone posts its block piece after piece, and copies everyone's out.

use crate::arena::{PIECE, pieces};
use crate::memory::copy;
use crate::{Blocks, Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: &dyn Blocks,
) -> Option<()> {
    let steps = channel.steps();
    let own = blocks.block(channel.rank());
    let longest = (0..channel.size()).map(|rank| blocks.block(rank).bytes);
    for piece in pieces(longest.max()?, PIECE) {
        let step = steps.post(&own.part(piece.start, piece.len())).await?;
        for distance in 1..channel.size() {
            let rank = channel.after(distance);
            let part = blocks.block(rank).part(piece.start, piece.len());
            copy(&steps.posted(step, rank, part.bytes).await?, &part);
        }
    }
    Some(())
}

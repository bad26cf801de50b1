//! Everyone posts a piece for each rank in a step, and copies its own out of everyone's.

use crate::memory::{copy, equal_part};
use crate::steps::{LONGEST, pieces};
use crate::{Blocks, Channel, PointToPoint};
use weft_sync::board::Piece;

/// Both may be the same blocks: pieces are posted before others take their place.
pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) -> Option<()> {
    let steps = channel.steps();
    let (rank, ranks) = (channel.rank(), channel.size());
    for (piece, more) in pieces(receive.block(rank).bytes, LONGEST / ranks) {
        let bytes = piece.len() * ranks;
        let posting = steps.begin(Piece { bytes, more }).await?;
        for to in (0..ranks).filter(|&to| to != rank) {
            let block = send.block(to).part(piece.start, piece.len());
            copy(&block, &equal_part(&posting.slot, to, ranks));
        }
        let step = steps.publish(posting);
        for distance in 1..ranks {
            let from = channel.after(distance);
            let slot = steps.posted(step, from, Piece { bytes, more }).await?;
            let block = receive.block(from).part(piece.start, piece.len());
            copy(&equal_part(&slot, rank, ranks), &block);
        }
    }
    Some(())
}

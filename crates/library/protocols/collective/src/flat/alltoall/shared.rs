//! Everyone posts a piece for each of the others in a step, and copies its own out of everyone's.

use crate::cost::{Work, looked, others, posted, step};
use crate::memory::{copy, equal_part};
use crate::steps::{LONGEST, pieces, place_for};
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
    let others = ranks - 1;
    for (piece, more) in pieces(receive.block(rank).bytes, LONGEST / ranks) {
        let bytes = piece.len() * others;
        let step = match steps.begun() {
            Some(step) => step,
            None => {
                let posting = steps.begin(Piece { bytes, more }).await?;
                for to in (0..ranks).filter(|&to| to != rank) {
                    let block = send.block(to).part(piece.start, piece.len());
                    let place = place_for(to, rank, ranks);
                    copy(&block, &equal_part(&posting.slot, place, others));
                }
                steps.publish(posting)
            }
        };
        for distance in 1..ranks {
            let from = channel.after(distance);
            let slot = steps.posted(step, from, Piece { bytes, more }).await?;
            let block = receive.block(from).part(piece.start, piece.len());
            let place = place_for(rank, from, ranks);
            steps.copy_posted(from, &equal_part(&slot, place, others), &block);
        }
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::alike(step() + others(ranks) * (posted(bytes) + looked(bytes)))
}

//! The root posts a piece for each of the others in a step, and each copies its own out.

use crate::cost::{Work, looked, others, posted, step};
use crate::memory::{copy, equal_part};
use crate::steps::{LONGEST, pieces, place_for};
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<&Memory>,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    let (rank, ranks) = (channel.rank(), channel.size());
    let others = ranks - 1;
    if rank != root {
        let receive = receive?;
        for (piece, more) in pieces(receive.bytes, LONGEST / ranks) {
            let step = steps.listen();
            let bytes = piece.len() * others;
            let slot = steps.posted(step, root, Piece { bytes, more }).await?;
            let own = equal_part(&slot, place_for(rank, root, ranks), others);
            steps.copy_posted(root, &own, &receive.part(piece.start, piece.len()));
        }
        return Some(());
    }
    let blocks = blocks?;
    if let Some(receive) = receive {
        copy(&blocks.block(root), receive);
    }
    for (piece, more) in pieces(blocks.block(root).bytes, LONGEST / ranks) {
        let bytes = piece.len() * others;
        let posting = steps.begin(Piece { bytes, more }).await?;
        for to in (0..ranks).filter(|&to| to != root) {
            let theirs = equal_part(&posting.slot, place_for(to, root, ranks), others);
            copy(&blocks.block(to).part(piece.start, piece.len()), &theirs);
        }
        steps.publish(posting);
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    Work::rooted(
        step() + others(ranks) * posted(bytes) + looked(bytes),
        looked(bytes),
    )
}

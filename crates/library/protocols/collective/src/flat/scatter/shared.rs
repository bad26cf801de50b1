//! The root posts a piece for each rank in a step, and each copies its own out.

use crate::memory::{copy, equal_part};
use crate::steps::{LONGEST, pieces};
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
    if rank != root {
        let receive = receive?;
        for (piece, more) in pieces(receive.bytes, LONGEST / ranks) {
            let step = steps.listen();
            let bytes = piece.len() * ranks;
            let slot = steps.posted(step, root, Piece { bytes, more }).await?;
            let own = equal_part(&slot, rank, ranks);
            copy(&own, &receive.part(piece.start, piece.len()));
        }
        return Some(());
    }
    let blocks = blocks?;
    if let Some(receive) = receive {
        copy(&blocks.block(root), receive);
    }
    for (piece, more) in pieces(blocks.block(root).bytes, LONGEST / ranks) {
        let bytes = piece.len() * ranks;
        let posting = steps.begin(Piece { bytes, more }).await?;
        for to in (0..ranks).filter(|&to| to != root) {
            let theirs = equal_part(&posting.slot, to, ranks);
            copy(&blocks.block(to).part(piece.start, piece.len()), &theirs);
        }
        steps.publish(posting);
    }
    Some(())
}

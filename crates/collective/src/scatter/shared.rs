//! The root posts a piece for each rank in a step, and each copies its own out.

use crate::arena::{LONGEST, pieces};
use crate::memory::{copy, window};
use crate::{Blocks, Channel, PointToPoint};
use weft_transport::Memory;

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
        for piece in pieces(receive.bytes, LONGEST / ranks) {
            let step = steps.listen();
            let slot = steps.posted(step, root, piece.len() * ranks).await?;
            let own = window(&slot, rank * piece.len()..(rank + 1) * piece.len());
            copy(&own, &receive.part(piece.start, piece.len()));
        }
        return Some(());
    }
    let blocks = blocks?;
    if let Some(receive) = receive {
        copy(&blocks.block(root), receive);
    }
    for piece in pieces(blocks.block(root).bytes, LONGEST / ranks) {
        let posting = steps.begin(piece.len() * ranks).await?;
        for to in (0..ranks).filter(|&to| to != root) {
            let theirs = window(&posting.slot, to * piece.len()..(to + 1) * piece.len());
            copy(&blocks.block(to).part(piece.start, piece.len()), &theirs);
        }
        steps.publish(posting);
    }
    Some(())
}

//! Everyone posts its block piece after piece, and the root copies each out.

use crate::cost::{Work, looked, others, posted, step};
use crate::memory::copy;
use crate::steps::{PIECE, pieces};
use crate::{Blocks, Channel, PointToPoint};
use weft_memory::Memory;
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    send: Option<&Memory>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    if channel.rank() != root {
        let send = send?;
        for (piece, more) in pieces(send.bytes, PIECE) {
            steps
                .post(&send.part(piece.start, piece.len()), more)
                .await?;
        }
        return Some(());
    }
    let blocks = blocks?;
    if let Some(send) = send {
        copy(send, &blocks.block(root));
    }
    for (piece, more) in pieces(blocks.block(root).bytes, PIECE) {
        let step = steps.listen();
        for distance in 1..channel.size() {
            let rank = channel.after(distance);
            let bytes = piece.len();
            let slot = steps.posted(step, rank, Piece { bytes, more }).await?;
            let block = blocks.block(rank).part(piece.start, piece.len());
            steps.copy_posted(rank, &slot, &block);
        }
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    // The root copies behind those that post, who post at once.
    let blocks = posted(bytes) + others(ranks) * looked(bytes);
    let further = 1.0 - 1.0 / others(ranks);
    Work::rooted(step() + blocks, further * posted(bytes))
}

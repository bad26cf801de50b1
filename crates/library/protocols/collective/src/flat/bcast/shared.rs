//! The root posts piece after piece, and everyone copies each out.

use crate::cost::{Work, looked, posted, step};
use crate::steps::{PIECE, pieces};
use crate::{Channel, PointToPoint};
use weft_memory::Memory;
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: &Memory,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    for (piece, more) in pieces(memory.bytes, PIECE) {
        let piece = memory.part(piece.start, piece.len());
        if channel.rank() == root {
            steps.post(&piece, more).await?;
        } else {
            let step = steps.listen();
            let bytes = piece.bytes;
            let slot = steps.posted(step, root, Piece { bytes, more }).await?;
            steps.copy_posted(root, &slot, &piece);
        }
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(_ranks: usize, bytes: f64) -> Work {
    // All pieces but the first are copied out while the next is posted.
    let first = bytes.min(PIECE as f64);
    Work::rooted(step() + posted(bytes) + looked(first), looked(bytes))
}

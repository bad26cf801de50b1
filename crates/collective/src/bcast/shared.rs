//! The root posts piece after piece, and everyone copies each out.

use crate::arena::{PIECE, pieces};
use crate::memory::copy;
use crate::{Channel, PointToPoint};
use weft_transport::Memory;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    memory: &Memory,
    root: usize,
) -> Option<()> {
    let steps = channel.steps();
    for piece in pieces(memory.bytes, PIECE) {
        let piece = memory.part(piece.start, piece.len());
        if channel.rank() == root {
            steps.post(&piece).await?;
        } else {
            let step = steps.listen();
            copy(&steps.posted(step, root, piece.bytes).await?, &piece);
        }
    }
    Some(())
}

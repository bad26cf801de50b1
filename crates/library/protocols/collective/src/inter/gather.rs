//! MPI_Gather and MPI_Gatherv: everyone of the other group sends to the root (MPI-5.0 §6.5).

use super::{Root, Sides};
use crate::{Blocks, PointToPoint};
use weft_memory::Memory;

/// The root passes blocks, the others a `send`.
pub async fn gather<P: PointToPoint>(
    sides: &Sides<'_, P>,
    send: Option<Memory>,
    blocks: Option<&dyn Blocks>,
    root: Root,
) -> Result<(), P::Error> {
    let remote = &sides.remote;
    match (root, send, blocks) {
        (Root::Me, _, Some(blocks)) => {
            let receive = |from: usize| {
                let block = blocks.block(from);
                match block.bytes {
                    0 => None,
                    _ => remote.receive(from, block),
                }
            };
            remote.windowed(remote.size(), receive).await;
        }
        (Root::Remote(root), Some(send), _) if send.bytes > 0 => {
            remote.wait(remote.send(root, send)).await;
        }
        _ => {}
    }
    sides.finish()
}

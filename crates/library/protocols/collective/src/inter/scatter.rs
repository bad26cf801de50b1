//! MPI_Scatter and MPI_Scatterv: the root sends to everyone of the other group (MPI-5.0 §6.6).

use super::{Root, Sides};
use crate::{Blocks, PointToPoint};
use weft_memory::Memory;

/// The root passes blocks, the others a `receive`.
pub async fn scatter<P: PointToPoint>(
    sides: &Sides<'_, P>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Memory>,
    root: Root,
) -> Result<(), P::Error> {
    let remote = &sides.remote;
    match (root, receive, blocks) {
        (Root::Me, _, Some(blocks)) => {
            let send = |to: usize| {
                let block = blocks.block(to);
                match block.bytes {
                    0 => None,
                    _ => remote.send(to, block),
                }
            };
            remote.windowed(remote.size(), send).await;
        }
        (Root::Remote(root), Some(receive), _) if receive.bytes > 0 => {
            remote.wait(remote.receive(root, receive)).await;
        }
        _ => {}
    }
    sides.finish()
}

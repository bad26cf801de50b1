//! MPI_Allgather and MPI_Alltoall, and those with blocks of any lengths: every process has a message for each of the
//! other group (MPI-5.0 §6.7, §6.8).

use super::Sides;
use crate::channel::WINDOW;
use crate::{Blocks, PointToPoint};
use weft_memory::Memory;

/// Sends `send` to everyone of the other group, and receives each one's.
pub async fn allgather<P: PointToPoint>(
    sides: &Sides<'_, P>,
    send: Memory,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    exchange(sides, |_| send.clone(), receive).await
}

/// Sends block `r` to rank `r` of the other group, and receives each one's block for this rank.
pub async fn alltoall<P: PointToPoint>(
    sides: &Sides<'_, P>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    exchange(sides, |to| send.block(to), receive).await
}

/// In windows that fit together: the ranks of this group's window `w` meet those of the other's window `v` when they are
/// in their window `v`, and those in their window `w`.
async fn exchange<P: PointToPoint>(
    sides: &Sides<'_, P>,
    send: impl Fn(usize) -> Memory,
    receive: &dyn Blocks,
) -> Result<(), P::Error> {
    let remote = &sides.remote;
    for begin in (0..remote.size()).step_by(WINDOW / 2) {
        let ranks = begin..remote.size().min(begin + WINDOW / 2);
        let mut requests = [None; WINDOW];
        let (incoming, outgoing) = requests.split_at_mut(WINDOW / 2);
        for (rank, request) in ranks.clone().zip(incoming) {
            let block = receive.block(rank);
            if block.bytes > 0 {
                *request = remote.receive(rank, block);
            }
        }
        for (rank, request) in ranks.zip(outgoing) {
            let block = send(rank);
            if block.bytes > 0 {
                *request = remote.send(rank, block);
            }
        }
        remote.wait_all(&requests).await;
    }
    sides.finish()
}

//! Collective operations on inter-communicators (MPI-5.0 §6.2.2, §6.2.3): data go from one group to the other.
//!
//! Rooted ones have the root in one group and all others concerned in the other. Groups deal with each other message by
//! message where each of their processes has something for each of the others', and else by their first processes.

mod allreduce;
mod barrier;
mod bcast;
mod exchange;
mod gather;
mod reduce;
mod reduce_scatter;
mod scatter;

pub use allreduce::allreduce;
pub use barrier::barrier;
pub use bcast::bcast;
pub use exchange::{allgather, alltoall};
pub use gather::gather;
pub use reduce::reduce;
pub use reduce_scatter::reduce_scatter;
pub use scatter::scatter;

use crate::memory::Operand;
use crate::{Channel, PointToPoint, Reduction};

/// An inter-communicator as one of its processes sees it.
pub struct Sides<'a, P: PointToPoint> {
    /// Within its own group.
    pub local: Channel<'a, P>,
    /// To and from the other group, of which its size is. Its rank is the one in the own group.
    pub remote: Channel<'a, P>,
}

/// Where the root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This process (`MPI_ROOT`).
    Me,
    /// Another of this group (`MPI_PROC_NULL`): nothing is to be done.
    Beside,
    /// The process of this rank in the other group.
    Remote(usize),
}

impl<P: PointToPoint> Sides<'_, P> {
    /// Whether this process speaks for its group.
    fn leads(&self) -> bool {
        self.local.rank() == 0
    }

    fn finish(&self) -> Result<(), P::Error> {
        // Both have one outcome.
        self.remote.finish()
    }

    /// Reduces the group's operands into `result` at its first process.
    async fn reduce_locally(&self, reduction: &Reduction<'_>, result: Operand<'_>) {
        let kept = crate::reduce(&self.local, reduction.with_output(result), 0).await;
        self.local.keep(kept);
    }

    /// The first processes of the groups exchange operands.
    async fn swap(&self, out: Operand<'_>, into: Operand<'_>) {
        self.remote
            .exchange(0, out.memory(), 0, into.memory())
            .await;
    }
}

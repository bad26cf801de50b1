//! MPI_Reduce (MPI-5.0 §6.9.1).

mod binomial;
mod direct;
pub(crate) mod halving;
pub(crate) mod linear;
mod reduce_scatter_gather;
pub(crate) mod shared;

use crate::memory::Operand;
use crate::select;
use crate::{Channel, PointToPoint, Reduction};

algorithms! {
    Binomial: Nothing,
    Direct: Everything,
    Linear: Nothing,
    ReduceScatterGather: Nothing,
    Shared: Board,
}

/// Reduces everyone's input into the root's output.
pub async fn reduce<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    root: usize,
) -> Result<(), P::Error> {
    let call = channel.call_of(&reduction);
    run(channel, reduction, root, select::reduce(call)).await
}

/// A reduction by a given algorithm, the same on all ranks.
pub async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: Reduction<'_>,
    root: usize,
    algorithm: Algorithm,
) -> Result<(), P::Error> {
    if channel.size() == 1 {
        reduction.input().copy_to(reduction.output());
    } else if reduction.bytes() > 0 {
        match algorithm {
            Algorithm::Shared => shared::run(channel, &reduction, root).await.unwrap_or(()),
            Algorithm::Direct => direct::run(channel, &reduction, root).await.unwrap_or(()),
            Algorithm::Binomial => binomial::run(channel, &reduction, root).await,
            Algorithm::Linear => linear::run(channel, &reduction, root).await,
            Algorithm::ReduceScatterGather => {
                reduce_scatter_gather::run(channel, &reduction, root).await;
            }
        }
    }
    channel.finish()
}

/// A partial result and room for the next operand.
pub(crate) struct Accumulator<'a> {
    reduction: &'a Reduction<'a>,
    pub current: Operand<'a>,
    pub spare: Operand<'a>,
}

impl<'a> Accumulator<'a> {
    pub fn new(
        reduction: &'a Reduction<'a>,
        current: Operand<'a>,
        spare: Operand<'a>,
    ) -> Accumulator<'a> {
        Accumulator {
            reduction,
            current,
            spare,
        }
    }

    /// Takes in the operand in `spare`, which comes from lower ranks than all so far.
    pub fn take_lower(&mut self) {
        self.reduction.combine(self.spare, self.current);
    }

    /// Takes in the operand in `spare`, which comes from higher ranks than all so far.
    pub fn take_higher(&mut self) {
        self.reduction.combine(self.current, self.spare);
        std::mem::swap(&mut self.current, &mut self.spare);
    }
}

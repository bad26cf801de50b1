//! MPI_Allreduce: each group reduces among itself, the first processes exchange the results, and each group spreads what
//! came (MPI-5.0 §6.9.6).

use super::Sides;
use crate::{PointToPoint, Reduction};

pub async fn allreduce<P: PointToPoint>(
    sides: &Sides<'_, P>,
    reduction: Reduction<'_>,
) -> Result<(), P::Error> {
    if reduction.bytes() == 0 {
        return sides.finish();
    }
    let Some(scratch) = sides
        .local
        .room(reduction.scratch(usize::from(sides.leads())))
    else {
        return sides.finish();
    };
    let result = reduction.in_scratch(&scratch, 0);
    sides.reduce_locally(&reduction, result).await;
    if sides.leads() {
        sides.swap(result, reduction.output()).await;
    }
    let spread = crate::bcast(&sides.local, reduction.output().memory(), 0).await;
    sides.local.keep(spread);
    sides.finish()
}

//! MPI_Reduce_scatter and MPI_Reduce_scatter_block: each group reduces among itself, the first processes exchange the
//! results, and each group shares out what came (MPI-5.0 §6.10).

use super::Sides;
use crate::flat::reduce_scatter::linear::{receive_share, send_shares};
use crate::reduce_scatter::Shares;
use crate::{PointToPoint, Reduction};

/// The shares are those of this group's processes; both groups' have the same sum.
pub async fn reduce_scatter<P: PointToPoint>(
    sides: &Sides<'_, P>,
    reduction: Reduction<'_>,
    shares: &Shares,
) -> Result<(), P::Error> {
    if reduction.bytes() == 0 {
        return sides.finish();
    }
    let Some(scratch) = sides
        .local
        .room(reduction.scratch(2 * usize::from(sides.leads())))
    else {
        return sides.finish();
    };
    let result = reduction.in_scratch(&scratch, 0);
    sides.reduce_locally(&reduction, result).await;
    let local = &sides.local;
    let own = shares.range(local.rank());
    let output = reduction.output().part(0..own.len());
    if sides.leads() {
        let theirs = reduction.in_scratch(&scratch, 1);
        sides.swap(result, theirs).await;
        send_shares(local, theirs, shares).await;
        theirs.part(own).copy_to(output);
    } else {
        receive_share(local, output).await;
    }
    sides.finish()
}

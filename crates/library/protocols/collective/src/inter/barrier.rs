//! MPI_Barrier: nobody leaves before all of the other group have entered (MPI-5.0 §6.3).

use super::Sides;
use crate::PointToPoint;
use crate::memory::NOTHING;

pub async fn barrier<P: PointToPoint>(sides: &Sides<'_, P>) -> Result<(), P::Error> {
    let all_here = crate::barrier(&sides.local).await;
    if sides.leads() {
        sides.remote.exchange(0, NOTHING, 0, NOTHING).await;
    }
    let all_there = crate::barrier(&sides.local).await;
    all_here.and(all_there).and(sides.finish())
}

//! MPI_Reduce: the other group reduces among itself, and its first process sends the root the result (MPI-5.0 §6.9.1).

use super::{Root, Sides};
use crate::{PointToPoint, Reduction};

pub async fn reduce<P: PointToPoint>(
    sides: &Sides<'_, P>,
    reduction: Reduction<'_>,
    root: Root,
) -> Result<(), P::Error> {
    let remote = &sides.remote;
    match root {
        _ if reduction.bytes() == 0 => {}
        Root::Beside => {}
        Root::Me => {
            let result = reduction.output().memory();
            remote.wait(remote.receive(0, result)).await;
        }
        Root::Remote(root) => {
            let Some(scratch) = sides
                .local
                .room(reduction.scratch(usize::from(sides.leads())))
            else {
                return sides.finish();
            };
            let result = reduction.in_scratch(&scratch, 0);
            sides.reduce_locally(&reduction, result).await;
            if sides.leads() {
                remote.wait(remote.send(root, result.memory())).await;
            }
        }
    }
    sides.finish()
}

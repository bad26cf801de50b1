//! MPI_Bcast: from the root to the other group's first process, which passes it on in its group (MPI-5.0 §6.4).

use super::{Root, Sides};
use crate::PointToPoint;
use weft_memory::Memory;

pub async fn bcast<P: PointToPoint>(
    sides: &Sides<'_, P>,
    memory: Memory,
    root: Root,
) -> Result<(), P::Error> {
    let remote = &sides.remote;
    match root {
        Root::Beside => {}
        Root::Me => remote.wait(remote.send(0, memory)).await,
        Root::Remote(root) => {
            if sides.leads() {
                remote.wait(remote.receive(root, memory.clone())).await;
            }
            let passed_on = crate::bcast(&sides.local, memory, 0).await;
            sides.local.keep(passed_on);
        }
    }
    sides.finish()
}

//! Making this process one of its job.

use std::sync::Arc;

use weft_bootstrap::Bootstrap;
use weft_engine::{Engine, Pace};
use weft_shm::Shm;
use weft_transport::{Directory, Peer};

use crate::error::{Class, Error, Result};
use crate::objects::comm;
use crate::process::{engine, job};
use crate::tool;

struct Cards(Arc<Bootstrap>);

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        self.0.card(peer).map_err(|error| error.to_string())
    }
}

/// Makes this process one of its job: it joins, tells the others where it is, and has an engine.
pub(super) fn start() -> Result<()> {
    let failed = |error: String| Error::new(Class::Other, error);
    let bootstrap = Arc::new(weft_bootstrap::connect().map_err(job::of_launcher)?);
    let told = bootstrap.job();
    let elsewhere = (0..told.size).find(|rank| told.local_ranks.binary_search(rank).is_err());
    if let Some(rank) = elsewhere {
        return Err(failed(format!(
            "rank {rank} runs on another host; this version connects the processes of one host only"
        )));
    }
    let fabric = Shm::new(
        told.rank,
        told.size,
        weft_engine::LANES,
        Arc::new(Cards(bootstrap.clone())),
    )
    .map_err(|error| failed(format!("shared memory: {error}")))?;
    if told.size > 1 {
        let publish = bootstrap
            .publish(&fabric.card())
            .and_then(|()| bootstrap.fence());
        publish.map_err(job::of_launcher)?;
    }
    let cores = cores();
    let host_cores = bootstrap.agree_on_cores().map_err(job::of_launcher)?;
    let oversubscribed = told.local_size > host_cores;
    let pace = if oversubscribed {
        Pace::SHARED
    } else {
        Pace::ALONE
    };
    let threads = if oversubscribed { 0 } else { cores };
    let (rank, size) = (told.rank, told.size);
    let pace = tool::control::pace(pace);
    comm::begin(rank, size);
    job::begin(bootstrap, oversubscribed);
    let engine = Engine::new(fabric, rank, size, pace, threads);
    engine::begin(engine.with_members(comm::members().clone()), rank);
    Ok(())
}

/// Cores this process may run on.
fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

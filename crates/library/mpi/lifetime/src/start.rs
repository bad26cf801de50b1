//! Making this process one of its job.

use std::sync::Arc;
use std::time::Duration;

use weft_bootstrap::{Agreed, Bootstrap, Job};
use weft_engine::{Engine, Pace};
use weft_error::Result;
use weft_messages::completion;
use weft_objects::comm;
use weft_process::network::Network;
use weft_process::report::{Fence, InFence};
use weft_process::transport::Transport;
use weft_process::{engine, job, network, prices, report};
use weft_tool as tool;
use weft_transport::{Directory, Peer};

use crate::alone;

struct Cards(Arc<Bootstrap>);

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        self.0.card(peer).map_err(|error| error.to_string())
    }
}

/// Makes this process one of its job: it joins, tells the others where it is, and has an engine.
pub(super) fn start() -> Result<()> {
    alone::check()?;
    let bootstrap = Arc::new(weft_bootstrap::connect().map_err(job::of_launcher)?);
    report::begin(bootstrap.job().rank);
    let in_fence = InFence::enter(Fence::Joining);
    let transport = Transport::named()?;
    let attach = |placed: &Job| -> Result<(Job, Network, String)> {
        let job = transport.job(placed)?;
        let cards = Arc::new(Cards(bootstrap.clone()));
        let (fabric, card) = network::attach(&job, transport, placed, cards)?;
        Ok((job, fabric, card))
    };
    let attached = attach(bootstrap.job());
    let attached = attached.inspect_err(|_| let_the_first_speak(bootstrap.job().rank));
    let (mut job, mut fabric, card) = attached?;
    if job.size > 1 {
        let publish = bootstrap.publish(&card).and_then(|()| bootstrap.fence());
        publish.map_err(job::of_launcher)?;
    }
    let groups = |cards: &[String]| network::groups(&fabric, transport, cards);
    let announcement = prices::to_announce(job.rank);
    let agreed = bootstrap.agree(&groups, announcement);
    let Agreed {
        cores,
        apart,
        announcement,
    } = agreed.map_err(job::of_launcher)?;
    if let Some(apart) = apart {
        let card;
        (job, fabric, card) = attach(&apart)?;
        let publish = bootstrap.publish_anew(&card);
        let publish = publish.and_then(|()| bootstrap.fence());
        publish.map_err(job::of_launcher)?;
    }
    drop(in_fence);
    prices::begin(announcement.as_deref())?;
    fabric.note(0, format_args!("prices file={}", prices::source()));
    let (pace, threads) = match job.local_size > cores.here {
        true => {
            fabric.near().share_cores();
            (Pace::SHARED, 0)
        }
        false => (Pace::ALONE, usable_cores()),
    };
    let (rank, size, hosts) = (job.rank, job.size, job.hosts.count());
    let pace = tool::control::pace(pace);
    comm::begin(rank, size);
    job::begin(bootstrap, job, cores);
    let engine = Engine::new(fabric, rank, size, pace, threads);
    let engine = engine
        .with_members(comm::members().clone())
        .with_answer(weft_collective_calls::answer)
        .with_listener(weft_recovery::LISTENER);
    let engine = match hosts > 1 && !transport.has_agent() {
        true => engine.with_crowd_watched(),
        false => engine,
    };
    engine::begin(engine);
    weft_reserve::set_aside();
    prepare_thread();
    Ok(())
}

/// Has glibc make its notes of the calling thread: it ends a process that has no memory for those.
fn prepare_thread() {
    weft_collective::prepare_thread();
    completion::prepare_thread();
}

/// What keeps a process from its network mostly keeps all: the first rank tells it, and with it the job ends. Another one tells it
/// only if that does not happen.
fn let_the_first_speak(rank: Peer) {
    // As long as a process that aborts its job waits for its launcher to end it.
    const FIRST: Duration = Duration::from_secs(1);
    if rank != 0 {
        std::thread::sleep(FIRST);
    }
}

/// Cores this process may run on.
fn usable_cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

//! This process's place in its job.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use weft_bootstrap::{Bootstrap, HostCores, Job};
use weft_error::{Class, Error, Result};
use weft_transport::Peer;

static JOB: OnceLock<Membership> = OnceLock::new();

/// This process as one of its job. It is never taken down: a process ends.
pub(crate) struct Membership {
    bootstrap: Arc<Bootstrap>,
    /// As messages see it.
    job: Job,
    /// More processes than cores: on any host of the job, on this one.
    oversubscribed: bool,
    oversubscribed_here: bool,
    main_thread: u64,
    pid: u32,
}

fn membership() -> &'static Membership {
    JOB.get().expect("the shims let no call in before MPI_Init")
}

/// This process is one of its job from here on.
pub fn begin(bootstrap: Arc<Bootstrap>, job: Job, cores: HostCores) {
    let oversubscribed_here = bootstrap.job().local_size > cores.here;
    let membership = Membership {
        bootstrap,
        job,
        oversubscribed: cores.oversubscribed,
        oversubscribed_here,
        main_thread: this_thread(),
        pid: std::process::id(),
    };
    let set = JOB.set(membership);
    assert!(set.is_ok(), "a process starts once");
}

/// What the launcher told; the hosts as far as their processes share memory.
pub fn job() -> &'static Job {
    &membership().job
}

/// The number of the host that this process runs on, whether or not its processes share memory.
pub fn host() -> u32 {
    let job = membership().bootstrap.job();
    job.hosts.of(job.rank)
}

/// Rank in `MPI_COMM_WORLD`.
pub fn rank() -> Peer {
    job().rank
}

/// More processes than cores on any host of the job: the same on all processes, for what they choose alike.
pub fn oversubscribed() -> bool {
    membership().oversubscribed
}

/// More processes than cores on this host.
pub fn oversubscribed_here() -> bool {
    membership().oversubscribed_here
}

/// Whether this is the process that joined the job, and not a child of it.
pub fn is_this() -> bool {
    membership().pid == std::process::id()
}

/// Joins the job again, alone.
pub fn rejoin() -> Result<()> {
    membership().bootstrap.rejoin().map_err(of_launcher)
}

/// Leaves the job, `together` with all others or alone. While the others are waited for, `turn` is called now and then.
pub fn leave(together: bool, turn: &mut dyn FnMut()) -> Result<()> {
    let bootstrap = &membership().bootstrap;
    let fenced = match together {
        true => bootstrap.fence_with(turn),
        false => Ok(()),
    };
    let left = fenced.and_then(|()| bootstrap.finalize());
    left.map_err(of_launcher)
}

/// Ends the job: `MPI_Abort`, and errors that are fatal.
pub fn abort(code: i32, message: &str) -> ! {
    match JOB.get() {
        Some(membership) => membership.bootstrap.abort(code, message),
        None => {
            eprintln!("weft: {message}");
            std::process::exit(code)
        }
    }
}

/// `MPI_Is_thread_main`.
pub fn is_main_thread() -> bool {
    this_thread() == membership().main_thread
}

/// A number that no other thread of the process has or had. What the standard library knows threads by it allocates for each
/// that asks, and keeps where valgrind takes it for possibly lost.
fn this_thread() -> u64 {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = ASKED.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// The error of a launcher that could not do its part.
pub fn of_launcher(error: weft_bootstrap::Error) -> Error {
    Error::new(Class::Other, error.to_string())
}

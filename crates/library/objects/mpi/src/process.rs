//! This process: its place in the job, its engine, its tables.

use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

use weft_bootstrap::Bootstrap;
use weft_engine::{Engine, Pace};
use weft_shm::Shm;
use weft_transport::{Directory, Peer};

use crate::buffered::Buffers;
use crate::collective::ArenaCounts;
use crate::comm::Comm;
use crate::context::Contexts;
use crate::error::{Class, Error, Handler, Result};
use crate::group::Group;
use crate::lifetime::{Phase, world};
use crate::members::Members;
use crate::op::UserOp;
use crate::partitioned::Tags;
use crate::request::{Compound, Request};
use crate::table::Table;
use crate::types::UserType;
use crate::window::Window;

/// The kinds of handles, as their top four bits.
pub mod kind {
    pub const COMM: u8 = 1;
    pub const GROUP: u8 = 2;
    pub const DATATYPE: u8 = 3;
    pub const WINDOW: u8 = 4;
    pub const INFO: u8 = 6;
    /// Requests of the engine; those of several parts are [`COMPOUND`].
    pub const REQUEST: u8 = 7;
    pub const MESSAGE: u8 = 8;
    pub const SESSION: u8 = 9;
    pub const ERRHANDLER: u8 = 10;
    pub const OP: u8 = 11;
    pub const COMPOUND: u8 = 12;
}

static PROCESS: OnceLock<Process> = OnceLock::new();

/// Everything of a process that has been initialised. It is never taken down: a process ends.
pub struct Process {
    bootstrap: Arc<Bootstrap>,
    pub(crate) engine: Engine<Shm>,
    pub(crate) comms: Table<Comm>,
    pub(crate) groups: Table<Group>,
    pub(crate) types: Table<UserType>,
    pub(crate) ops: Table<UserOp>,
    pub(crate) windows: Table<Window>,
    pub(crate) compounds: Table<Compound>,
    /// Requests that nobody asks for, and their data; see `completion::linger`.
    pub(crate) lingering: Mutex<Vec<(Request, Box<dyn Send>)>>,
    pub(crate) contexts: Contexts,
    pub(crate) members: Arc<Members>,
    pub(crate) partition_tags: Tags,
    pub(crate) buffers: Mutex<Buffers>,
    pub(crate) arenas: ArenaCounts,
    pub(crate) world: Arc<Comm>,
    pub(crate) own: Arc<Comm>,
    /// All processes of the job, with no handle: where those meet that have no communicator yet.
    pub(crate) everyone: Comm,
    oversubscribed: bool,
    main_thread: std::thread::ThreadId,
    pid: u32,
    /// What is said when someone asks what this process waits for, and it waits for nothing.
    busy_line: String,
}

struct Cards(Arc<Bootstrap>);

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        self.0.card(peer).map_err(|error| error.to_string())
    }
}

/// This process, which is initialised.
#[inline]
pub(crate) fn process() -> &'static Process {
    PROCESS
        .get()
        .expect("the shims let no call in before MPI_Init")
}

/// This process, once it was initialised; for those who may come before.
pub(crate) fn started() -> Option<&'static Process> {
    PROCESS.get()
}

/// Makes this process one of its job.
pub(crate) fn start() -> Result<()> {
    let process = Process::start()?;
    let set = PROCESS.set(process);
    assert!(set.is_ok(), "a process starts once");
    install_report_signal();
    Ok(())
}

/// Ends the job: `MPI_Abort`, and errors that are fatal.
pub fn abort(code: i32, message: &str) -> ! {
    match PROCESS.get() {
        Some(process) => process.bootstrap.abort(code, message),
        None => {
            eprintln!("weft: {message}");
            std::process::exit(code)
        }
    }
}

/// The live handle of a kind at an index: the inverse of taking a handle's lower 32 bits.
pub fn handle_at(kind: u8, index: u32) -> Option<u64> {
    // What there is without MPI_Init.
    match kind {
        kind::INFO => return crate::info::current(index),
        kind::ERRHANDLER => return crate::error::current_handler(index),
        kind::SESSION => return crate::session::current(index),
        _ => {}
    }
    let process = PROCESS.get()?;
    match kind {
        kind::COMM => process.comms.current(index),
        kind::GROUP => process.groups.current(index),
        kind::DATATYPE => process.types.current(index),
        kind::OP => process.ops.current(index),
        kind::WINDOW => process.windows.current(index),
        kind::COMPOUND => process.compounds.current(index),
        kind::REQUEST | kind::MESSAGE => {
            let id = process.engine.current(index)?;
            Some(id.bits() | u64::from(kind) << 60)
        }
        _ => None,
    }
}

/// The handler of errors that belong to no object: that of `MPI_COMM_SELF`, and before `MPI_Init` and after
/// `MPI_Finalize` the initial one (MPI-5.0 §9.3).
pub(crate) fn default_handler() -> Handler {
    match (world(), PROCESS.get()) {
        (Phase::Active, Some(process)) => process.own.handler(),
        _ => Handler::Fatal,
    }
}

impl Process {
    fn start() -> Result<Process> {
        let failed = |error: String| Error::new(Class::Other, error);
        let bootstrap = Arc::new(weft_bootstrap::connect().map_err(of_launcher)?);
        let job = bootstrap.job();
        let elsewhere = (0..job.size).find(|rank| job.local_ranks.binary_search(rank).is_err());
        if let Some(rank) = elsewhere {
            return Err(failed(format!(
                "rank {rank} runs on another host; this version connects the processes of one host only"
            )));
        }
        let fabric = Shm::new(
            job.rank,
            job.size,
            weft_engine::LANES,
            Arc::new(Cards(bootstrap.clone())),
        )
        .map_err(|error| failed(format!("shared memory: {error}")))?;
        if job.size > 1 {
            let publish = bootstrap
                .publish(&fabric.card())
                .and_then(|()| bootstrap.fence());
            publish.map_err(of_launcher)?;
        }
        let cores = cores();
        let host_cores = job.host_cores.unwrap_or(cores).max(1);
        let oversubscribed = job.local_size > host_cores;
        let pace = if oversubscribed {
            Pace::SHARED
        } else {
            Pace::ALONE
        };
        let threads = if oversubscribed { 0 } else { cores };
        let (rank, size) = (job.rank, job.size);
        let members = Arc::new(Members::default());
        members.bind(0, Group::first(size));
        members.bind(1, Group::listed(vec![rank]));
        Ok(Process {
            engine: Engine::new(
                fabric,
                rank,
                size,
                crate::tool::control::pace(pace),
                threads,
            )
            .with_members(members.clone()),
            comms: Table::new(kind::COMM),
            groups: Table::new(kind::GROUP),
            types: Table::new(kind::DATATYPE),
            ops: Table::new(kind::OP),
            windows: Table::new(kind::WINDOW),
            compounds: Table::new(kind::COMPOUND),
            lingering: Mutex::default(),
            contexts: Contexts::new(),
            members,
            partition_tags: Tags::default(),
            buffers: Mutex::default(),
            arenas: ArenaCounts::default(),
            world: Arc::new(Comm::new(0, rank, Group::first(size), c"MPI_COMM_WORLD")),
            own: Arc::new(Comm::new(1, 0, Group::listed(vec![rank]), c"MPI_COMM_SELF")),
            everyone: Comm::new(crate::context::EVERYONE, rank, Group::first(size), c""),
            oversubscribed,
            main_thread: std::thread::current().id(),
            pid: std::process::id(),
            busy_line: format!("weft: rank {rank}: not waiting in an MPI call\n"),
            bootstrap,
        })
    }

    /// Rank in `MPI_COMM_WORLD`.
    pub fn rank(&self) -> Peer {
        self.bootstrap.job().rank
    }

    pub(crate) fn job(&self) -> &weft_bootstrap::Job {
        self.bootstrap.job()
    }

    /// Whether this is the process that joined the job, and not a child of it.
    pub(crate) fn is_this(&self) -> bool {
        self.pid == std::process::id()
    }

    pub(crate) fn rejoin(&self) -> Result<()> {
        self.bootstrap.rejoin().map_err(of_launcher)
    }

    /// Leaves the job, `together` with all others or alone.
    pub(crate) fn leave(&self, together: bool) -> Result<()> {
        let fenced = match together {
            true => self.bootstrap.fence(),
            false => Ok(()),
        };
        let left = fenced.and_then(|()| self.bootstrap.finalize());
        left.map_err(of_launcher)
    }

    /// More processes than cores on this host: the same on all of them.
    pub(crate) fn oversubscribed(&self) -> bool {
        self.oversubscribed
    }
}

fn of_launcher(error: weft_bootstrap::Error) -> Error {
    Error::new(Class::Other, error.to_string())
}

/// `MPI_Is_thread_main`.
pub fn is_main_thread() -> bool {
    std::thread::current().id() == process().main_thread
}

/// Cores this process may run on.
fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// The signal by which the launcher asks what this process waits for.
const REPORT_SIGNAL: i32 = libc::SIGUSR2;

extern "C" fn on_report_signal(_: i32) {
    if let Some(process) = PROCESS.get() {
        // Loads, stores, a futex call and a write: all are safe in a signal handler.
        if process.engine.waiters() == 0 {
            let line = &process.busy_line;
            // SAFETY: the bytes are valid; that nobody may read them is no concern of ours.
            unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
        }
        process.engine.ask_report();
    }
}

/// Installs the report handler unless the program has one of its own.
fn install_report_signal() {
    // SAFETY: sigaction with valid structures; the handler does only what is allowed in one.
    unsafe {
        let mut current: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(REPORT_SIGNAL, std::ptr::null(), &mut current) != 0
            || current.sa_sigaction != libc::SIG_DFL
        {
            return;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_report_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(REPORT_SIGNAL, &action, std::ptr::null_mut());
    }
}

//! What is known of a job that runs. The steps of its life are methods in the files beside this one.

use super::ending::Ending;
use super::input::SharedInput;
use super::output::Output;
use super::rank::Rank;
use super::upward::Upward;
use weft_kernel::Poller;

use crate::assignment::Orders;
use crate::plan::Plan;
use crate::pmi::Server;
use crate::sys::{ProcessTable, SignalReader, Spawner};
use std::time::{Duration, Instant};

pub struct Supervisor<'a> {
    pub orders: &'a Orders,
    pub plan: &'a Plan,
    /// After how long the job is ended.
    pub timeout: Option<Duration>,
    pub epoll: Poller,
    pub signals: SignalReader,
    pub spawner: Spawner,
    pub server: Server,
    pub ranks: Vec<Rank>,
    pub output: Output,
    pub input: Option<SharedInput>,
    pub ending: Ending,
    /// When `--timeout` expires.
    pub deadline: Option<Instant>,
    /// Until when the reader of output that is left has time to take some of it.
    pub reader_until: Option<Instant>,
    /// Ranks whose MPI program has gone while the rank itself lives, and until when that may last.
    pub losses: Vec<(u32, Instant)>,
    pub abort: Option<Abort>,
    /// For debuggers; an agent's is empty.
    pub table: ProcessTable,
    /// A debugger has been told of all ranks, or mpiexec of this host's.
    pub has_told_spawned: bool,
    /// Of an agent: the way to mpiexec.
    pub upward: Option<Upward>,
}

/// A rank's MPI_Abort that is not yet acted upon.
pub struct Abort {
    pub rank: u32,
    pub code: i32,
    /// By the clock of the ranks: of several the first decides, the others are its consequence.
    pub time: u64,
    /// When to look again.
    pub look: Instant,
    /// When to wait no longer.
    pub until: Instant,
}

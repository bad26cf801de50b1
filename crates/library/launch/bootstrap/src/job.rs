//! The place of a process in its job, as its launcher tells it.

use crate::hosts::Hosts;

/// The launcher that started this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// A PMI-1 server: our mpiexec, Hydra, Slurm's pmi2 plugin.
    Pmi1,
    /// A PMIx server: PRRTE, Open MPI's mpiexec, Slurm's pmix plugin.
    Pmix,
    /// Nothing: one process on its own.
    Single,
}

/// The place of this process in its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Unique among the jobs of this launcher: PMI's key-value space, PMIx's namespace.
    pub id: String,
    pub rank: u32,
    pub size: u32,
    /// Position of this rank among [`Job::local_ranks`].
    pub local_rank: u32,
    /// Number of ranks on this host, this one included.
    pub local_size: u32,
    /// The ranks on this host in ascending order, this one included.
    pub local_ranks: Vec<u32>,
    /// Which application of an MPMD start this is (`MPI_APPNUM`); negative when the launcher does not say.
    pub app_num: i32,
    /// `MPI_UNIVERSE_SIZE`, when the launcher says.
    pub universe_size: Option<u32>,
    /// CPUs (hardware threads) that the ranks of this host share in all, when the launcher says (our mpiexec does); else the
    /// ranks agree on it ([`Bootstrap::agree`](crate::Bootstrap::agree)).
    pub host_cores: Option<u32>,
    pub launcher: Launcher,
    /// Which host each rank runs on.
    pub hosts: Hosts,
}

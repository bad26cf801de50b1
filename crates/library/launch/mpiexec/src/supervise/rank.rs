//! One rank's processes.

use super::connection::Connection;
use crate::sys::{self, Ended, Pid};
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

pub struct Rank {
    /// In `MPI_COMM_WORLD`.
    pub number: u32,
    pub pid: Pid,
    /// Leads a process group of its own; else it is in mpiexec's, with the terminal.
    pub own_group: bool,
    pub ended: Option<Ended>,
    pub connection: Option<Connection>,
    /// The process that speaks PMI: the rank itself, or what its wrapper has started.
    pub client: Option<Client>,
    /// Its MPI_Abort has been heard, so its exit code says nothing more.
    pub has_aborted: bool,
}

pub struct Client {
    pub pid: Pid,
    /// Readable when it has ended; only for one that is not a child of mpiexec.
    pub pidfd: Option<OwnedFd>,
}

impl Rank {
    pub fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// Its MPI program, or the rank itself, has begun to end.
    pub fn is_ending(&self) -> bool {
        let client = self.client.as_ref().map(|client| client.pid);
        sys::is_ending(self.pid) || client.is_some_and(sys::is_ending)
    }

    /// Signals its whole process group. Not once it has ended: its number may be another's by then.
    pub fn signal(&self, signal: i32) {
        match (self.is_running(), self.own_group) {
            (true, true) => sys::kill_group(self.pid, signal),
            (true, false) => sys::kill(self.pid, signal),
            (false, _) => {}
        }
    }

    /// For messages: `rank 3 (pid 1234 on node7)`.
    pub fn show(&self) -> String {
        format!("rank {} (pid {} on {})", self.number, self.pid, host())
    }
}

/// This host's name, from the kernel and not from the network.
pub fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        name.trim().to_owned()
    })
}

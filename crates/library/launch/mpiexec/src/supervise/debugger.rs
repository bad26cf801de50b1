//! What a parallel debugger is told of this host's ranks.

use super::rank::{Rank, host};
use super::supervisor::Supervisor;
use crate::agent::{Described, Up};
use crate::sys::{self, Process};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

impl Supervisor<'_> {
    /// Every rank of this host has been started.
    pub(super) fn tell_processes(&mut self) {
        let described: Vec<Described> =
            (0..self.ranks.len()).map(|at| self.described(at)).collect();
        if self.upward.is_some() {
            return self.send_up(&Up::Processes(described));
        }
        for (rank, pid, program) in described {
            self.put_process(rank, pid, program);
        }
    }

    /// A rank has called MPI_Init, in a process that its wrapper may have started. Once all have, none gets further until
    /// a debugger lets mpiexec go on.
    pub(super) fn tell_process(&mut self, at: usize) {
        if self.upward.is_none() {
            let (rank, pid, program) = self.described(at);
            self.put_process(rank, pid, program);
        }
        let has_called = |rank: &Rank| rank.client.is_some();
        if self.has_told_spawned || !self.ranks.iter().all(has_called) {
            return;
        }
        self.has_told_spawned = true;
        match self.upward {
            // Before the fence of these ranks, on the same way.
            Some(_) => self.tell_processes(),
            None => sys::tell_spawned(),
        }
    }

    fn described(&self, at: usize) -> Described {
        let rank = &self.ranks[at];
        let client = rank.client.as_ref().map(|client| client.pid);
        let run = client.and_then(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).ok());
        let given = || {
            let application = self.plan.ranks[at].application;
            let program = self.plan.applications[application].program.to_bytes();
            OsStr::from_bytes(program).to_owned()
        };
        let program = run.map_or_else(given, |path| path.into_os_string());
        (rank.number, client.unwrap_or(rank.pid), program)
    }

    fn put_process(&mut self, rank: u32, pid: i32, program: OsString) {
        let host = host().to_owned();
        self.table.set(rank, Process { host, program, pid });
    }
}

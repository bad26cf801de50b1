//! Starting the ranks.

use super::connection::Connection;
use super::ending::Ending;
use super::input::SharedInput;
use super::output::Output;
use super::rank::Rank;
use super::signals;
use super::supervisor::Supervisor;
use weft_kernel::{Interest, Poller};

use crate::arguments::Stdin;
use crate::assignment::Orders;
use crate::environment::{self, RankPlace};
use crate::plan::{Application, Plan};
use crate::pmi::{self, Server};
use crate::source::Source;
use crate::sys::{self, Launch, ProcessTable, SignalReader, Spawner, StartFailure, StartStep};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// Descriptors that mpiexec has open besides those of ranks.
const OWN_DESCRIPTORS: u64 = 64;
/// PMI connection, process descriptor, input, output and error when passed through mpiexec, and the files that these go to.
const DESCRIPTORS_PER_RANK: u64 = 7;

/// What exists before anything is known of the job.
pub(super) struct Base {
    pub epoll: Poller,
    /// Already waited for by `epoll`.
    pub signals: SignalReader,
}

impl Base {
    pub fn new() -> io::Result<Base> {
        let signals = SignalReader::new(&signals::READ)?;
        let epoll = Poller::new()?;
        epoll.add(&signals, Source::Signals.token(), Interest::Reading)?;
        Ok(Base { epoll, signals })
    }
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(
        orders: &'a Orders,
        plan: &'a Plan,
        base: Base,
        output: Output,
        timeout: Option<Duration>,
    ) -> Result<Supervisor<'a>, String> {
        let failed = |error: io::Error| format!("cannot set up: {error}");
        let descriptors = OWN_DESCRIPTORS + DESCRIPTORS_PER_RANK * u64::from(plan.local_size());
        let descriptor_limit = sys::with_more_descriptors(descriptors).map_err(failed)?;
        sys::adopt_orphans().map_err(failed)?;
        let is_agent = matches!(output, Output::Forwarded(_));
        let copies_input = is_agent || orders.options.stdin == Stdin::All;
        Ok(Supervisor {
            orders,
            plan,
            timeout,
            epoll: base.epoll,
            signals: base.signals,
            spawner: Spawner::new(descriptor_limit).map_err(failed)?,
            server: Server::new(told(orders), plan.ranks.iter().map(|rank| rank.application)),
            ranks: Vec::with_capacity(plan.ranks.len()),
            output,
            input: copies_input.then(SharedInput::new),
            ending: Ending::new(),
            deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            reader_until: None,
            losses: Vec::new(),
            abort: None,
            table: ProcessTable::new(if is_agent { 0 } else { orders.size }),
            has_told_spawned: false,
            upward: None,
        })
    }

    /// Starts every rank; on failure, those before it run.
    pub(super) fn start_ranks(&mut self) -> Result<(), String> {
        let nowhere = File::open("/dev/null")
            .map_err(|error| format!("/dev/null: {}", sys::explained(error)))?;
        // A background process group cannot read the terminal, so the rank that reads it stays in mpiexec's.
        let terminal = io::stdin().is_terminal();
        for index in 0..self.plan.local_size() {
            let number = self.plan.ranks[index as usize].number;
            let reads_stdin = self.orders.options.stdin == Stdin::Rank(number);
            let rank = self.start_rank(index, reads_stdin, !(reads_stdin && terminal), &nowhere);
            let rank = rank.map_err(|error| {
                let (size, error) = (self.orders.size, sys::explained(error));
                format!("cannot start rank {number} of {size}: {error}")
            })?;
            self.verbose(&format!("rank {number} is process {}", rank.pid));
            self.ranks.push(rank);
        }
        self.tell_processes();
        match &mut self.input {
            Some(input) if self.upward.is_none() => input
                .begin(&self.epoll)
                .map_err(|error| format!("standard input: {error}")),
            _ => Ok(()),
        }
    }

    fn start_rank(
        &mut self,
        index: u32,
        reads_stdin: bool,
        own_group: bool,
        nowhere: &File,
    ) -> io::Result<Rank> {
        let plan = &self.plan.ranks[index as usize];
        let application = &self.plan.applications[plan.application];
        let (server_side, rank_side) = sys::socket_pair()?;
        let own_environment = environment::of_rank(
            &RankPlace {
                rank: plan.number,
                size: self.orders.size,
                local_rank: index,
                local_size: self.plan.local_size(),
            },
            rank_side.as_raw_fd(),
        );
        let input: Option<OwnedFd> = match &mut self.input {
            Some(shared) if reads_stdin || self.orders.options.stdin == Stdin::All => {
                Some(shared.open_rank(index)?)
            }
            _ => None,
        };
        let [output, error] = self.output.open_rank(plan.number, &self.epoll)?;
        let raw = |fd: &Option<OwnedFd>| fd.as_ref().map(|fd| fd.as_raw_fd());
        let stdin: Option<RawFd> = raw(&input).or((!reads_stdin).then_some(nowhere.as_raw_fd()));
        let stderr = match self.orders.options.merge_output {
            true => raw(&output).or(Some(libc::STDOUT_FILENO)),
            false => raw(&error),
        };
        let pid = self.spawner.spawn(&Launch {
            program: &application.program,
            arguments: &application.arguments,
            environment: application
                .environment
                .iter()
                .chain(&own_environment)
                .collect::<Vec<&CString>>(),
            directory: application.directory.as_ref(),
            streams: [stdin, raw(&output), stderr],
            socket: rank_side.as_raw_fd(),
            own_group,
            cpus: plan.cpus.bound(),
        })?;
        let connection = Connection::new(server_side, index, &self.epoll)?;
        Ok(Rank {
            number: plan.number,
            pid,
            own_group,
            ended: None,
            connection: Some(connection),
            client: None,
            has_aborted: false,
        })
    }
}

fn told(orders: &Orders) -> pmi::Job {
    pmi::Job {
        name: orders.job.clone(),
        size: orders.size,
        mapping: orders.mapping.clone(),
    }
}

/// One line for a rank that could not run its program.
pub(super) fn explain(failure: &StartFailure, number: u32, application: &Application) -> String {
    let program = application.program.to_string_lossy();
    let error = &failure.error;
    match failure.step {
        StartStep::Prepare => format!("rank {number} cannot be set up: {error}"),
        StartStep::Directory => {
            let directory = application
                .directory
                .as_ref()
                .map(|directory| directory.to_string_lossy());
            format!(
                "rank {number} cannot enter {}: {error}",
                directory.unwrap_or_default()
            )
        }
        StartStep::Execute if error.kind() == io::ErrorKind::NotFound => {
            format!(
                "rank {number} cannot run {program}: its interpreter (after `#!`, or the dynamic loader) is missing"
            )
        }
        StartStep::Execute => format!("rank {number} cannot run {program}: {error}"),
    }
}

//! A job on several hosts, as mpiexec sees it: agents that do what they are told, and tell what happens.
//!
//! Its life is that of a job on one host (`supervise`): it runs, perhaps reports, terminates, is killed. Here the phases
//! are orders to all agents. Beyond that:
//! - A rank's exit code or MPI_Abort may be the consequence of a rank's death on another host: it waits for a moment for
//!   news of such a cause.
//! - A host that is lost ends the job at once.
//! - Agents that do not end when all ranks are killed are waited for no longer than [`GIVE_UP_TIME`].

mod ending;
mod input;
mod output;
mod signals;
mod store;
mod talk;

use weft_kernel::{Interest, Poller};

use crate::agent::{AgentCommand, Children, Down, Failure, Part, Settings};
use crate::arguments::{Job, Stdin};
use crate::assignment::Orders;
use crate::environment::JOB_VARIABLE;
use crate::layout::Layout;
use crate::message::say;
use crate::source::Source;
use crate::supervise::{Ending, GRACE_TIME, Own, SIGNALS_READ, UNREAD};
use crate::sys::{self, ProcessTable, SignalReader, Watchdog};
use input::Input;
use output::Output;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};
pub use store::Store;

/// For news of a death that another failure may be the consequence of, and that one is which says that it has lost a rank.
const CAUSE_TIME: Duration = Duration::from_millis(100);
const LOST_PEER_TIME: Duration = Duration::from_secs(1);
/// For agents to say that their ranks have ended, once those have been killed.
const GIVE_UP_TIME: Duration = Duration::from_secs(5);
/// For agents to end, once the job is over.
const FAREWELL_TIME: Duration = Duration::from_secs(4);
/// For what agents on this machine leave behind when they are killed.
const ORPHANS_TIME: Duration = Duration::from_secs(1);
/// In place of --host-timeout under a debugger, which may stop mpiexec for long: a year.
const DEBUGGER_TIME: Duration = Duration::from_secs(365 * 24 * 3600);
/// Descriptors that mpiexec has open besides those of agents and of ranks' files.
const OWN_DESCRIPTORS: u64 = 256;

pub struct Head<'a> {
    layout: &'a Layout,
    verbose: bool,
    /// The job goes on after ranks have died, or whole hosts.
    recovery: bool,
    timeout: Option<Duration>,
    epoll: Poller,
    signals: SignalReader,
    children: Children,
    hosts: Vec<Host>,
    store: Store,
    output: Output,
    input: Input,
    ending: Ending,
    deadline: Option<Instant>,
    /// A failure that may have a cause elsewhere, and until when to wait for that.
    failure: Option<(Failure, Instant)>,
    /// When agents are waited for no longer.
    give_up_at: Option<Instant>,
    /// Until when the reader of output that is left has time to take some of it.
    reader_until: Option<Instant>,
    /// Hosts that have not yet said whether any of their ranks reports.
    silent_reports: usize,
    any_reports: bool,
    has_told_gone: bool,
    /// For debuggers.
    table: ProcessTable,
    has_told_spawned: bool,
}

#[derive(Clone, Default)]
struct Host {
    has_started: bool,
    /// Its ranks have ended, or it is lost.
    is_done: bool,
}

/// Runs the job to its end and answers mpiexec's exit code, or why mpiexec itself has failed.
pub fn run(job: &Job, layout: &Layout, orders: &Orders, own: &Own) -> Result<u8, String> {
    let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let signals = SignalReader::new(&SIGNALS_READ).map_err(failed("cannot set up"))?;
    let files = own
        .output_directory
        .map_or(0, |_| 2 * u64::from(orders.size));
    sys::with_more_descriptors(OWN_DESCRIPTORS + files).map_err(failed("cannot set up"))?;
    sys::adopt_orphans().map_err(failed("cannot set up"))?;
    let watchdog =
        Watchdog::start(JOB_VARIABLE, &orders.job, None).map_err(failed("cannot fork"))?;
    let way = way(job, layout).map_err(failed("mpiexec's own path cannot be found"))?;
    let settings = Settings {
        orders,
        way: &way,
        launch_timeout: job.hosts.launch_timeout,
        host_timeout: match sys::is_debugged() {
            true => DEBUGGER_TIME,
            false => job.hosts.host_timeout,
        },
    };
    let mut head = Head::new(&settings, layout, own, signals)?;
    head.start(&settings)?;
    head.wait_for_hosts()
        .map_err(failed("waiting for the hosts failed"))?;
    head.take_leave()
        .map_err(failed("waiting for the agents failed"))?;
    watchdog.dismiss();
    sys::wait_for_orphans(ORPHANS_TIME);
    Ok(head.ending.exit_code())
}

/// How agents are started, from the command line and from variables that MPICH's users know.
fn way(job: &Job, layout: &Layout) -> io::Result<AgentCommand> {
    let extra = std::env::var_os("HYDRA_LAUNCH_EXTRA_ARGS").unwrap_or_default();
    let words = extra.as_bytes().split(u8::is_ascii_whitespace);
    let words = words.filter(|word| !word.is_empty());
    let program = job.hosts.launcher_program.clone();
    Ok(AgentCommand {
        launcher: layout.launcher,
        program: program.or_else(|| std::env::var_os("HYDRA_LAUNCHER_EXEC")),
        extra: words
            .map(|word| OsStr::from_bytes(word).to_owned())
            .collect(),
        mpiexec: std::env::current_exe()?.into_os_string(),
    })
}

impl<'a> Head<'a> {
    fn new(
        settings: &Settings<'a>,
        layout: &'a Layout,
        own: &Own,
        signals: SignalReader,
    ) -> Result<Head<'a>, String> {
        let failed = |error: io::Error| format!("cannot set up: {error}");
        let epoll = Poller::new().map_err(failed)?;
        epoll
            .add(&signals, Source::Signals.token(), Interest::Reading)
            .map_err(failed)?;
        let count = layout.hosts.len();
        let readers = match settings.orders.options.stdin {
            Stdin::Rank(rank) => vec![layout.host_of[rank as usize]],
            Stdin::All => (0..count as u32).collect(),
            Stdin::None => Vec::new(),
        };
        Ok(Head {
            layout,
            verbose: settings.orders.options.verbose,
            recovery: settings.orders.options.recovery,
            timeout: own.timeout,
            epoll,
            signals,
            children: Children::new(settings),
            hosts: vec![Host::default(); count],
            store: Store::new(count),
            output: Output::new(count, settings.orders.size, own)?,
            input: Input::new(readers),
            ending: Ending::new(),
            deadline: own
                .timeout
                .and_then(|timeout| Instant::now().checked_add(timeout)),
            failure: None,
            give_up_at: None,
            reader_until: None,
            silent_reports: 0,
            any_reports: false,
            has_told_gone: false,
            table: ProcessTable::new(settings.orders.size),
            has_told_spawned: false,
        })
    }

    /// Starts agents, here by a fork.
    fn start(&mut self, settings: &Settings) -> Result<(), String> {
        let places = self.layout.hosts.iter().zip(self.layout.runs_of());
        let parts = (0..).zip(places).map(|(host, (place, runs))| {
            let name = place.name.clone();
            (place.is_here, Part { host, name, runs })
        });
        let (here, elsewhere): (Vec<_>, Vec<_>) = parts.partition(|(is_here, _)| *is_here);
        let elsewhere: Vec<Part> = elsewhere.into_iter().map(|(_, part)| part).collect();
        // Those that take longest first.
        self.children.start_all(settings, &elsewhere, &self.epoll)?;
        for (_, part) in here {
            self.children.start(settings, &[part], true, &self.epoll)?;
        }
        let chunk = self.input.wait(&self.epoll);
        self.send_input(chunk.map_err(|error| format!("standard input: {error}"))?);
        Ok(())
    }

    fn wait_for_hosts(&mut self) -> io::Result<()> {
        while !self.hosts.iter().all(|host| host.is_done) {
            self.turn()?;
            self.check_deadlines();
        }
        self.act_on_failure();
        Ok(())
    }

    /// Ends the agents, and writes what is still to be written.
    fn take_leave(&mut self) -> io::Result<()> {
        self.children.dismiss(&self.epoll);
        self.input.end();
        self.ending.forget_request();
        let until = Instant::now() + FAREWELL_TIME;
        while !self.children.are_gone() || !self.output.is_finished() {
            let now = Instant::now();
            if !self.children.are_gone() && until <= now {
                self.children.kill_launchers();
            }
            let reader_until = self.output.reader_until(GRACE_TIME);
            self.reader_until = reader_until.filter(|_| self.ending.is_pressed());
            if self.reader_until.is_some_and(|until| until <= now) {
                say(UNREAD);
                break;
            }
            if self.ending.asked().is_some() {
                break;
            }
            self.turn()?;
            self.check_deadlines();
        }
        self.children.kill_launchers();
        self.output.close();
        self.fail_by_output();
        Ok(())
    }

    /// Waits for events and handles them.
    fn turn(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let wait = self
            .next_deadline()
            .map(|deadline| deadline.saturating_duration_since(now));
        let ready = self.epoll.ready_within(wait);
        let mut events = Vec::new();
        for source in ready.into_iter().filter_map(Source::of_token) {
            match source {
                Source::Signals => self.take_signals(),
                Source::Stdin => {
                    let chunk = self.input.read(&self.epoll)?;
                    self.send_input(Some(chunk));
                }
                Source::Sink(index) => {
                    for (host, bytes) in self.output.write(index, &self.epoll)? {
                        self.children.send(host, &Down::Credit(bytes), &self.epoll);
                    }
                }
                child => self.children.serve(child, &mut events, &self.epoll),
            }
            for event in events.drain(..) {
                self.take(event)?;
            }
        }
        self.fail_by_output();
        Ok(())
    }

    fn fail_by_output(&mut self) {
        if let Some(refusal) = self.output.refusal().cloned() {
            self.fail(refusal.code, &refusal.text);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let cause = self.failure.iter().map(|(_, until)| *until);
        let own = self
            .ending
            .until()
            .into_iter()
            .chain(self.deadline)
            .chain(self.give_up_at)
            .chain(self.reader_until);
        cause.chain(own).chain(self.children.next_deadline()).min()
    }

    fn check_deadlines(&mut self) {
        let now = Instant::now();
        let mut events = Vec::new();
        self.children.look(&mut events, &self.epoll);
        for event in events {
            // Losses, which nothing is written because of.
            let _ = self.take(event);
        }
        if self
            .failure
            .as_ref()
            .is_some_and(|(_, until)| *until <= now)
        {
            self.act_on_failure();
        }
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.time_out();
        }
        if let Some(phase) = self.ending.next_phase(now) {
            if let Some(problem) = self.ending.unheeded(phase) {
                say(&problem);
            }
            self.enter(phase);
        }
        if self.give_up_at.is_some_and(|at| at <= now) {
            self.give_up();
        }
    }
}

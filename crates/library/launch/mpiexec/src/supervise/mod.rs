//! A job from the first fork to the last exit status.
//!
//! One thread waits at one epoll for everything: signals (a child's end among them), the ranks' PMI connections, their
//! output where it is prefixed, standard input where it is shared. Nothing is looked at by the clock: an idle job costs
//! nothing.
//!
//! How a job ends:
//! 1. It *runs* until every rank has ended, or one fails: dies by a signal, exits with a code other than 0, exits between
//!    MPI_Init and MPI_Finalize, calls MPI_Abort, or leaves others waiting for it. A failing exit code after MPI_Finalize
//!    is only remembered: the others need nothing more of that rank.
//! 2. After a timeout it *reports*: ranks that can are asked to print what they wait for.
//! 3. Then it *terminates*: SIGTERM to each rank's process group, and time to clean up.
//! 4. Then it is *killed*.
//!
//! A signal that asks for the end goes on to every rank, which may end as it likes and decides the exit code by that; after
//! the time to clean up the job is killed, whatever its phase.
//!
//! The first failure decides the exit code, whatever comes after. An MPI_Abort that comes while another rank is ending may
//! be that end's consequence: it waits until the other's end is known (*abort* below).

mod connection;
mod debugger;
mod ending;
mod failure;
mod files;
mod input;
mod leftovers;
mod orders;
mod outlet;
mod output;
mod own;
mod rank;
mod reap;
mod serve;
mod signals;
mod sink;
mod start;
mod stream;
mod supervisor;
mod talk;
mod upward;

use crate::assignment::Orders;
use crate::message::say;
use crate::plan::Plan;
use crate::source::Source;
use crate::sys::Watchdog;
pub use ending::{Ending, GRACE_TIME, Phase};
pub use outlet::Outlet;
pub use own::Own;
pub use serve::serve;
pub use signals::READ as SIGNALS_READ;
pub use sink::Refusal;
pub use talk::fence;

use leftovers::end_leftovers;
use output::Output;
use rank::Rank;
use start::Base;
use std::io;
use std::time::{Duration, Instant};
use supervisor::Supervisor;

/// For ranks to print what they wait for.
pub const REPORT_TIME: Duration = Duration::from_secs(2);

pub const TIMEOUT_EXIT_CODE: u8 = 124;

/// What is said where the end does not wait for a reader.
pub const UNREAD: &str = "mpiexec: nobody reads the rest of the ranks' output, which is lost";

/// Runs the job to its end and answers mpiexec's exit code, or why mpiexec itself has failed.
pub fn run(orders: &Orders, plan: &Plan, own: &Own) -> Result<u8, String> {
    let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let watchdog = Watchdog::start(crate::environment::JOB_VARIABLE, &orders.job, None)
        .map_err(failed("cannot fork"))?;
    let result = supervise(orders, plan, own);
    watchdog.dismiss();
    end_leftovers(None);
    let (mut supervisor, started) = result?;
    supervisor
        .finish_output()
        .map_err(failed("waiting for output failed"))?;
    started?;
    Ok(supervisor.ending.exit_code())
}

/// Up to the end of every rank, also when not all could be started.
fn supervise<'a>(
    orders: &'a Orders,
    plan: &'a Plan,
    own: &Own,
) -> Result<(Supervisor<'a>, Result<(), String>), String> {
    let base = Base::new().map_err(|error| format!("cannot set up: {error}"))?;
    let output = Output::new(orders.options.prefix_output, own)?;
    let mut supervisor = Supervisor::new(orders, plan, base, output, own.timeout)?;
    let started = supervisor.start_ranks();
    if started.is_err() {
        supervisor.enter(Phase::Killed);
    }
    supervisor
        .wait_for_ranks()
        .map_err(|error| format!("waiting for the ranks failed: {error}"))?;
    Ok((supervisor, started))
}

impl Supervisor<'_> {
    fn wait_for_ranks(&mut self) -> io::Result<()> {
        while self.ranks.iter().any(Rank::is_running) {
            self.turn()?;
            self.check_deadlines();
        }
        self.look_at_abort();
        Ok(())
    }

    /// Passes on what ranks have printed; every process of the job has ended, so each stream comes to its end. Where somebody
    /// wants the end, the reader has to take something now and then; a further signal cuts it short.
    fn finish_output(&mut self) -> io::Result<()> {
        self.ending.forget_request();
        while !self.output.is_finished() && self.ending.asked().is_none() {
            let now = Instant::now();
            if self.deadline.is_some_and(|deadline| deadline <= now) {
                self.time_out();
            }
            let until = self.output.reader_until(GRACE_TIME);
            self.reader_until = until.filter(|_| self.ending.is_pressed());
            if self.reader_until.is_some_and(|until| until <= now) {
                say(UNREAD);
                break;
            }
            self.turn()?;
        }
        self.output.close();
        self.fail_by_output();
        Ok(())
    }

    fn fail_by_output(&mut self) {
        if let Some(refusal) = self.output.refusal().cloned() {
            self.fail(refusal.code, &refusal.text);
        }
    }

    /// Waits for events and handles them.
    fn turn(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let wait = self
            .next_deadline()
            .map(|deadline| deadline.saturating_duration_since(now));
        let ready = self.epoll.ready_within(wait);
        for source in ready.into_iter().filter_map(Source::of_token) {
            match source {
                Source::Signals => self.take_signals(),
                Source::Connection(rank) => self.serve(rank),
                Source::Client(rank) => self.client_ended(rank),
                Source::Stream(index) => self.output.read(index, &self.epoll)?,
                Source::Sink(index) => self.output.write(index, &self.epoll)?,
                Source::Stdin => self
                    .input
                    .iter_mut()
                    .try_for_each(|input| input.read(&self.epoll))?,
                Source::RankInput(rank) => self.write_input(rank)?,
                Source::Parent => self.read_parent()?,
                Source::ToParent => {
                    let link = self.upward.as_mut().and_then(|upward| upward.link.as_mut());
                    link.into_iter().for_each(|link| link.write(&self.epoll));
                }
                Source::Child(_) | Source::ToChild(_) | Source::ChildWords(_) => {
                    self.serve_child(source)
                }
            }
        }
        self.send_output();
        self.fail_by_output();
        Ok(())
    }

    fn write_input(&mut self, rank: u32) -> io::Result<()> {
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        if self.upward.is_none() {
            return input.write_and_read(rank, &self.epoll);
        }
        input.write(rank, &self.epoll)?;
        self.tell_input_taken();
        Ok(())
    }

    fn serve_child(&mut self, source: Source) {
        let mut events = Vec::new();
        if let Some(upward) = &mut self.upward {
            upward.children.serve(source, &mut events, &self.epoll);
        }
        self.take_from_below(events);
    }

    fn next_deadline(&self) -> Option<Instant> {
        let above = self
            .upward
            .iter()
            .filter_map(|upward| upward.next_deadline());
        let losses = self.losses.iter().map(|(_, until)| *until);
        let abort = self.abort.iter().map(|abort| abort.look);
        let ours = [self.ending.until(), self.deadline, self.reader_until];
        let ours = ours.into_iter().flatten();
        losses.chain(abort).chain(ours).chain(above).min()
    }

    fn check_deadlines(&mut self) {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.time_out();
        }
        while let Some(at) = self.losses.iter().position(|(_, until)| *until <= now) {
            let (rank, _) = self.losses.swap_remove(at);
            self.lost(rank);
        }
        if self.abort.as_ref().is_some_and(|abort| abort.look <= now) {
            self.look_at_abort();
        }
        self.look_upward();
        if let Some(phase) = self.ending.next_phase(now) {
            if let Some(problem) = self.ending.unheeded(phase) {
                say(&problem);
            }
            self.enter(phase);
        }
    }

    fn look_upward(&mut self) {
        let Some(upward) = &mut self.upward else {
            return;
        };
        let mut events = Vec::new();
        upward.children.look(&mut events, &self.epoll);
        let is_silent = upward.look(&self.epoll);
        self.take_from_below(events);
        if is_silent {
            // What is still to be written is mpiexec's, who is gone: nothing of it can fail.
            let _ = self.lose_parent();
        }
    }

    fn time_out(&mut self) {
        self.deadline = None;
        self.ending.press();
        if self.ending.phase() != Phase::Running {
            return;
        }
        let limit = self.timeout.unwrap_or_default().as_secs_f64();
        let what = match self.ranks.iter().any(Rank::is_running) {
            true => "every rank is asked what it waits for",
            false => "the ranks have, and their output is still to be read",
        };
        say(&format!(
            "mpiexec: the job has not ended within {limit} s; {what}"
        ));
        self.ending.record(TIMEOUT_EXIT_CODE);
        let time = if self.ask_for_reports() {
            REPORT_TIME
        } else {
            Duration::ZERO
        };
        self.enter(Phase::Reporting(Instant::now() + time));
    }

    fn enter(&mut self, phase: Phase) {
        self.ending.enter(phase);
        match phase {
            Phase::Running | Phase::Reporting(_) => {}
            Phase::Terminating(_) => {
                self.verbose("SIGTERM goes to every rank");
                // A stopped process acts on SIGTERM only when continued.
                self.signal_ranks(libc::SIGTERM);
                self.signal_ranks(libc::SIGCONT);
            }
            Phase::Killed => {
                self.verbose("SIGKILL goes to every rank");
                self.signal_ranks(libc::SIGKILL);
            }
        }
    }

    fn signal_ranks(&self, signal: i32) {
        self.ranks.iter().for_each(|rank| rank.signal(signal));
    }
}

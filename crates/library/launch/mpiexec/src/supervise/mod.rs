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
//! The first failure decides the exit code, whatever comes after. An MPI_Abort that comes while another rank is ending may
//! be that end's consequence: it waits until the other's end is known (*abort* below).

mod connection;
mod ending;
mod input;
mod output;
mod rank;
mod signals;
mod source;
mod start;
mod supervisor;
mod talk;

use crate::arguments::Job;
use crate::message::say;
use crate::plan::Plan;
use crate::pmi::Standing;
use crate::sys::{self, Ended, Reaped, Watchdog};
use ending::Phase;
use rank::Rank;
use source::Source;
use std::io;
use std::time::{Duration, Instant};
use supervisor::Supervisor;

/// For ranks to print what they wait for.
const REPORT_TIME: Duration = Duration::from_secs(2);
/// For ranks to clean up between SIGTERM and SIGKILL.
const GRACE_TIME: Duration = Duration::from_secs(2);
/// The longest that a rank's exit code waits for the end of another that is ending, and how long between two looks.
const CAUSE_TIME: Duration = Duration::from_millis(200);
const CAUSE_LOOK_TIME: Duration = Duration::from_micros(200);
/// For what ranks have left running, between SIGTERM and SIGKILL.
const LEFTOVER_TIME: Duration = Duration::from_millis(500);

pub const TIMEOUT_EXIT_CODE: u8 = 124;

/// Runs the job to its end and answers mpiexec's exit code, or why mpiexec itself has failed.
pub fn run(job: &Job, plan: &Plan) -> Result<u8, String> {
    let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let watchdog = Watchdog::start(crate::environment::JOB_VARIABLE, &plan.job)
        .map_err(failed("cannot fork"))?;
    let result = supervise(job, plan);
    watchdog.dismiss();
    end_leftovers();
    let (mut supervisor, started) = result?;
    supervisor
        .finish_output()
        .map_err(failed("waiting for output failed"))?;
    started?;
    Ok(supervisor.ending.exit_code())
}

/// Up to the end of every rank, also when not all could be started.
fn supervise<'a>(
    job: &'a Job,
    plan: &'a Plan,
) -> Result<(Supervisor<'a>, Result<(), String>), String> {
    let mut supervisor = Supervisor::new(job, plan)?;
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

    /// Passes on what ranks have printed; every process of the job has ended, so each stream comes to its end. A signal
    /// that asks for the end cuts it short: the reader may have stopped reading.
    fn finish_output(&mut self) -> io::Result<()> {
        self.asked_to_end = None;
        while !self.output.is_finished() && self.asked_to_end.is_none() {
            self.turn()?;
        }
        Ok(())
    }

    /// Waits for events and handles them.
    fn turn(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let wait = self
            .next_deadline()
            .map(|deadline| deadline.saturating_duration_since(now));
        let mut tokens = Vec::with_capacity(64);
        self.epoll.wait(&mut tokens, wait)?;
        for source in tokens.into_iter().filter_map(Source::of_token) {
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
                Source::RankInput(rank) => self
                    .input
                    .iter_mut()
                    .try_for_each(|input| input.write(rank, &self.epoll))?,
            }
        }
        if self.output.is_refused() {
            self.fail(
                128 + libc::SIGPIPE,
                "standard output is closed; the job is ended",
            );
        }
        Ok(())
    }

    fn next_deadline(&self) -> Option<Instant> {
        let losses = self.losses.iter().map(|(_, until)| *until);
        let abort = self.abort.iter().map(|abort| abort.look);
        let ours = self.ending.until().into_iter().chain(self.deadline);
        losses.chain(abort).chain(ours).min()
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
        if self.ending.until().is_some_and(|until| until <= now) {
            match self.ending.phase() {
                Phase::Reporting(_) => self.enter(Phase::Terminating(now + GRACE_TIME)),
                Phase::Terminating(_) => self.enter(Phase::Killed),
                Phase::Running | Phase::Killed => {}
            }
        }
    }

    fn time_out(&mut self) {
        self.deadline = None;
        if self.ending.phase() != Phase::Running {
            return;
        }
        let limit = self.job.timeout.unwrap_or_default().as_secs_f64();
        say(&format!(
            "mpiexec: the job has not ended within {limit} s; every rank is asked what it waits for"
        ));
        self.ending.record(TIMEOUT_EXIT_CODE);
        let time = if self.ask_for_reports() {
            REPORT_TIME
        } else {
            Duration::ZERO
        };
        self.enter(Phase::Reporting(Instant::now() + time));
    }

    /// Ends the job because of a failure, unless it is ending already.
    fn fail(&mut self, exit_code: i32, problem: &str) {
        if self.ending.phase() != Phase::Running {
            return;
        }
        self.note_failure(exit_code, problem);
        self.enter(Phase::Terminating(Instant::now() + GRACE_TIME));
    }

    /// Remembers a failure that does not end the job.
    fn note_failure(&mut self, exit_code: i32, problem: &str) {
        say(&format!("mpiexec: {problem}"));
        self.ending.record(exit_code as u8);
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

    fn reap(&mut self) {
        let mut all = Vec::new();
        let until = Instant::now() + CAUSE_TIME;
        loop {
            while let Reaped::Child(pid, ended) = sys::reap() {
                all.push((pid, ended));
            }
            if !self.may_have_a_cause(&all) || Instant::now() > until {
                break;
            }
            std::thread::sleep(CAUSE_LOOK_TIME);
        }
        // The kernel answers in no order of time; who was killed did not fail because of another.
        all.sort_by_key(|(_, ended)| !matches!(ended, Ended::Signal(_)));
        for (pid, ended) in all {
            // Others are orphans of ranks.
            if let Some(rank) = self
                .ranks
                .iter()
                .position(|rank| rank.pid == pid && rank.is_running())
            {
                self.rank_ended(rank as u32, ended);
            }
        }
    }

    /// Whether the only failures among these ends are exit codes while another rank is just ending: that one may have been
    /// killed before, which they noticed, and is told first.
    fn may_have_a_cause(&self, all: &[(libc::pid_t, Ended)]) -> bool {
        let failed = |(_, ended): &(_, Ended)| matches!(ended, Ended::Code(code) if *code != 0);
        let signalled = |(_, ended): &(_, Ended)| matches!(ended, Ended::Signal(_));
        let reaped = |pid| all.iter().any(|(other, _)| *other == pid);
        self.ending.phase() == Phase::Running
            && all.iter().any(failed)
            && !all.iter().any(signalled)
            && self
                .ranks
                .iter()
                .any(|rank| rank.is_running() && !reaped(rank.pid) && rank.is_ending())
    }

    fn rank_ended(&mut self, number: u32, ended: Ended) {
        // Its last words may not have been read yet.
        self.serve(number);
        let rank = &mut self.ranks[number as usize];
        rank.ended = Some(ended);
        let (shown, has_aborted) = (rank.show(number), rank.has_aborted);
        self.verbose(&format!("{shown} has ended: {ended:?}"));
        self.losses.retain(|(other, _)| *other != number);
        match (ended, self.server.standing(number)) {
            (Ended::Code(code @ (126 | 127)), _) if self.report_start_failures(code) => {}
            (Ended::Signal(signal), _) => self.rank_killed(&shown, signal),
            // The first MPI_Abort of all decides; this may be its consequence.
            (Ended::Code(_), _) if has_aborted => {}
            (Ended::Code(0), Standing::Active) => {
                self.fail(
                    1,
                    &format!("{shown} exited without calling MPI_Finalize; the job is ended"),
                );
            }
            (Ended::Code(0), _) => self.check_barrier(),
            (Ended::Code(code), Standing::Finalized) => {
                if self.ending.phase() == Phase::Running {
                    self.note_failure(
                        code,
                        &format!("{shown} exited with code {code} after MPI_Finalize"),
                    );
                }
                self.check_barrier();
            }
            (Ended::Code(code), _) => {
                self.fail(
                    code,
                    &format!("{shown} exited with code {code}; the job is ended"),
                );
            }
        }
    }

    fn rank_killed(&mut self, shown: &str, signal: i32) {
        let words = sys::describe_signal(signal);
        let problem = if self.asked_to_end == Some(signal) {
            format!("the job is ended by signal {words}")
        } else {
            format!("{shown} was killed by signal {words}; the job is ended")
        };
        self.fail(128 + signal, &problem);
    }

    /// A rank that could not run its program exits with a shell's code; what it reported says more.
    fn report_start_failures(&mut self, code: i32) -> bool {
        let mut any = false;
        while let Some(failure) = self.spawner.next_failure() {
            any = true;
            let number = self
                .ranks
                .iter()
                .position(|rank| rank.pid == failure.pid)
                .unwrap_or_default();
            let application = &self.plan.applications[self.plan.ranks[number].application];
            let problem = start::explain(&failure, number, application);
            self.fail(code, &problem);
        }
        any
    }

    /// A barrier that an ended rank is missing from never opens.
    fn check_barrier(&mut self) {
        let Some(waiting) = self.server.waiting() else {
            return;
        };
        let Some(ended) = self.ranks.iter().position(|rank| rank.ended.is_some()) else {
            return;
        };
        let shown = self.ranks[ended].show(ended as u32);
        self.fail(
            1,
            &format!(
                "{shown} has ended, and rank {waiting} waits for it in MPI_Init or MPI_Finalize; the job is ended"
            ),
        );
    }

    fn verbose(&self, text: &str) {
        if self.job.verbose {
            say(&format!("mpiexec: {text}"));
        }
    }
}

/// Ends what ranks have left running: as their orphans, they have become children of mpiexec.
fn end_leftovers() {
    let until = Instant::now() + LEFTOVER_TIME;
    let mut told = Vec::new();
    loop {
        match sys::reap() {
            Reaped::NoChildren => return,
            Reaped::Child(..) => continue,
            Reaped::NoneEnded => {}
        }
        let late = Instant::now() >= until;
        for pid in sys::children() {
            if late {
                sys::kill(pid, libc::SIGKILL);
            } else if !told.contains(&pid) {
                told.push(pid);
                sys::kill(pid, libc::SIGTERM);
                sys::kill(pid, libc::SIGCONT);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

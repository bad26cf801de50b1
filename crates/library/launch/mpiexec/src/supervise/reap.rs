//! The ends of ranks.

use super::ending::Phase;
use super::start;
use super::supervisor::Supervisor;
use crate::agent::{Failure, Origin};
use crate::pmi::Standing;
use crate::sys::{self, Ended, Reaped};
use std::time::{Duration, Instant};

/// The longest that a rank's exit code waits for the end of another that is ending, and how long between two looks.
const CAUSE_TIME: Duration = Duration::from_millis(200);
const CAUSE_LOOK_TIME: Duration = Duration::from_micros(200);

impl Supervisor<'_> {
    pub(super) fn reap(&mut self) {
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
            if self
                .upward
                .as_mut()
                .is_some_and(|upward| upward.children.reaped(pid, ended))
            {
                continue;
            }
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
        let (shown, has_aborted) = (rank.show(), rank.has_aborted);
        self.verbose(&format!("{shown} has ended: {ended:?}"));
        self.losses.retain(|(other, _)| *other != number);
        match (ended, self.server.standing(number)) {
            (Ended::Code(code @ (126 | 127)), _) if self.report_start_failures(code) => {}
            _ if self.goes_on_after(number, ended) => self.rank_lost(number, ended),
            (Ended::Signal(signal), _) => self.rank_killed(&shown, signal),
            // The first MPI_Abort of all decides; this may be its consequence.
            (Ended::Code(_), _) if has_aborted => {}
            (Ended::Code(0), Standing::Active) => {
                self.fail(
                    1,
                    &format!("{shown} exited without calling MPI_Finalize; the job is ended"),
                );
            }
            (Ended::Code(0), _) => {
                self.tell_gone(&shown);
                self.check_barrier();
            }
            (Ended::Code(code), Standing::Finalized) => {
                if self.ending.phase() == Phase::Running {
                    self.note_failure(
                        code,
                        &format!("{shown} exited with code {code} after MPI_Finalize"),
                    );
                }
                self.tell_gone(&shown);
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

    /// Whether the end of a rank is one that the others go on after: it has come as far as `MPI_Init`, and did not end the
    /// job itself. What a rank exits with after `MPI_Finalize` is told as ever.
    fn goes_on_after(&self, number: u32, ended: Ended) -> bool {
        let rank = &self.ranks[number as usize];
        let was_asked =
            matches!(ended, Ended::Signal(signal) if self.ending.asked() == Some(signal));
        self.orders.options.recovery
            && self.ending.phase() == Phase::Running
            && matches!(
                (ended, self.server.standing(number)),
                (_, Standing::Active) | (Ended::Signal(_), Standing::Finalized)
            )
            && !rank.has_aborted
            && !was_asked
    }

    fn rank_lost(&mut self, number: u32, ended: Ended) {
        let shown = self.ranks[number as usize].show();
        let how = match ended {
            Ended::Signal(signal) => {
                format!("was killed by signal {}", sys::describe_signal(signal))
            }
            Ended::Code(code) => format!("exited with code {code} without calling MPI_Finalize"),
        };
        self.say(&format!("mpiexec: {shown} {how}; the others go on"));
        let mut events = Vec::new();
        self.server.lose(number, &mut events);
        self.handle(&mut events);
    }

    fn rank_killed(&mut self, shown: &str, signal: i32) {
        let words = sys::describe_signal(signal);
        let problem = if self.ending.asked() == Some(signal) {
            format!("the job is ended by signal {words}")
        } else {
            format!("{shown} was killed by signal {words}; the job is ended")
        };
        self.report(Failure {
            code: 128 + signal,
            text: problem,
            origin: Origin::Outside,
        });
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
            let problem = start::explain(&failure, self.plan.ranks[number].number, application);
            self.fail(code, &problem);
        }
        any
    }
}

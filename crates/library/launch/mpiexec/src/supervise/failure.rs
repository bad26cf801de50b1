//! What has gone wrong, and who is told: the user, or mpiexec by an agent.

use super::GRACE_TIME;
use super::ending::Phase;
use super::rank::Rank;
use super::supervisor::Supervisor;
use crate::agent::{Failure, Origin, Up};
use crate::message::{clip, say};
use crate::pmi::Standing;
use crate::sys;
use std::time::Instant;

impl Supervisor<'_> {
    /// Ends the job because of a failure, unless it is ending already.
    pub(super) fn fail(&mut self, code: i32, problem: &str) {
        let text = problem.to_owned();
        self.report(Failure {
            code,
            text,
            origin: Origin::of_code(code),
        });
    }

    pub(super) fn report(&mut self, failure: Failure) {
        if self.ending.phase() != Phase::Running {
            return;
        }
        match &mut self.upward {
            Some(upward) => upward.fail(failure, &self.epoll),
            None => {
                self.note_failure(failure.code, &failure.text);
                sys::tell_aborting(&failure.text);
                self.enter(Phase::Terminating(Instant::now() + GRACE_TIME));
            }
        }
    }

    /// Remembers a failure that does not end the job.
    pub(super) fn note_failure(&mut self, code: i32, problem: &str) {
        if self.upward.is_some() {
            let text = problem.to_owned();
            return self.send_up(&Up::Note { code, text });
        }
        say(&clip(&format!("mpiexec: {problem}")));
        self.ending.record(code as u8);
    }

    /// Tells the user.
    pub(super) fn say(&mut self, text: &str) {
        match self.upward {
            Some(_) => self.send_up(&Up::Say(text.to_owned())),
            None => say(text),
        }
    }

    /// Nobody on another host may wait for this rank.
    pub(super) fn tell_gone(&mut self, shown: &str) {
        if let Some(upward) = &mut self.upward
            && !std::mem::replace(&mut upward.has_told_gone, true)
        {
            upward.send(&Up::Gone(shown.to_owned()), &self.epoll);
        }
    }

    /// A barrier that an ended rank is missing from never opens.
    pub(super) fn check_barrier(&mut self) {
        let Some(waiting) = self.server.waiting() else {
            return;
        };
        let is_lost = |number: usize| self.server.standing(number as u32) == Standing::Lost;
        let ranks = self.ranks.iter().enumerate();
        let mut ended = ranks.filter(|(number, rank)| !rank.is_running() && !is_lost(*number));
        let ended = ended.next().map(|(_, rank)| rank);
        let elsewhere = || self.upward.as_ref().and_then(|upward| upward.gone.clone());
        let Some(shown) = ended.map(Rank::show).or_else(elsewhere) else {
            return;
        };
        let waiting = self.ranks[waiting as usize].number;
        self.fail(
            1,
            &format!(
                "{shown} has ended, and rank {waiting} waits for it in MPI_Init or MPI_Finalize; the job is ended"
            ),
        );
    }

    pub(super) fn verbose(&mut self, text: &str) {
        if self.orders.options.verbose {
            self.say(&format!("mpiexec: {text}"));
        }
    }
}

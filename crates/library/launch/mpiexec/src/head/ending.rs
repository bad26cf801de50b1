//! How the job ends: what is said, and what agents are told.

use super::{GIVE_UP_TIME, Head};
use crate::agent::{ALL_HOSTS, Down};
use crate::message::{clip, say};
use crate::supervise::{GRACE_TIME, Phase, REPORT_TIME, TIMEOUT_EXIT_CODE};
use crate::sys;
use std::time::Instant;

impl Head<'_> {
    pub(super) fn time_out(&mut self) {
        self.deadline = None;
        self.ending.press();
        if self.ending.phase() != Phase::Running {
            return;
        }
        let limit = self.timeout.unwrap_or_default().as_secs_f64();
        let what = match self.hosts.iter().all(|host| host.is_done) {
            false => "every rank is asked what it waits for",
            true => "the ranks have, and their output is still to be read",
        };
        say(&format!(
            "mpiexec: the job has not ended within {limit} s; {what}"
        ));
        self.ending.record(TIMEOUT_EXIT_CODE);
        self.ask_for_reports();
        self.enter(Phase::Reporting(Instant::now() + REPORT_TIME));
    }

    /// Has every rank print what it waits for.
    pub(super) fn ask_for_reports(&mut self) {
        let unstarted = self
            .hosts
            .iter()
            .zip(&self.layout.hosts)
            .filter(|(host, _)| !host.has_started && !host.is_done);
        for (_, place) in unstarted {
            say(&format!(
                "mpiexec: host {} has not answered yet",
                place.name
            ));
        }
        self.silent_reports = self
            .hosts
            .iter()
            .filter(|host| host.has_started && !host.is_done)
            .count();
        self.any_reports = false;
        self.children.send(ALL_HOSTS, &Down::Report, &self.epoll);
    }

    /// Ends the job because of a failure, unless it is ending already.
    pub(super) fn fail(&mut self, code: i32, text: &str) {
        if self.ending.phase() != Phase::Running {
            return;
        }
        self.failure = None;
        say(&clip(&format!("mpiexec: {text}")));
        self.ending.record(code as u8);
        sys::tell_aborting(text);
        self.enter(Phase::Terminating(Instant::now() + GRACE_TIME));
    }

    /// No cause has been told of.
    pub(super) fn act_on_failure(&mut self) {
        if let Some((failure, _)) = self.failure.take() {
            self.fail(failure.code, &failure.text);
        }
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        self.ending.enter(phase);
        if matches!(phase, Phase::Terminating(_) | Phase::Killed) {
            self.children.stop_starting();
        }
        match phase {
            Phase::Running | Phase::Reporting(_) => {}
            Phase::Terminating(_) => self.children.send(ALL_HOSTS, &Down::Terminate, &self.epoll),
            Phase::Killed => {
                self.give_up_at = Some(Instant::now() + GIVE_UP_TIME);
                self.children.send(ALL_HOSTS, &Down::Kill, &self.epoll);
            }
        }
        // What has not started never will.
        let unstarted = self
            .hosts
            .iter()
            .any(|host| !host.has_started && !host.is_done);
        if unstarted && matches!(phase, Phase::Terminating(_)) {
            self.give_up_at.get_or_insert(Instant::now() + GRACE_TIME);
        }
    }

    /// Some hosts say nothing of the end of their ranks. Their agents end those when they see that mpiexec has gone.
    pub(super) fn give_up(&mut self) {
        self.give_up_at = None;
        let places = self.hosts.iter_mut().zip(&self.layout.hosts);
        for (host, place) in places.filter(|(host, _)| !host.is_done) {
            if host.has_started {
                say(&format!(
                    "mpiexec: host {} does not say that its ranks have ended; it is not waited for",
                    place.name
                ));
            }
            host.is_done = true;
        }
    }
}

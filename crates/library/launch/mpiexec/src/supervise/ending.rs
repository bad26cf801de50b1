//! How far the job's end has come, and the exit code so far.

use std::time::{Duration, Instant};

/// For ranks to clean up between SIGTERM and SIGKILL.
pub const GRACE_TIME: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Running,
    /// Ranks print what they wait for, until then.
    Reporting(Instant),
    /// Ranks have been sent SIGTERM and have until then.
    Terminating(Instant),
    Killed,
}

pub struct Ending {
    phase: Phase,
    exit_code: Option<u8>,
    request: Option<Request>,
    /// Somebody wants the end, by a signal or by a time limit: it does not wait for a reader that does not read.
    is_pressed: bool,
}

/// That somebody wants the job to end, by a signal, which has gone on to every rank.
#[derive(Debug, Clone, Copy)]
struct Request {
    /// The last such signal.
    signal: i32,
    /// How long ranks have since the first. `None` in an agent: mpiexec sees to that.
    until: Option<Instant>,
}

impl Phase {
    fn order(self) -> u8 {
        match self {
            Phase::Running => 0,
            Phase::Reporting(_) => 1,
            Phase::Terminating(_) => 2,
            Phase::Killed => 3,
        }
    }
}

impl Ending {
    pub fn new() -> Ending {
        Ending {
            phase: Phase::Running,
            exit_code: None,
            request: None,
            is_pressed: false,
        }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// When the phase is over, or ranks are to have done what a signal asked them for.
    pub fn until(&self) -> Option<Instant> {
        let request = self.request.and_then(|request| request.until);
        match self.phase {
            Phase::Reporting(until) | Phase::Terminating(until) => {
                Some(request.map_or(until, |request| request.min(until)))
            }
            Phase::Running => request,
            Phase::Killed => None,
        }
    }

    /// The phase after this one, if that is over.
    pub fn next_phase(&self, now: Instant) -> Option<Phase> {
        if self.until().is_none_or(|until| until > now) {
            return None;
        }
        match self.phase {
            Phase::Reporting(until) if until <= now => Some(Phase::Terminating(now + GRACE_TIME)),
            _ => Some(Phase::Killed),
        }
    }

    /// A signal that asks for the job's end goes on to every rank. `until`: how long they have, if it is the first.
    pub fn ask(&mut self, signal: i32, until: Option<Instant>) {
        let first = self.request.and_then(|request| request.until);
        self.request = Some(Request {
            signal,
            until: first.or(until),
        });
        self.is_pressed = true;
    }

    /// What is said when ranks are killed because a signal has not ended them. Decides the exit code where nothing has before.
    pub fn unheeded(&mut self, next: Phase) -> Option<String> {
        let signal = self.asked().filter(|_| next == Phase::Killed)?;
        if self.exit_code.is_some() {
            return None;
        }
        self.record((128 + signal) as u8);
        let seconds = GRACE_TIME.as_secs_f64();
        let words = crate::sys::describe_signal(signal);
        Some(format!(
            "mpiexec: {seconds} s after signal {words} ranks still run; every rank is killed"
        ))
    }

    /// The signal that last asked for the end.
    pub fn asked(&self) -> Option<i32> {
        self.request.map(|request| request.signal)
    }

    /// Every rank has ended: another request is for what is left to be done.
    pub fn forget_request(&mut self) {
        self.request = None;
    }

    /// A time limit has passed.
    pub fn press(&mut self) {
        self.is_pressed = true;
    }

    pub fn is_pressed(&self) -> bool {
        self.is_pressed
    }

    /// Phases only go forward.
    pub fn enter(&mut self, phase: Phase) {
        if phase.order() > self.phase.order() {
            self.phase = phase;
        }
    }

    /// The first failure decides; a job without one ends with 0.
    pub fn record(&mut self, exit_code: u8) {
        self.exit_code.get_or_insert(exit_code);
    }

    pub fn exit_code(&self) -> u8 {
        self.exit_code.unwrap_or(0)
    }
}

//! How far the job's end has come, and the exit code so far.

use std::time::Instant;

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
        }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// When the phase is over.
    pub fn until(&self) -> Option<Instant> {
        match self.phase {
            Phase::Reporting(until) | Phase::Terminating(until) => Some(until),
            Phase::Running | Phase::Killed => None,
        }
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

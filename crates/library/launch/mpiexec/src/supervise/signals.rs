//! Signals sent to mpiexec.

use super::ending::{GRACE_TIME, Phase};
use super::supervisor::Supervisor;
use crate::message::say;
use crate::sys::{self, Received};
use std::time::Instant;

/// Signals that mpiexec reads instead of being hit by.
pub const READ: [i32; 9] = [
    libc::SIGCHLD,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGCONT,
];

impl Supervisor<'_> {
    pub(super) fn take_signals(&mut self) {
        while let Some(received) = self.signals.next() {
            match received.signal {
                libc::SIGCHLD => self.reap(),
                signal if self.upward.is_some() => self.take_as_agent(signal),
                libc::SIGUSR2 => {
                    self.ask_for_reports();
                }
                libc::SIGINT if self.ending.asked() == Some(libc::SIGINT) => self.kill_now(),
                libc::SIGTSTP => {
                    self.forward(&received);
                    sys::stop_self();
                }
                signal => {
                    if ![libc::SIGUSR1, libc::SIGCONT].contains(&signal) {
                        self.ending.ask(signal, Some(Instant::now() + GRACE_TIME));
                    }
                    self.verbose(&format!(
                        "signal {} goes on to every rank",
                        sys::describe_signal(signal)
                    ));
                    self.forward(&received);
                }
            }
        }
    }

    /// Whoever ends an agent ends its ranks; other signals come from mpiexec, by frames.
    fn take_as_agent(&mut self, signal: i32) {
        if [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT].contains(&signal) {
            // What is still to be written is of no use any more.
            let _ = self.lose_parent();
        }
    }

    /// The terminal has itself signalled the ranks of mpiexec's own process group.
    fn forward(&self, received: &Received) {
        let ranks = self
            .ranks
            .iter()
            .filter(|rank| rank.own_group || !received.from_terminal);
        ranks.for_each(|rank| rank.signal(received.signal));
    }

    fn kill_now(&mut self) {
        if self.ending.phase() != Phase::Killed {
            say("mpiexec: interrupted again; every rank is killed");
            self.ending.record((128 + libc::SIGINT) as u8);
            self.enter(Phase::Killed);
        }
    }
}

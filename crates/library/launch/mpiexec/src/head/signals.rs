//! Signals sent to mpiexec.

use super::Head;
use crate::agent::{ALL_HOSTS, Down};
use crate::message::say;
use crate::supervise::{GRACE_TIME, Phase};
use crate::sys::{self, Reaped};
use std::time::Instant;

impl Head<'_> {
    pub(super) fn take_signals(&mut self) {
        while let Some(received) = self.signals.next() {
            match received.signal {
                libc::SIGCHLD => self.reap(),
                libc::SIGUSR2 => self.ask_for_reports(),
                libc::SIGINT if self.ending.asked() == Some(libc::SIGINT) => self.kill_now(),
                libc::SIGTSTP => {
                    self.forward(libc::SIGTSTP);
                    sys::stop_self();
                }
                signal @ (libc::SIGUSR1 | libc::SIGCONT) => self.forward(signal),
                signal => {
                    self.ending.ask(signal, Some(Instant::now() + GRACE_TIME));
                    self.forward(signal);
                    if !self.hosts.iter().all(|host| host.has_started) {
                        let words = sys::describe_signal(signal);
                        let text = format!(
                            "the job is ended by signal {words} before all hosts have started"
                        );
                        self.fail(128 + signal, &text);
                    }
                }
            }
        }
    }

    fn forward(&mut self, signal: i32) {
        if self.verbose {
            let words = sys::describe_signal(signal);
            say(&format!("mpiexec: signal {words} goes on to every rank"));
        }
        self.children
            .send(ALL_HOSTS, &Down::Signal(signal), &self.epoll);
    }

    fn kill_now(&mut self) {
        if self.ending.phase() != Phase::Killed {
            say("mpiexec: interrupted again; every rank is killed");
            self.ending.record((128 + libc::SIGINT) as u8);
            self.enter(Phase::Killed);
        }
    }

    fn reap(&mut self) {
        while let Reaped::Child(pid, ended) = sys::reap() {
            self.children.reaped(pid, ended);
        }
    }
}

//! What agents say, and what they are answered.

use super::{CAUSE_TIME, Head, LOST_PEER_TIME};
use crate::agent::{self, ALL_HOSTS, Down, Event, Failure, Frame, Origin, Up};
use crate::message::{clip, say};
use crate::supervise::{GRACE_TIME, Phase};
use crate::sys::{self, Process};
use std::io;
use std::time::Instant;

impl Head<'_> {
    pub(super) fn take(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Frame(frame) => self.take_frame(&frame),
            Event::Lost { hosts, text } => {
                self.lose(&hosts, &text);
                Ok(())
            }
            Event::Say(text) => {
                say(&text);
                Ok(())
            }
        }
    }

    fn take_frame(&mut self, frame: &Frame) -> io::Result<()> {
        let host = frame.host;
        match agent::decode::<Up>(&frame.body) {
            Some(up) => self.hear(host, up),
            None => {
                let name = &self.layout.hosts[host as usize].name;
                let text = format!("host {name}: its agent says what mpiexec does not understand");
                self.lose(&[host], &text);
                Ok(())
            }
        }
    }

    fn hear(&mut self, host: u32, up: Up) -> io::Result<()> {
        match up {
            Up::Started => self.hosts[host as usize].has_started = true,
            Up::Failure(failure) => self.consider(failure),
            Up::Processes(described) => {
                for (rank, pid, program) in described {
                    let host = self.layout.hosts[host as usize].name.clone();
                    self.table.set(rank, Process { host, program, pid });
                }
            }
            Up::Note { code, text } => {
                if self.ending.phase() == Phase::Running {
                    say(&clip(&format!("mpiexec: {text}")));
                    self.ending.record(code as u8);
                }
            }
            Up::Say(text) => say(&text),
            Up::Puts(puts) => puts
                .into_iter()
                .for_each(|(key, value)| self.store.put(key, value)),
            Up::Fence => {
                if let Some(changed) = self.store.join(host) {
                    self.release(changed);
                }
            }
            Up::Ask(key) => {
                let value = self.store.get(&key);
                self.children
                    .send(host, &Down::Answer { key, value }, &self.epoll);
            }
            Up::Gone(text) => {
                if !std::mem::replace(&mut self.has_told_gone, true) {
                    self.children
                        .send(ALL_HOSTS, &Down::Gone(text), &self.epoll);
                }
            }
            Up::Output { rank, error, bytes } => {
                let credit = self.output.take(host, rank, error, &bytes, &self.epoll)?;
                if credit > 0 {
                    self.children.send(host, &Down::Credit(credit), &self.epoll);
                }
            }
            Up::InputTaken { more } => {
                self.input.taken(host, more);
                let chunk = self.input.wait(&self.epoll)?;
                self.send_input(chunk);
            }
            Up::Reported(asked) => self.count_report(asked),
            Up::Lost { hosts, text } => self.lose(&hosts, &text),
            Up::Done => self.finish(host),
        }
        Ok(())
    }

    /// A failure decides at once where no rank has caused it. Any other waits a moment for what may have caused it, whose news may
    /// come later: another host's way to here is another.
    fn consider(&mut self, failure: Failure) {
        if self.ending.phase() != Phase::Running {
            return;
        }
        if failure.origin == Origin::Outside {
            return self.fail(failure.code, &failure.text);
        }
        let time = match failure.origin {
            Origin::LostPeer => LOST_PEER_TIME,
            Origin::Rank | Origin::Outside => CAUSE_TIME,
        };
        let until = Instant::now() + time;
        match &self.failure {
            Some((first, _)) if first.origin >= failure.origin => {}
            Some((_, first_until)) => self.failure = Some((failure, until.min(*first_until))),
            None => self.failure = Some((failure, until)),
        }
    }

    /// Once no rank is left that reports, there is nothing to wait for.
    fn count_report(&mut self, asked: bool) {
        self.any_reports |= asked;
        self.silent_reports = self.silent_reports.saturating_sub(1);
        let is_reporting = matches!(self.ending.phase(), Phase::Reporting(_));
        if is_reporting && self.silent_reports == 0 && !self.any_reports {
            self.enter(Phase::Terminating(Instant::now() + GRACE_TIME));
        }
    }

    fn lose(&mut self, hosts: &[u32], text: &str) {
        let known = hosts
            .iter()
            .filter(|host| (**host as usize) < self.hosts.len());
        let known: Vec<u32> = known.copied().collect();
        let was_needed = known.iter().any(|host| !self.hosts[*host as usize].is_done);
        known.into_iter().for_each(|host| self.finish(host));
        if was_needed && self.recovery && self.has_told_spawned {
            say(&clip(&format!("mpiexec: {text}; the others go on")));
        } else if was_needed {
            self.fail(1, &format!("{text}; the job is ended"));
        }
    }

    fn finish(&mut self, host: u32) {
        self.hosts[host as usize].is_done = true;
        self.input.forget(host);
        if self.recovery
            && let Some(changed) = self.store.leave(host)
        {
            self.release(changed);
        }
    }

    /// The ranks of all hosts are in the fence.
    fn release(&mut self, changed: bool) {
        // The first fence is MPI_Init's, which no rank leaves before the release.
        if !std::mem::replace(&mut self.has_told_spawned, true) {
            sys::tell_spawned();
        }
        self.children
            .send(ALL_HOSTS, &Down::Release { changed }, &self.epoll);
    }

    /// To every host whose ranks read it; an empty chunk is the end.
    pub(super) fn send_input(&mut self, chunk: Option<Vec<u8>>) {
        let Some(chunk) = chunk else { return };
        let hosts = self.input.hosts();
        let down = match chunk.is_empty() {
            true => {
                self.input.end();
                Down::InputEnd
            }
            false => Down::Input(chunk),
        };
        for host in hosts {
            self.children.send(host, &down, &self.epoll);
        }
    }
}

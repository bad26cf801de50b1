//! What an agent knows of the job beyond its own host: the way to mpiexec, and the agents below.

use weft_kernel::Poller;

use crate::agent::{Children, Failure, Frame, Link, Origin, Up};

use serde::Serialize;
use std::time::{Duration, Instant};

pub struct Upward {
    /// `None` once it has ended.
    pub link: Option<Link>,
    pub children: Children,
    /// This host's number.
    pub host: u32,
    /// How long mpiexec may say nothing.
    pub host_timeout: Duration,
    /// mpiexec has been stopped and says nothing until it is continued.
    pub is_paused: bool,
    /// The job is over.
    pub is_over: bool,
    /// A rank of another host that has ended in good order.
    pub gone: Option<String>,
    /// mpiexec knows that a rank of this host has ended.
    pub has_told_gone: bool,
    /// Input has come and not all who read it have taken it.
    pub owes_taken: bool,
    /// Of the failures that mpiexec has been told.
    failed: Option<Origin>,
    looked: Instant,
}

impl Upward {
    pub fn new(mut link: Link, children: Children, host: u32, host_timeout: Duration) -> Upward {
        link.allow_silence(host_timeout);
        Upward {
            link: Some(link),
            children,
            host,
            host_timeout,
            is_paused: false,
            is_over: false,
            gone: None,
            has_told_gone: false,
            owes_taken: false,
            failed: None,
            looked: Instant::now(),
        }
    }

    pub fn send(&mut self, message: &impl Serialize, epoll: &Poller) {
        if let Some(link) = &mut self.link {
            link.send(self.host, message, epoll);
        }
    }

    pub fn pass(&mut self, frame: &Frame, epoll: &Poller) {
        if let Some(link) = &mut self.link {
            link.pass(frame, epoll);
        }
    }

    /// Tells mpiexec, which decides: the first failure of a host, and one after it that may have caused it.
    pub fn fail(&mut self, failure: Failure, epoll: &Poller) {
        if self.failed < Some(failure.origin) {
            self.failed = Some(failure.origin);
            self.send(&Up::Failure(failure), epoll);
        }
    }

    pub fn next_deadline(&self) -> Option<Instant> {
        let own = self.link.as_ref().map(|link| match self.is_paused {
            true => link.next_beat(),
            false => link.next_beat().min(link.heard() + self.host_timeout),
        });
        own.into_iter().chain(self.children.next_deadline()).min()
    }

    /// Shows mpiexec that this host lives. Answers whether mpiexec has been silent for too long.
    pub fn look(&mut self, epoll: &Poller) -> bool {
        let now = Instant::now();
        // As in `Children::look`.
        let was_stopped = now.duration_since(self.looked) > self.host_timeout / 2;
        self.looked = now;
        let Some(link) = &mut self.link else {
            return false;
        };
        if was_stopped {
            link.forgive_silence(now);
        }
        link.beat(now, epoll);
        !self.is_paused && link.heard() + self.host_timeout <= now
    }
}

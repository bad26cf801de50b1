//! The agents that a node of the tree has started, and the ways to all hosts below.

use super::child::Child;
use super::down::{Down, Part, Start};
use super::frame::{ALL_HOSTS, Frame};
use super::launcher::AgentCommand;
use super::link::Arrived;
use weft_kernel::Poller;

use crate::assignment::Orders;
use crate::source::Source;
use crate::sys::{self, Ended, Pid};
use serde::Serialize;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Children that a node starts itself; from one host more on, they start others.
const CHILDREN_MAX: usize = 32;

pub struct Children {
    list: Vec<Child>,
    /// Which child a host is reached by.
    by_host: HashMap<u32, usize>,
    host_timeout: Duration,
    launch_timeout: Duration,
    launcher_name: String,
    mpiexec: String,
    looked: Instant,
    /// The job is ending, and no launcher is started again.
    is_ending: bool,
    /// The job is over, and the end of a child says nothing.
    is_over: bool,
}

/// What children are started with.
pub struct Settings<'a> {
    pub orders: &'a Orders,
    pub way: &'a AgentCommand,
    pub launch_timeout: Duration,
    pub host_timeout: Duration,
}

pub enum Event {
    /// From a host below.
    Frame(Frame),
    /// Hosts that are reached no more, and why.
    Lost { hosts: Vec<u32>, text: String },
    /// A line for the user.
    Say(String),
}

impl Children {
    pub fn new(settings: &Settings) -> Children {
        Children {
            list: Vec::new(),
            by_host: HashMap::new(),
            host_timeout: settings.host_timeout,
            launch_timeout: settings.launch_timeout,
            launcher_name: settings.way.name(),
            mpiexec: settings.way.mpiexec.to_string_lossy().into_owned(),
            looked: Instant::now(),
            is_ending: false,
            is_over: false,
        }
    }

    /// Starts an agent on the host of the first part, which sees to the others.
    pub fn start(
        &mut self,
        settings: &Settings,
        parts: &[Part],
        is_here: bool,
        epoll: &Poller,
    ) -> Result<(), String> {
        let command = settings.way.command(&parts[0].name, is_here);
        let index = self.list.len();
        let until = Instant::now() + settings.launch_timeout;
        let child = Child::start(&command, index as u32, parts, until, epoll);
        let mut child = child.map_err(|error| {
            let program = command[0].to_string_lossy();
            let (name, error) = (&parts[0].name, sys::explained(error));
            format!("{name}: `{program}` cannot be started: {error}")
        })?;
        let start = Down::Start(Box::new(Start {
            orders: settings.orders.clone(),
            part: parts[0].clone(),
            below: parts[1..].to_vec(),
            way: settings.way.clone(),
            launch_timeout: settings.launch_timeout,
            host_timeout: settings.host_timeout,
        }));
        if let Some(link) = &mut child.link {
            link.allow_silence(settings.host_timeout);
        }
        child.pass(&super::codec::frame(parts[0].host, &start), epoll);
        self.by_host
            .extend(child.hosts.iter().map(|host| (*host, index)));
        self.list.push(child);
        Ok(())
    }

    /// Starts agents on all these hosts, as children or below them.
    pub fn start_all(
        &mut self,
        settings: &Settings,
        parts: &[Part],
        epoll: &Poller,
    ) -> Result<(), String> {
        share(parts.len())
            .into_iter()
            .try_for_each(|range| self.start(settings, &parts[range], false, epoll))
    }

    /// To one host, or to all.
    pub fn send(&mut self, host: u32, message: &impl Serialize, epoll: &Poller) {
        self.pass(&super::codec::frame(host, message), epoll);
    }

    /// Passes a frame on towards its host. One for a host that is lost goes nowhere.
    pub fn pass(&mut self, frame: &Frame, epoll: &Poller) {
        let by = self.by_host.get(&frame.host).copied();
        for (index, child) in self.list.iter_mut().enumerate() {
            if frame.host == ALL_HOSTS || by == Some(index) {
                child.pass(frame, epoll);
            }
        }
    }

    /// Something about a child is ready.
    pub fn serve(&mut self, source: Source, events: &mut Vec<Event>, epoll: &Poller) {
        match source {
            Source::Child(index) => self.read(index, events, epoll),
            Source::ToChild(index) => {
                let link = self.list[index as usize].link.as_mut();
                link.into_iter().for_each(|link| link.write(epoll));
            }
            Source::ChildWords(index) => self.list[index as usize].read_words(epoll),
            _ => {}
        }
    }

    /// A child's way has something, or has ended.
    fn read(&mut self, index: u32, events: &mut Vec<Event>, epoll: &Poller) {
        let child = &mut self.list[index as usize];
        let Some(link) = &mut child.link else { return };
        let arrived = link.read();
        let has_begun = loop {
            match link.next() {
                Ok(Some(frame)) if child.hosts.contains(&frame.host) => {
                    events.push(Event::Frame(frame))
                }
                Ok(None) => break link.has_begun(),
                Ok(Some(_)) => {
                    return child.give_up("it speaks for a host that is not its own".into(), epoll);
                }
                Err(malformed) => return child.give_up(malformed.to_string(), epoll),
            }
        };
        if has_begun {
            child.forget_unheard();
        }
        if arrived == Arrived::End {
            child.close(epoll);
        }
    }

    /// Whether an ended process was a child's launcher.
    pub fn reaped(&mut self, pid: Pid, ended: Ended) -> bool {
        let child = self
            .list
            .iter_mut()
            .find(|child| child.pid == pid && child.ended.is_none());
        child.map(|child| child.ended = Some(ended)).is_some()
    }

    pub fn owns(&self, pid: Pid) -> bool {
        self.list
            .iter()
            .any(|child| child.pid == pid && child.ended.is_none())
    }

    /// When [`Children::look`] has something to do.
    pub fn next_deadline(&self) -> Option<Instant> {
        let deadline = |child: &Child| match &child.link {
            Some(link) if !link.has_begun() => child.answer_until.min(link.next_beat()),
            Some(link) => link.next_beat().min(link.heard() + self.host_timeout),
            None => child.retry_at.or(child.gone_until).unwrap_or(self.looked),
        };
        let open = self.list.iter().filter(|child| !child.is_settled);
        open.map(deadline).min()
    }

    /// Shows children that this side lives, and gives those up that have been silent for too long.
    pub fn look(&mut self, events: &mut Vec<Event>, epoll: &Poller) {
        let now = Instant::now();
        // Looks are closer together than this, unless this process has itself been stopped.
        let was_stopped = now.duration_since(self.looked) > self.host_timeout / 2;
        self.looked = now;
        let (launch, silence) = (self.launch_timeout.as_secs_f64(), self.host_timeout);
        let may_retry = !self.is_ending && !self.is_over;
        let open = self.list.iter_mut().enumerate();
        for (index, child) in open.filter(|(_, child)| !child.is_settled) {
            if child.retry_at.is_some_and(|at| at <= now || !may_retry) {
                match may_retry {
                    true => child.retry(index as u32, silence, epoll),
                    false => child.give_up_retrying(now),
                }
            }
            if let Some(link) = &mut child.link {
                if was_stopped {
                    link.forgive_silence(now);
                }
                link.beat(now, epoll);
                if !link.has_begun() && child.answer_until <= now {
                    child.give_up(
                        format!("nothing has answered within {launch} s (--launch-timeout)"),
                        epoll,
                    );
                } else if link.has_begun() && link.heard() + silence <= now {
                    let seconds = silence.as_secs_f64();
                    child.give_up(
                        format!(
                            "nothing has been heard from there for {seconds} s (--host-timeout)"
                        ),
                        epoll,
                    );
                }
            }
            if child.is_gone(now) && may_retry && child.may_come_up(now) {
                if !child.has_retried {
                    let words = child.last_words().unwrap_or_default();
                    let name = &child.name;
                    events.push(Event::Say(format!(
                        "mpiexec: host {name}: {words}; it is tried again for {launch} s (--launch-timeout)"
                    )));
                }
                child.plan_retry(now);
            }
            if child.is_gone(now) {
                child.is_settled = true;
                if !self.is_over {
                    let text = explain(child, &self.launcher_name, &self.mpiexec);
                    let hosts = std::mem::take(&mut child.hosts);
                    events.push(Event::Lost { hosts, text });
                }
            }
        }
    }

    /// The job is over: says so to all below.
    pub fn dismiss(&mut self, epoll: &Poller) {
        self.is_over = true;
        self.send(ALL_HOSTS, &Down::Bye, epoll);
    }

    /// Every way has ended and every launcher with it.
    pub fn are_gone(&self) -> bool {
        self.list
            .iter()
            .all(|child| child.link.is_none() && child.ended.is_some())
    }

    /// The job is ending: agents that have not come up are not needed any more.
    pub fn stop_starting(&mut self) {
        self.is_ending = true;
    }

    /// Ends the ways, and with them what is below: an agent whose way to its parent ends sees to its ranks.
    pub fn drop_all(&mut self, epoll: &Poller) {
        self.is_over = true;
        self.list.iter_mut().for_each(|child| child.close(epoll));
    }

    /// Ends launchers that are still there.
    pub fn kill_launchers(&self) {
        self.list
            .iter()
            .for_each(|child| child.end_launcher(libc::SIGKILL));
    }
}

/// Why a child is gone, in one line that names its host.
fn explain(child: &Child, launcher: &str, mpiexec: &str) -> String {
    let name = &child.name;
    let words = child.last_words();
    let said = words
        .as_ref()
        .map_or(String::new(), |words| format!(": {words}"));
    if let Some(fault) = &child.fault {
        return format!("host {name}: {fault}{said}");
    }
    if child.answered {
        return format!("the connection to host {name} is lost{said}");
    }
    match child.ended {
        Some(Ended::Code(127)) => format!(
            "host {name} has no {mpiexec}, which is expected at the same path on every host{said}"
        ),
        Some(Ended::Code(255)) if words.is_some() => format!("host {name} cannot be reached{said}"),
        Some(Ended::Code(code)) => {
            format!("host {name} cannot be reached: {launcher} ended with code {code}{said}")
        }
        _ => format!("host {name} cannot be reached: {launcher} was killed{said}"),
    }
}

/// Unbroken shares of so many hosts, one for each child: the first of a share is the child.
pub fn share(hosts: usize) -> Vec<std::ops::Range<usize>> {
    let children = hosts.min(CHILDREN_MAX);
    let bound = |child: usize| child * hosts / children.max(1);
    (0..children)
        .map(|child| bound(child)..bound(child + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_at_most_32_children_and_none_is_left_out() {
        for hosts in [0, 1, 2, 31, 32, 33, 64, 1000, 10_000] {
            let shares = share(hosts);
            assert!(shares.len() <= CHILDREN_MAX && shares.iter().all(|share| !share.is_empty()));
            assert_eq!(
                shares.iter().cloned().flatten().collect::<Vec<_>>(),
                (0..hosts).collect::<Vec<_>>()
            );
        }
        assert_eq!(share(32).len(), 32);
    }
}

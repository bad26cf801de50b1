//! One child in the tree: the launcher's process, the way through it, and how far its start has come.

use super::down::Part;
use super::frame::{Decoder, Frame};
use super::link::Link;
use weft_kernel::{Interest, Poller};

use crate::source::Source;
use crate::sys::{self, Ended, Pid};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// Kept of what a launcher says.
const WORDS_MAX_BYTES: usize = 4096;
/// For a launcher's last words and exit status, once its output has ended.
const LAST_WORDS_TIME: Duration = Duration::from_secs(1);
/// What ssh says of a name that no address is known for, as of a container that is still to come up.
const UNKNOWN_NAME: &str = "Could not resolve hostname";
/// Before a launcher is started again.
const RETRY_TIME: Duration = Duration::from_secs(1);

pub struct Child {
    pub name: String,
    command: Vec<OsString>,
    /// The child's own host, then those below it.
    pub hosts: Vec<u32>,
    pub pid: Pid,
    pub link: Option<Link>,
    /// What was sent before the agent has spoken: another try begins with it.
    unheard: Vec<Frame>,
    words_reader: Option<File>,
    words: Vec<u8>,
    pub ended: Option<Ended>,
    /// When the agent has to have answered.
    pub answer_until: Instant,
    /// The way has ended; by then, last words are no longer waited for.
    pub gone_until: Option<Instant>,
    /// Why it was given up, where this side did.
    pub fault: Option<String>,
    /// An agent has spoken.
    pub answered: bool,
    /// When the launcher is started again.
    pub retry_at: Option<Instant>,
    pub has_retried: bool,
    /// Nothing more is to be told of it.
    pub is_settled: bool,
}

impl Child {
    pub fn start(
        command: &[OsString],
        index: u32,
        parts: &[Part],
        answer_until: Instant,
        epoll: &Poller,
    ) -> io::Result<Child> {
        let (pid, link, words_reader) = open(command, index, epoll)?;
        Ok(Child {
            name: parts[0].name.clone(),
            command: command.to_vec(),
            hosts: parts.iter().map(|part| part.host).collect(),
            pid,
            link: Some(link),
            unheard: Vec::new(),
            words_reader: Some(words_reader),
            words: Vec::new(),
            ended: None,
            answer_until,
            gone_until: None,
            fault: None,
            answered: false,
            retry_at: None,
            has_retried: false,
            is_settled: false,
        })
    }

    /// Sends a frame, or keeps it for the next try.
    pub fn pass(&mut self, frame: &Frame, epoll: &Poller) {
        let has_begun = self.link.as_ref().is_some_and(Link::has_begun);
        if !has_begun && !self.answered {
            self.unheard.push(frame.clone());
        }
        self.link
            .iter_mut()
            .for_each(|link| link.pass(frame, epoll));
    }

    /// The agent has spoken.
    pub fn forget_unheard(&mut self) {
        self.unheard = Vec::new();
    }

    /// Whether it is gone because its host's name means nothing yet, and there is time for it to mean something.
    pub fn may_come_up(&self, now: Instant) -> bool {
        let is_unknown = || {
            let words = self.last_words();
            words.is_some_and(|words| words.contains(UNKNOWN_NAME))
        };
        let has_time = now + RETRY_TIME < self.answer_until;
        has_time && self.fault.is_none() && !self.answered && is_unknown()
    }

    /// Has the launcher started again soon.
    pub fn plan_retry(&mut self, now: Instant) {
        self.gone_until = None;
        self.has_retried = true;
        self.retry_at = Some(now + RETRY_TIME);
    }

    /// It is not needed any more.
    pub fn give_up_retrying(&mut self, now: Instant) {
        self.retry_at = None;
        self.gone_until = Some(now);
    }

    /// Starts the launcher again.
    pub fn retry(&mut self, index: u32, allow_silence: Duration, epoll: &Poller) {
        self.retry_at = None;
        self.words.clear();
        match open(&self.command, index, epoll) {
            Ok((pid, mut link, words_reader)) => {
                link.allow_silence(allow_silence);
                self.unheard
                    .iter()
                    .for_each(|frame| link.pass(frame, epoll));
                (self.pid, self.ended) = (pid, None);
                (self.link, self.words_reader) = (Some(link), Some(words_reader));
            }
            Err(error) => {
                let program = self.command[0].to_string_lossy();
                let error = sys::explained(error);
                self.give_up(format!("`{program}` cannot be started: {error}"), epoll);
                self.gone_until = Some(Instant::now());
            }
        }
    }

    /// Keeps the end of what the launcher says.
    pub fn read_words(&mut self, epoll: &Poller) {
        let Some(reader) = &mut self.words_reader else {
            return;
        };
        let mut bytes = [0; 4096];
        match reader.read(&mut bytes) {
            Ok(count) if count > 0 => {
                self.words.extend_from_slice(&bytes[..count]);
                let excess = self.words.len().saturating_sub(WORDS_MAX_BYTES);
                self.words.drain(..excess);
            }
            Err(error)
                if [io::ErrorKind::Interrupted, io::ErrorKind::WouldBlock]
                    .contains(&error.kind()) => {}
            _ => {
                epoll.remove(reader);
                self.words_reader = None;
            }
        }
    }

    /// Ends the way. What became of the launcher is still to be learnt.
    pub fn close(&mut self, epoll: &Poller) {
        if let Some(link) = self.link.take() {
            self.answered = link.has_begun();
            if !self.answered {
                self.words.extend_from_slice(link.noise());
            }
            link.close(epoll);
            self.gone_until = Some(Instant::now() + LAST_WORDS_TIME);
        }
    }

    /// Gives the child up because of what it has done or not done.
    pub fn give_up(&mut self, fault: String, epoll: &Poller) {
        self.fault.get_or_insert(fault);
        self.close(epoll);
        self.end_launcher(libc::SIGKILL);
    }

    pub fn end_launcher(&self, signal: i32) {
        if self.ended.is_none() {
            sys::kill(self.pid, signal);
        }
    }

    /// Its way has ended, and its launcher and what that had to say are known or no longer waited for.
    pub fn is_gone(&self, now: Instant) -> bool {
        let told = self.ended.is_some() && self.words_reader.is_none();
        self.gone_until.is_some_and(|until| told || until <= now)
    }

    /// The last line that says something.
    pub fn last_words(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.words);
        let line = text
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())?;
        Some(line.chars().filter(|c| !c.is_control()).take(300).collect())
    }
}

/// Starts a launcher: its process, the way through it, and what it says on standard error.
fn open(command: &[OsString], index: u32, epoll: &Poller) -> io::Result<(Pid, Link, File)> {
    let helper = sys::start_helper(command)?;
    sys::set_nonblocking(&helper.error)?;
    epoll.add(
        &helper.error,
        Source::ChildWords(index).token(),
        Interest::Reading,
    )?;
    let sources = (Source::Child(index), Source::ToChild(index));
    let link = Link::new(
        helper.output,
        helper.input,
        sources,
        Decoder::default(),
        epoll,
    )?;
    Ok((helper.pid, link, helper.error.into()))
}

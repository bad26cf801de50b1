//! One child in the tree: the launcher's process, the way through it, and how far its start has come.

use super::down::Part;
use super::frame::Decoder;
use super::link::Link;
use crate::source::Source;
use crate::sys::{self, Ended, Epoll, Interest, Pid};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// Kept of what a launcher says.
const WORDS_MAX_BYTES: usize = 4096;
/// For a launcher's last words and exit status, once its output has ended.
const LAST_WORDS_TIME: Duration = Duration::from_secs(1);

pub struct Child {
    pub name: String,
    /// The child's own host, then those below it.
    pub hosts: Vec<u32>,
    pub pid: Pid,
    pub link: Option<Link>,
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
    /// Nothing more is to be told of it.
    pub is_settled: bool,
}

impl Child {
    pub fn start(
        command: &[OsString],
        index: u32,
        parts: &[Part],
        answer_until: Instant,
        mask: libc::sigset_t,
        epoll: &Epoll,
    ) -> io::Result<Child> {
        let helper = sys::start_helper(command, mask)?;
        sys::set_nonblocking(&helper.error)?;
        epoll.add(
            &helper.error,
            Source::ChildWords(index).token(),
            Interest::Read,
        )?;
        let sources = (Source::Child(index), Source::ToChild(index));
        let link = Link::new(
            helper.output,
            helper.input,
            sources,
            Decoder::default(),
            epoll,
        )?;
        Ok(Child {
            name: parts[0].name.clone(),
            hosts: parts.iter().map(|part| part.host).collect(),
            pid: helper.pid,
            link: Some(link),
            words_reader: Some(helper.error.into()),
            words: Vec::new(),
            ended: None,
            answer_until,
            gone_until: None,
            fault: None,
            answered: false,
            is_settled: false,
        })
    }

    /// Keeps the end of what the launcher says.
    pub fn read_words(&mut self, epoll: &Epoll) {
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
                let _ = epoll.remove(reader);
                self.words_reader = None;
            }
        }
    }

    /// Ends the way. What became of the launcher is still to be learnt.
    pub fn close(&mut self, epoll: &Epoll) {
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
    pub fn give_up(&mut self, fault: String, epoll: &Epoll) {
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

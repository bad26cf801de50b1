//! mpiexec's own output or error, written as its reader takes it.

use crate::source::Source;
use crate::sys::{self, Epoll, Interest};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

/// With more than this not yet written, those who print wait.
const QUEUE_MAX_BYTES: usize = 1 << 20;
/// A pipe that is ready takes this much without blocking (`PIPE_BUF`).
const WRITE_BYTES: usize = 4096;

pub struct Sink {
    file: File,
    index: u32,
    queue: Vec<u8>,
    written: usize,
    waiting: bool,
    refusal: Option<Refusal>,
}

/// Why output cannot be written any more: what the job ends with.
#[derive(Clone)]
pub struct Refusal {
    /// mpiexec's exit code.
    pub code: i32,
    pub text: String,
}

impl Refusal {
    /// `what` is the file or stream that could not be written.
    pub fn new(what: &str, error: &io::Error) -> Refusal {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Refusal {
                code: 128 + libc::SIGPIPE,
                text: format!("{what} is closed; the job is ended"),
            },
            _ => Refusal {
                code: 1,
                text: format!("{what} cannot be written: {error}; the job is ended"),
            },
        }
    }
}

impl Sink {
    pub fn new(fd: io::Result<OwnedFd>, index: u32) -> Result<Sink, String> {
        Ok(Sink {
            file: File::from(fd.map_err(|error| format!("standard output: {error}"))?),
            index,
            queue: Vec::new(),
            written: 0,
            waiting: false,
            refusal: None,
        })
    }

    pub fn queue(&mut self) -> &mut Vec<u8> {
        &mut self.queue
    }

    /// Those who print are to wait.
    pub fn is_full(&self) -> bool {
        self.queue.len() - self.written > QUEUE_MAX_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Nobody takes any more.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    fn refuse(&mut self, error: &io::Error) {
        let what = ["standard output", "standard error"][self.index as usize];
        self.refusal
            .get_or_insert_with(|| Refusal::new(what, error));
    }

    /// Has what is in the queue written once there is room.
    pub fn wait_to_write(&mut self, epoll: &Epoll) -> io::Result<()> {
        if self.queue.is_empty() || self.waiting {
            return Ok(());
        }
        match epoll.add(
            &self.file,
            Source::Sink(self.index).token(),
            Interest::Write,
        ) {
            Ok(()) => self.waiting = true,
            Err(error) if sys::is_always_ready(&error) => {
                if let Err(error) = self.file.write_all(&self.queue) {
                    self.refuse(&error);
                }
                self.queue.clear();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// There is room. Answers whether all has been written.
    pub fn write(&mut self, epoll: &Epoll) -> io::Result<bool> {
        let end = self.queue.len().min(self.written + WRITE_BYTES);
        match self.file.write(&self.queue[self.written..end]) {
            Ok(count) => self.written += count,
            Err(error)
                if [io::ErrorKind::Interrupted, io::ErrorKind::WouldBlock]
                    .contains(&error.kind()) => {}
            Err(error) => {
                // Ranks may still print; nobody is to wait for room.
                self.refuse(&error);
                self.written = self.queue.len();
            }
        }
        let is_done = self.written == self.queue.len();
        if is_done {
            self.queue.clear();
            self.written = 0;
            self.waiting = false;
            epoll.remove(&self.file)?;
        }
        Ok(is_done)
    }
}

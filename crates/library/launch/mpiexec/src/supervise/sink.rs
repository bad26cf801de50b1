//! mpiexec's own output or error, written as its reader takes it.

use weft_kernel::{Interest, Poller};

use crate::source::Source;
use crate::sys::{self, OwnStream};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// With more than this not yet written, those who print wait.
const QUEUE_MAX_BYTES: usize = 1 << 20;
/// A pipe that is ready takes this much without blocking (`PIPE_BUF`).
const WRITE_BYTES: usize = 4096;

const NAMES: [&str; 2] = ["standard output", "standard error"];

pub struct Sink {
    stream: OwnStream,
    index: u32,
    queue: Vec<u8>,
    written: usize,
    waiting: bool,
    /// When its reader last took something, or was first waited for.
    moved: Instant,
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
    /// Standard output and standard error.
    pub fn both() -> Result<[Sink; 2], String> {
        Ok([Sink::new(&io::stdout(), 0)?, Sink::new(&io::stderr(), 1)?])
    }

    fn new(stream: &(impl AsFd + AsRawFd), index: u32) -> Result<Sink, String> {
        let stream = OwnStream::new(stream);
        Ok(Sink {
            stream: stream
                .map_err(sys::explained)
                .map_err(|error| format!("{}: {error}", NAMES[index as usize]))?,
            index,
            queue: Vec::new(),
            written: 0,
            waiting: false,
            moved: Instant::now(),
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
        self.refusal
            .get_or_insert_with(|| Refusal::new(NAMES[self.index as usize], error));
    }

    /// Has what is in the queue written once there is room.
    pub fn wait_to_write(&mut self, epoll: &Poller) -> io::Result<()> {
        if self.queue.is_empty() || self.waiting {
            return Ok(());
        }
        match epoll.add(
            &self.stream,
            Source::Sink(self.index).token(),
            Interest::Writing,
        ) {
            Ok(()) => {
                self.waiting = true;
                self.moved = Instant::now();
            }
            Err(error) if sys::is_always_ready(&error) => {
                if let Err(error) = self.write_all_now() {
                    self.refuse(&error);
                }
                self.queue.clear();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// To a file, which has no reader that could be slow.
    fn write_all_now(&self) -> io::Result<()> {
        let mut rest = &self.queue[..];
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Until when the reader of what is not yet written has time to take some of it.
    pub fn reader_until(&self, patience: Duration) -> Option<Instant> {
        self.waiting.then(|| self.moved + patience)
    }

    /// There is room. Answers whether all has been written.
    pub fn write(&mut self, epoll: &Poller) -> io::Result<bool> {
        let end = self.queue.len().min(self.written + WRITE_BYTES);
        match self.stream.write(&self.queue[self.written..end]) {
            Ok(count) => {
                self.written += count;
                self.moved = Instant::now();
            }
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
            epoll.remove(&self.stream);
        }
        Ok(is_done)
    }
}

//! One rank's output or error, as it comes or line by line with the rank in front.

use weft_kernel::{Interest, Poller};

use crate::source::Source;

use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;
use weft_bootstrap::pmi1::LineBuffer;

/// A line longer than this is broken up.
const LINE_MAX_BYTES: usize = 1 << 20;

pub struct Stream {
    /// `None` after its end.
    reader: Option<PipeReader>,
    index: u32,
    pub rank: u32,
    pub is_error: bool,
    /// Begins each line, where lines are kept whole.
    prefix: Option<String>,
    lines: LineBuffer,
    pub is_paused: bool,
}

impl Stream {
    /// Opens a pipe and waits for what comes; the other end is the rank's.
    pub fn open(
        index: u32,
        rank: u32,
        is_error: bool,
        by_line: bool,
        epoll: &Poller,
    ) -> io::Result<(Stream, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        epoll.add(&reader, Source::Stream(index).token(), Interest::Reading)?;
        let stream = Stream {
            reader: Some(reader),
            index,
            rank,
            is_error,
            prefix: by_line.then(|| format!("[{rank}] ")),
            lines: LineBuffer::new(LINE_MAX_BYTES),
            is_paused: false,
        };
        Ok((stream, writer.into()))
    }

    pub fn has_ended(&self) -> bool {
        self.reader.is_none()
    }

    /// Adds what has come and is to be passed on.
    pub fn read(&mut self, queue: &mut Vec<u8>) -> io::Result<()> {
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        let mut bytes = [0; 16 * 1024];
        match reader.read(&mut bytes) {
            Ok(0) => {
                self.reader = None;
                queue.extend(self.last_line());
            }
            Ok(count) if self.prefix.is_none() => queue.extend_from_slice(&bytes[..count]),
            Ok(count) => {
                self.lines.push(&bytes[..count]);
                self.pass_lines(queue);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Reads no more until [`Stream::resume`].
    pub fn pause(&mut self, epoll: &Poller) {
        self.is_paused = true;
        self.reader.iter().for_each(|reader| epoll.remove(reader));
    }

    pub fn resume(&mut self, epoll: &Poller) -> io::Result<()> {
        self.is_paused = false;
        let token = Source::Stream(self.index).token();
        let reader = self.reader.as_ref();
        reader.map_or(Ok(()), |reader| epoll.add(reader, token, Interest::Reading))
    }

    fn pass_lines(&mut self, queue: &mut Vec<u8>) {
        while let Some(line) = self.lines.next_line() {
            self.push_line(queue, &line);
        }
        if self.lines.too_long() {
            queue.extend(self.last_line());
        }
    }

    /// What stands after the last newline, as a line of its own.
    fn last_line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        let rest = self.lines.take_remainder();
        if !rest.is_empty() {
            self.push_line(&mut line, &rest);
        }
        line
    }

    fn push_line(&self, queue: &mut Vec<u8>, line: &[u8]) {
        queue.extend_from_slice(self.prefix.as_deref().unwrap_or_default().as_bytes());
        queue.extend_from_slice(line);
        queue.push(b'\n');
    }
}

//! The output of ranks: straight to mpiexec's own, into files, or line by line with the rank in front.

use super::source::Source;
use crate::arguments::Job;
use crate::sys::{self, Epoll, Interest};
use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use weft_bootstrap::pmi1::LineBuffer;

/// A line longer than this is broken up.
const LINE_MAX_BYTES: usize = 1 << 20;
/// With more than this not yet written, ranks wait.
const QUEUE_MAX_BYTES: usize = 1 << 20;
/// A pipe that is ready takes this much without blocking (`PIPE_BUF`).
const WRITE_BYTES: usize = 4096;

pub enum Output {
    Direct,
    Files(PathBuf),
    Prefixed(Prefixed),
}

pub struct Prefixed {
    streams: Vec<Stream>,
    sinks: [Sink; 2],
    refused: bool,
}

/// One rank's output or error.
struct Stream {
    /// `None` after its end.
    reader: Option<PipeReader>,
    prefix: String,
    lines: LineBuffer,
    sink: usize,
    paused: bool,
}

/// mpiexec's own output or error.
struct Sink {
    file: File,
    queue: Vec<u8>,
    written: usize,
    waiting: bool,
}

impl Output {
    pub fn new(job: &Job) -> Result<Output, String> {
        if let Some(directory) = &job.output_directory {
            std::fs::create_dir_all(directory)
                .map_err(|error| format!("--output-dir {}: {error}", directory.display()))?;
            return Ok(Output::Files(directory.clone()));
        }
        if !job.prefix_output {
            return Ok(Output::Direct);
        }
        let sink = |fd: io::Result<OwnedFd>| {
            let file = File::from(fd.map_err(|error| format!("standard output: {error}"))?);
            Ok::<Sink, String>(Sink {
                file,
                queue: Vec::new(),
                written: 0,
                waiting: false,
            })
        };
        let sinks = [
            sink(io::stdout().as_fd().try_clone_to_owned())?,
            sink(io::stderr().as_fd().try_clone_to_owned())?,
        ];
        Ok(Output::Prefixed(Prefixed {
            streams: Vec::new(),
            sinks,
            refused: false,
        }))
    }

    /// What a rank is to have as output and error, where not mpiexec's.
    pub fn open_rank(&mut self, rank: u32, epoll: &Epoll) -> io::Result<[Option<OwnedFd>; 2]> {
        match self {
            Output::Direct => Ok([None, None]),
            Output::Files(directory) => {
                let create =
                    |kind: &str| File::create(directory.join(format!("rank.{rank}.{kind}")));
                Ok([Some(create("out")?.into()), Some(create("err")?.into())])
            }
            Output::Prefixed(prefixed) => Ok([
                Some(prefixed.open(rank, 0, epoll)?),
                Some(prefixed.open(rank, 1, epoll)?),
            ]),
        }
    }

    /// A stream has something, or has ended.
    pub fn read(&mut self, index: u32, epoll: &Epoll) -> io::Result<()> {
        match self {
            Output::Prefixed(prefixed) => prefixed.read(index as usize, epoll),
            Output::Direct | Output::Files(_) => Ok(()),
        }
    }

    /// A sink has room.
    pub fn write(&mut self, index: u32, epoll: &Epoll) -> io::Result<()> {
        match self {
            Output::Prefixed(prefixed) => prefixed.write(index as usize, epoll),
            Output::Direct | Output::Files(_) => Ok(()),
        }
    }

    /// Everything that ranks have printed has been passed on.
    pub fn is_finished(&self) -> bool {
        match self {
            Output::Prefixed(prefixed) => {
                let ended = prefixed
                    .streams
                    .iter()
                    .all(|stream| stream.reader.is_none());
                prefixed.refused
                    || (ended && prefixed.sinks.iter().all(|sink| sink.queue.is_empty()))
            }
            Output::Direct | Output::Files(_) => true,
        }
    }

    /// Nobody reads mpiexec's output any more.
    pub fn is_refused(&self) -> bool {
        matches!(self, Output::Prefixed(prefixed) if prefixed.refused)
    }
}

impl Prefixed {
    fn open(&mut self, rank: u32, sink: usize, epoll: &Epoll) -> io::Result<OwnedFd> {
        let (reader, writer) = io::pipe()?;
        epoll.add(
            &reader,
            Source::Stream(self.streams.len() as u32).token(),
            Interest::Read,
        )?;
        self.streams.push(Stream {
            reader: Some(reader),
            prefix: format!("[{rank}] "),
            lines: LineBuffer::new(LINE_MAX_BYTES),
            sink,
            paused: false,
        });
        Ok(writer.into())
    }

    fn read(&mut self, index: usize, epoll: &Epoll) -> io::Result<()> {
        let stream = &mut self.streams[index];
        let Some(reader) = &mut stream.reader else {
            return Ok(());
        };
        let sink = &mut self.sinks[stream.sink];
        if sink.queue.len() - sink.written > QUEUE_MAX_BYTES {
            stream.paused = true;
            return epoll.remove(reader);
        }
        let mut bytes = [0; 16 * 1024];
        match reader.read(&mut bytes) {
            Ok(0) => {
                stream.reader = None;
                sink.queue.extend(stream.last_line());
            }
            Ok(count) => {
                stream.lines.push(&bytes[..count]);
                stream.pass_lines(&mut sink.queue);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        let sink_index = stream.sink;
        self.wait_to_write(sink_index, epoll)
    }

    fn wait_to_write(&mut self, index: usize, epoll: &Epoll) -> io::Result<()> {
        let sink = &mut self.sinks[index];
        if sink.queue.is_empty() || sink.waiting {
            return Ok(());
        }
        match epoll.add(
            &sink.file,
            Source::Sink(index as u32).token(),
            Interest::Write,
        ) {
            Ok(()) => sink.waiting = true,
            Err(error) if sys::is_always_ready(&error) => {
                self.refused |= sink.file.write_all(&sink.queue).is_err();
                sink.queue.clear();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn write(&mut self, index: usize, epoll: &Epoll) -> io::Result<()> {
        let sink = &mut self.sinks[index];
        let end = sink.queue.len().min(sink.written + WRITE_BYTES);
        match sink.file.write(&sink.queue[sink.written..end]) {
            Ok(count) => sink.written += count,
            Err(error)
                if [io::ErrorKind::Interrupted, io::ErrorKind::WouldBlock]
                    .contains(&error.kind()) => {}
            Err(_) => {
                // Ranks may still print; nobody is to wait for room.
                self.refused = true;
                sink.written = sink.queue.len();
            }
        }
        if sink.written == sink.queue.len() {
            sink.queue.clear();
            sink.written = 0;
            sink.waiting = false;
            epoll.remove(&sink.file)?;
            self.resume(index, epoll)?;
        }
        Ok(())
    }

    /// Reads again what had to wait for a sink.
    fn resume(&mut self, sink: usize, epoll: &Epoll) -> io::Result<()> {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if let Some(reader) = stream
                .reader
                .as_ref()
                .filter(|_| stream.sink == sink && stream.paused)
            {
                epoll.add(reader, Source::Stream(index as u32).token(), Interest::Read)?;
                stream.paused = false;
            }
        }
        Ok(())
    }
}

impl Stream {
    fn pass_lines(&mut self, queue: &mut Vec<u8>) {
        while let Some(line) = self.lines.next_line() {
            push_line(queue, &self.prefix, &line);
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
            push_line(&mut line, &self.prefix, &rest);
        }
        line
    }
}

fn push_line(queue: &mut Vec<u8>, prefix: &str, line: &[u8]) {
    queue.extend_from_slice(prefix.as_bytes());
    queue.extend_from_slice(line);
    queue.push(b'\n');
}

//! The output of ranks: straight to mpiexec's own, through mpiexec (line by line with the rank in front, or into files), or to
//! mpiexec from another host.

use weft_kernel::Poller;

use super::outlet::Outlet;
use super::own::Own;
use super::sink::Refusal;
use super::stream::Stream;

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

pub enum Output {
    Direct,
    Passed(Passed),
    Forwarded(Forwarded),
}

pub struct Passed {
    streams: Vec<Stream>,
    by_line: bool,
    outlet: Outlet,
}

/// An agent's: read while mpiexec has room for it.
pub struct Forwarded {
    streams: Vec<Stream>,
    by_line: bool,
    /// How much may be sent until mpiexec has written some; less than nothing after a long line.
    credit_bytes: i64,
    outbox: Vec<OutputChunk>,
    /// mpiexec takes no more.
    is_refused: bool,
}

/// Output of a rank, on its way to mpiexec.
pub struct OutputChunk {
    pub rank: u32,
    pub is_error: bool,
    pub bytes: Vec<u8>,
}

impl Output {
    /// mpiexec's own.
    pub fn new(by_line: bool, own: &Own) -> Result<Output, String> {
        if !by_line && own.output_directory.is_none() {
            return Ok(Output::Direct);
        }
        Ok(Output::Passed(Passed {
            streams: Vec::new(),
            by_line,
            outlet: Outlet::new(own)?,
        }))
    }

    /// An agent's, which may send this much at first.
    pub fn forwarded(by_line: bool, window_bytes: u32) -> Output {
        Output::Forwarded(Forwarded {
            streams: Vec::new(),
            by_line,
            credit_bytes: window_bytes.into(),
            outbox: Vec::new(),
            is_refused: false,
        })
    }

    /// What a rank is to have as output and error, where not mpiexec's.
    pub fn open_rank(&mut self, rank: u32, epoll: &Poller) -> io::Result<[Option<OwnedFd>; 2]> {
        let (streams, by_line) = match self {
            Output::Direct => return Ok([None, None]),
            Output::Passed(passed) => {
                passed.outlet.create(rank)?;
                (&mut passed.streams, passed.by_line)
            }
            Output::Forwarded(forwarded) => (&mut forwarded.streams, forwarded.by_line),
        };
        let mut open = |is_error| -> io::Result<Option<OwnedFd>> {
            let index = streams.len() as u32;
            let (stream, writer) = Stream::open(index, rank, is_error, by_line, epoll)?;
            streams.push(stream);
            Ok(Some(writer))
        };
        Ok([open(false)?, open(true)?])
    }

    /// A stream has something, or has ended.
    pub fn read(&mut self, index: u32, epoll: &Poller) -> io::Result<()> {
        match self {
            Output::Passed(passed) => passed.read(index as usize, epoll),
            Output::Forwarded(forwarded) => forwarded.read(index as usize, epoll),
            Output::Direct => Ok(()),
        }
    }

    /// A sink has room.
    pub fn write(&mut self, index: u32, epoll: &Poller) -> io::Result<()> {
        match self {
            Output::Passed(passed) => passed.write(index, epoll),
            Output::Direct | Output::Forwarded(_) => Ok(()),
        }
    }

    /// Everything that ranks have printed has been passed on.
    pub fn is_finished(&self) -> bool {
        match self {
            Output::Passed(passed) => {
                let ended = passed.streams.iter().all(Stream::has_ended);
                passed.outlet.is_finished() && (ended || self.refusal().is_some())
            }
            Output::Forwarded(forwarded) => {
                let ended = forwarded.streams.iter().all(Stream::has_ended);
                forwarded.is_refused || (ended && forwarded.outbox.is_empty())
            }
            Output::Direct => true,
        }
    }

    /// Until when whoever reads has time to take some of what is there.
    pub fn reader_until(&self, patience: Duration) -> Option<Instant> {
        match self {
            Output::Passed(passed) => passed.outlet.reader_until(patience),
            Output::Direct | Output::Forwarded(_) => None,
        }
    }

    /// Everything that is to be passed on has been.
    pub fn close(&mut self) {
        if let Output::Passed(passed) = self {
            passed.outlet.close();
        }
    }

    /// mpiexec's own output, or a rank's file, cannot be written any more.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Output::Passed(passed) => passed.outlet.refusal(),
            Output::Direct | Output::Forwarded(_) => None,
        }
    }

    /// What an agent is to send.
    pub fn take_outbox(&mut self) -> Vec<OutputChunk> {
        match self {
            Output::Forwarded(forwarded) => std::mem::take(&mut forwarded.outbox),
            Output::Direct | Output::Passed(_) => Vec::new(),
        }
    }

    /// mpiexec has written so much of what an agent has sent.
    pub fn add_credit(&mut self, bytes: u32, epoll: &Poller) -> io::Result<()> {
        match self {
            Output::Forwarded(forwarded) => forwarded.add_credit(bytes, epoll),
            Output::Direct | Output::Passed(_) => Ok(()),
        }
    }

    /// There is nobody to send to any more; ranks that print are not to wait.
    pub fn refuse(&mut self, epoll: &Poller) -> io::Result<()> {
        match self {
            Output::Forwarded(forwarded) => {
                forwarded.is_refused = true;
                forwarded.outbox.clear();
                forwarded.resume(epoll)
            }
            Output::Direct | Output::Passed(_) => Ok(()),
        }
    }
}

impl Passed {
    fn read(&mut self, index: usize, epoll: &Poller) -> io::Result<()> {
        let stream = &mut self.streams[index];
        if self.outlet.is_full(stream.is_error) {
            stream.pause(epoll);
            return Ok(());
        }
        let mut bytes = Vec::new();
        stream.read(&mut bytes)?;
        self.outlet.put(stream.rank, stream.is_error, &bytes, epoll)
    }

    fn write(&mut self, index: u32, epoll: &Poller) -> io::Result<()> {
        if !self.outlet.write(index, epoll)? {
            return Ok(());
        }
        let of_sink =
            |stream: &&mut Stream| stream.is_paused && u32::from(stream.is_error) == index;
        let mut paused = self.streams.iter_mut().filter(of_sink);
        paused.try_for_each(|stream| stream.resume(epoll))
    }
}

impl Forwarded {
    fn read(&mut self, index: usize, epoll: &Poller) -> io::Result<()> {
        let stream = &mut self.streams[index];
        if self.credit_bytes <= 0 && !self.is_refused {
            stream.pause(epoll);
            return Ok(());
        }
        let mut bytes = Vec::new();
        stream.read(&mut bytes)?;
        if !bytes.is_empty() && !self.is_refused {
            self.credit_bytes -= bytes.len() as i64;
            self.outbox.push(OutputChunk {
                rank: stream.rank,
                is_error: stream.is_error,
                bytes,
            });
        }
        Ok(())
    }

    fn add_credit(&mut self, bytes: u32, epoll: &Poller) -> io::Result<()> {
        self.credit_bytes += i64::from(bytes);
        if self.credit_bytes > 0 {
            self.resume(epoll)
        } else {
            Ok(())
        }
    }

    fn resume(&mut self, epoll: &Poller) -> io::Result<()> {
        let mut paused = self.streams.iter_mut().filter(|stream| stream.is_paused);
        paused.try_for_each(|stream| stream.resume(epoll))
    }
}

//! Standard input copied to ranks: mpiexec's own to every rank (`--stdin all`), or what mpiexec sends an agent to those
//! that are to read it.
//!
//! One chunk at a time: the next is read when every rank has taken the last, so the slowest rank sets the pace and memory
//! is bounded. A rank that closes its input is passed over.

use weft_kernel::{Interest, Poller};

use crate::source::Source;
use crate::sys;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;

const CHUNK_BYTES: usize = 64 * 1024;

pub struct SharedInput {
    chunk: Vec<u8>,
    ranks: Vec<RankInput>,
    /// Waited for by epoll at this moment.
    waiting: bool,
    /// Regular files are always ready and epoll does not take them.
    always_ready: bool,
}

struct RankInput {
    /// Index of the rank.
    rank: u32,
    /// `None` when the rank has closed it, or standard input has ended.
    writer: Option<PipeWriter>,
    /// Bytes of the chunk that it has taken.
    taken: usize,
    waiting: bool,
}

impl SharedInput {
    pub fn new() -> SharedInput {
        SharedInput {
            chunk: Vec::new(),
            ranks: Vec::new(),
            waiting: false,
            always_ready: false,
        }
    }

    /// The standard input of a rank.
    pub fn open_rank(&mut self, rank: u32) -> io::Result<OwnedFd> {
        let (reader, writer) = io::pipe()?;
        sys::set_nonblocking(&writer)?;
        self.ranks.push(RankInput {
            rank,
            writer: Some(writer),
            taken: 0,
            waiting: false,
        });
        Ok(reader.into())
    }

    /// Starts to read, once every rank is open.
    pub fn begin(&mut self, epoll: &Poller) -> io::Result<()> {
        self.wait_for_more(epoll)
    }

    fn wait_for_more(&mut self, epoll: &Poller) -> io::Result<()> {
        if !self.always_ready && !self.waiting {
            match epoll.add(&io::stdin(), Source::Stdin.token(), Interest::Reading) {
                Ok(()) => self.waiting = true,
                Err(error) if sys::is_always_ready(&error) => self.always_ready = true,
                Err(error) => return Err(error),
            }
        }
        if self.always_ready {
            self.read(epoll)
        } else {
            Ok(())
        }
    }

    /// Standard input has something.
    pub fn read(&mut self, epoll: &Poller) -> io::Result<()> {
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            let count = match io::stdin().lock().read(&mut chunk) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            chunk.truncate(count);
            if std::mem::take(&mut self.waiting) {
                epoll.remove(&io::stdin());
            }
            if count == 0 {
                self.ranks.iter_mut().for_each(|rank| rank.writer = None);
                return Ok(());
            }
            self.chunk = chunk;
            self.ranks.iter_mut().for_each(|rank| rank.taken = 0);
            self.offer(epoll)?;
            if !self.is_taken() || !self.always_ready {
                return if self.is_taken() {
                    self.wait_for_more(epoll)
                } else {
                    Ok(())
                };
            }
            if self.ranks.iter().all(|rank| rank.writer.is_none()) {
                return Ok(());
            }
        }
    }

    /// A rank of mpiexec's own has room.
    pub fn write_and_read(&mut self, rank: u32, epoll: &Poller) -> io::Result<()> {
        self.write(rank, epoll)?;
        if self.is_wanted() && self.is_taken() && !self.waiting {
            self.wait_for_more(epoll)
        } else {
            Ok(())
        }
    }

    /// A rank has room.
    pub fn write(&mut self, rank: u32, epoll: &Poller) -> io::Result<()> {
        let mut inputs = self.ranks.iter_mut().filter(|input| input.rank == rank);
        inputs.try_for_each(|input| input.offer(&self.chunk, epoll))
    }

    /// Gives ranks what mpiexec has sent; nothing is the end.
    pub fn feed(&mut self, chunk: Vec<u8>, epoll: &Poller) -> io::Result<()> {
        if chunk.is_empty() {
            self.ranks.iter_mut().for_each(|rank| rank.writer = None);
        }
        self.chunk = chunk;
        self.ranks.iter_mut().for_each(|rank| rank.taken = 0);
        self.offer(epoll)
    }

    fn offer(&mut self, epoll: &Poller) -> io::Result<()> {
        let mut inputs = self.ranks.iter_mut();
        inputs.try_for_each(|input| input.offer(&self.chunk, epoll))
    }

    /// A rank may read on.
    pub fn is_wanted(&self) -> bool {
        self.ranks.iter().any(|rank| rank.writer.is_some())
    }

    pub fn is_taken(&self) -> bool {
        self.ranks
            .iter()
            .all(|rank| rank.writer.is_none() || rank.taken == self.chunk.len())
    }
}

impl RankInput {
    /// Gives the rank what it takes of the rest of the chunk, and waits for room for what remains.
    fn offer(&mut self, chunk: &[u8], epoll: &Poller) -> io::Result<()> {
        while let Some(writer) = self.writer.as_mut().filter(|_| self.taken < chunk.len()) {
            match writer.write(&chunk[self.taken..]) {
                Ok(count) => self.taken += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !std::mem::replace(&mut self.waiting, true) {
                        epoll.add(
                            writer,
                            Source::RankInput(self.rank).token(),
                            Interest::Writing,
                        )?;
                    }
                    return Ok(());
                }
                // The rank has closed its input, or ended.
                Err(_) => self.writer = None,
            }
        }
        match &self.writer {
            Some(writer) if std::mem::take(&mut self.waiting) => epoll.remove(writer),
            _ => self.waiting = false,
        }
        Ok(())
    }
}

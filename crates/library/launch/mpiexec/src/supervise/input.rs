//! Standard input copied to every rank (`--stdin all`).
//!
//! One chunk at a time: the next is read when every rank has taken the last, so the slowest rank sets the pace and memory
//! is bounded. A rank that closes its input is passed over.

use super::source::Source;
use crate::sys::{self, Epoll, Interest};
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

    /// The standard input of the next rank.
    pub fn open_rank(&mut self) -> io::Result<OwnedFd> {
        let (reader, writer) = io::pipe()?;
        sys::set_nonblocking(&writer)?;
        self.ranks.push(RankInput {
            writer: Some(writer),
            taken: 0,
            waiting: false,
        });
        Ok(reader.into())
    }

    /// Starts to read, once every rank is open.
    pub fn begin(&mut self, epoll: &Epoll) -> io::Result<()> {
        self.wait_for_more(epoll)
    }

    fn wait_for_more(&mut self, epoll: &Epoll) -> io::Result<()> {
        if !self.always_ready && !self.waiting {
            match epoll.add(&io::stdin(), Source::Stdin.token(), Interest::Read) {
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
    pub fn read(&mut self, epoll: &Epoll) -> io::Result<()> {
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            let count = match io::stdin().lock().read(&mut chunk) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            chunk.truncate(count);
            if std::mem::take(&mut self.waiting) {
                epoll.remove(&io::stdin())?;
            }
            if count == 0 {
                self.ranks.iter_mut().for_each(|rank| rank.writer = None);
                return Ok(());
            }
            self.chunk = chunk;
            self.ranks.iter_mut().for_each(|rank| rank.taken = 0);
            for number in 0..self.ranks.len() {
                self.ranks[number].offer(&self.chunk, number as u32, epoll)?;
            }
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

    /// A rank has room.
    pub fn write(&mut self, number: u32, epoll: &Epoll) -> io::Result<()> {
        self.ranks[number as usize].offer(&self.chunk, number, epoll)?;
        let wanted = self.ranks.iter().any(|rank| rank.writer.is_some());
        if wanted && self.is_taken() && !self.waiting {
            self.wait_for_more(epoll)
        } else {
            Ok(())
        }
    }

    fn is_taken(&self) -> bool {
        self.ranks
            .iter()
            .all(|rank| rank.writer.is_none() || rank.taken == self.chunk.len())
    }
}

impl RankInput {
    /// Gives the rank what it takes of the rest of the chunk, and waits for room for what remains.
    fn offer(&mut self, chunk: &[u8], number: u32, epoll: &Epoll) -> io::Result<()> {
        while let Some(writer) = self.writer.as_mut().filter(|_| self.taken < chunk.len()) {
            match writer.write(&chunk[self.taken..]) {
                Ok(count) => self.taken += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !std::mem::replace(&mut self.waiting, true) {
                        epoll.add(writer, Source::RankInput(number).token(), Interest::Write)?;
                    }
                    return Ok(());
                }
                // The rank has closed its input, or ended.
                Err(_) => self.writer = None,
            }
        }
        match &self.writer {
            Some(writer) if std::mem::take(&mut self.waiting) => epoll.remove(writer),
            _ => {
                self.waiting = false;
                Ok(())
            }
        }
    }
}

//! mpiexec's standard input on its way to the hosts whose ranks read it.
//!
//! One chunk at a time: the next is read when every host has said that its ranks have taken the last.

use weft_kernel::{Interest, Poller};

use crate::source::Source;
use crate::sys;
use std::io::{self, Read};

const CHUNK_BYTES: usize = 64 * 1024;

pub struct Input {
    /// Hosts whose ranks read on, and whether they still owe an answer.
    readers: Vec<(u32, bool)>,
    /// Waited for by epoll at this moment.
    waits: bool,
    /// Regular files are always ready and epoll does not take them.
    is_always_ready: bool,
}

impl Input {
    pub fn new(hosts: Vec<u32>) -> Input {
        Input {
            readers: hosts.into_iter().map(|host| (host, false)).collect(),
            waits: false,
            is_always_ready: false,
        }
    }

    pub fn hosts(&self) -> Vec<u32> {
        self.readers.iter().map(|(host, _)| *host).collect()
    }

    /// Waits until there is something to read. Answers the next chunk where that is at once; an empty one is the end.
    pub fn wait(&mut self, epoll: &Poller) -> io::Result<Option<Vec<u8>>> {
        if self.readers.is_empty() || self.waits || self.readers.iter().any(|(_, owes)| *owes) {
            return Ok(None);
        }
        if !self.is_always_ready {
            match epoll.add(&io::stdin(), Source::Stdin.token(), Interest::Reading) {
                Ok(()) => {
                    self.waits = true;
                    return Ok(None);
                }
                Err(error) if sys::is_always_ready(&error) => self.is_always_ready = true,
                Err(error) => return Err(error),
            }
        }
        self.read(epoll).map(Some)
    }

    /// Reads a chunk, which every reader is to be sent; an empty one is the end.
    pub fn read(&mut self, epoll: &Poller) -> io::Result<Vec<u8>> {
        let mut chunk = vec![0; CHUNK_BYTES];
        let count = loop {
            match io::stdin().lock().read(&mut chunk) {
                Ok(count) => break count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A terminal that is gone, or another's, reads as one that has ended.
                Err(_) => break 0,
            }
        };
        chunk.truncate(count);
        if std::mem::take(&mut self.waits) {
            epoll.remove(&io::stdin());
        }
        self.readers.iter_mut().for_each(|(_, owes)| *owes = true);
        Ok(chunk)
    }

    /// A host's ranks have taken the last chunk, and read on or not.
    pub fn taken(&mut self, host: u32, more: bool) {
        match more {
            true => self
                .readers
                .iter_mut()
                .filter(|(reader, _)| *reader == host)
                .for_each(|(_, owes)| *owes = false),
            false => self.forget(host),
        }
    }

    /// The host reads no more.
    pub fn forget(&mut self, host: u32) {
        self.readers.retain(|(reader, _)| *reader != host);
    }

    pub fn end(&mut self) {
        self.readers.clear();
    }
}

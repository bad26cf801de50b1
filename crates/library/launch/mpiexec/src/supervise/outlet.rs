//! Where mpiexec puts the output of ranks: its own output and error, or files.

use weft_kernel::Poller;

use super::files::Files;
use super::own::Own;
use super::sink::{Refusal, Sink};

use std::io;
use std::time::{Duration, Instant};

pub enum Outlet {
    Own([Sink; 2]),
    Files(Files),
}

impl Outlet {
    pub fn new(own: &Own) -> Result<Outlet, String> {
        match own.output_directory {
            Some(directory) => Files::new(directory).map(Outlet::Files),
            None => Sink::both().map(Outlet::Own),
        }
    }

    /// A rank is to be started.
    pub fn create(&mut self, rank: u32) -> io::Result<()> {
        match self {
            Outlet::Own(_) => Ok(()),
            Outlet::Files(files) => files.create(rank),
        }
    }

    /// Takes what a rank has printed.
    pub fn put(
        &mut self,
        rank: u32,
        is_error: bool,
        bytes: &[u8],
        epoll: &Poller,
    ) -> io::Result<()> {
        match self {
            Outlet::Files(files) => {
                files.write(rank, is_error, bytes);
                Ok(())
            }
            Outlet::Own(sinks) => {
                let sink = &mut sinks[usize::from(is_error)];
                sink.queue().extend_from_slice(bytes);
                sink.wait_to_write(epoll)
            }
        }
    }

    /// Those who print there are to wait.
    pub fn is_full(&self, is_error: bool) -> bool {
        match self {
            Outlet::Own(sinks) => {
                let sink = &sinks[usize::from(is_error)];
                sink.is_full() && sink.refusal().is_none()
            }
            Outlet::Files(_) => false,
        }
    }

    /// mpiexec's output or error has room. Answers whether all of it has been written.
    pub fn write(&mut self, index: u32, epoll: &Poller) -> io::Result<bool> {
        match self {
            Outlet::Own(sinks) => sinks[index as usize].write(epoll),
            Outlet::Files(_) => Ok(true),
        }
    }

    /// Nothing is left to be written, or nothing can be.
    pub fn is_finished(&self) -> bool {
        let is_empty = match self {
            Outlet::Own(sinks) => sinks.iter().all(Sink::is_empty),
            Outlet::Files(_) => true,
        };
        is_empty || self.refusal().is_some()
    }

    /// Until when whoever reads has time to take some of what is there.
    pub fn reader_until(&self, patience: Duration) -> Option<Instant> {
        match self {
            Outlet::Own(sinks) => {
                let until = sinks.iter().filter_map(|sink| sink.reader_until(patience));
                until.max()
            }
            Outlet::Files(_) => None,
        }
    }

    /// All has been put.
    pub fn close(&mut self) {
        if let Outlet::Files(files) = self {
            files.close();
        }
    }

    /// It cannot be written any more.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Outlet::Own(sinks) => sinks.iter().find_map(Sink::refusal),
            Outlet::Files(files) => files.refusal(),
        }
    }
}

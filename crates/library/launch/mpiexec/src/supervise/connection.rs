//! The bytes of one rank's PMI connection.

use weft_kernel::{Interest, Poller};

use crate::pmi::LINE_MAX_BYTES;
use crate::source::Source;
use crate::sys::{self, Pid};
use std::io;
use std::os::fd::OwnedFd;
use weft_bootstrap::pmi1::LineBuffer;

/// With more than this not yet taken by the rank, its questions wait.
const OUTGOING_MAX_BYTES: usize = 64 * 1024;

pub struct Connection {
    socket: OwnedFd,
    rank: u32,
    incoming: LineBuffer,
    outgoing: Vec<u8>,
    interest: Interest,
    /// Who sent what was read last.
    pub peer: Option<Pid>,
}

pub enum Arrival {
    Line(Vec<u8>),
    /// Nothing more for now.
    Nothing,
    /// A line longer than any of PMI's.
    Endless,
    /// Nobody holds the other end any more.
    End,
}

impl Connection {
    pub fn new(socket: OwnedFd, rank: u32, epoll: &Poller) -> io::Result<Connection> {
        let interest = Interest::Reading;
        epoll.add(&socket, Source::Connection(rank).token(), interest)?;
        let incoming = LineBuffer::new(LINE_MAX_BYTES);
        Ok(Connection {
            socket,
            rank,
            incoming,
            outgoing: Vec::new(),
            interest,
            peer: None,
        })
    }

    pub fn next_line(&mut self) -> Arrival {
        loop {
            if self.outgoing.len() > OUTGOING_MAX_BYTES {
                return Arrival::Nothing;
            }
            if let Some(line) = self.incoming.next_line() {
                return Arrival::Line(line);
            }
            if self.incoming.too_long() {
                return Arrival::Endless;
            }
            let mut bytes = [0; 4096];
            match sys::receive(&self.socket, &mut bytes) {
                Ok((0, _)) => return Arrival::End,
                Ok((count, peer)) => {
                    self.peer = peer.filter(|&pid| pid > 0);
                    self.incoming.push(&bytes[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Arrival::Nothing,
                // The rank closed with answers unread.
                Err(_) => return Arrival::End,
            }
        }
    }

    pub fn send(&mut self, line: &str) {
        self.outgoing.extend_from_slice(line.as_bytes());
        self.flush();
    }

    /// Sends what the rank takes now. A rank that is gone takes nothing, which its end will tell.
    pub fn flush(&mut self) {
        while !self.outgoing.is_empty() {
            match sys::send(&self.socket, &self.outgoing) {
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.outgoing.clear(),
            }
        }
    }

    /// Waits for room to send while there is something to send, and for questions unless too much is unsent.
    pub fn update_interest(&mut self, epoll: &Poller) -> io::Result<()> {
        let interest = match self.outgoing.len() {
            0 => Interest::Reading,
            unsent if unsent > OUTGOING_MAX_BYTES => Interest::Writing,
            _ => Interest::Both,
        };
        if interest != self.interest {
            self.interest = interest;
            epoll.change(
                &self.socket,
                Source::Connection(self.rank).token(),
                interest,
            )?;
        }
        Ok(())
    }
}

//! Who this process is, as far as making connections goes, and what it waits with.

use std::io::{self, Read};
use std::time::Duration;

use socket2::{SockRef, Socket, TcpKeepalive};
use weft_transport::Peer;

use crate::card::Key;
use crate::handshake::{Hello, JobHash, Purpose};
use crate::interfaces::Interface;
use crate::system::{Poller, Ticker};

/// One connection of this process's: at most one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    pub peer: Peer,
    pub lane: u32,
    pub purpose: Purpose,
}

impl Link {
    pub fn of(hello: &Hello) -> Link {
        Link {
            peer: hello.from,
            lane: hello.lane,
            purpose: hello.purpose,
        }
    }
}

pub struct Identity {
    pub rank: Peer,
    pub size: u32,
    pub lanes: u32,
    pub job: JobHash,
    pub key: Key,
    pub timeout: Option<Duration>,
    /// Of this host.
    pub interfaces: Vec<Interface>,
    /// What the whole process waits with.
    pub poller: Poller,
    /// Runs while connections are being made.
    pub ticker: Ticker,
}

impl Identity {
    /// Makes a connection fit for messages: nothing is held back, and a host that is silent for too long is found out.
    pub fn tune(&self, socket: &Socket) -> io::Result<()> {
        socket.set_tcp_nodelay(true)?;
        if let Some(timeout) = self.timeout {
            let idle = (timeout / 3).max(Duration::from_secs(1));
            let between = (timeout / 6).max(Duration::from_secs(1));
            let keepalive = TcpKeepalive::new()
                .with_time(idle)
                .with_interval(between)
                .with_retries(4);
            let socket = SockRef::from(socket);
            socket.set_tcp_keepalive(&keepalive)?;
            socket.set_tcp_user_timeout(Some(timeout))?;
        }
        Ok(())
    }
}

/// Reads on until `buffer` is full: whether it is.
pub fn fill(mut socket: &Socket, buffer: &mut [u8], filled: &mut usize) -> io::Result<bool> {
    while *filled < buffer.len() {
        match socket.read(&mut buffer[*filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => *filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

//! Who this process is, as far as making connections goes, and what it waits with.

use std::io::{self, Read};
use std::time::Duration;

use socket2::{SockAddr, SockRef, Socket, TcpKeepalive};
use weft_credentials::{JobHash, Key};
use weft_transport::Peer;

use crate::handshake::{Hello, Purpose};
use crate::interfaces::Interface;
use crate::paths::{self, Path};
use crate::system::{Poller, Ticker};

/// One connection of this process's: at most one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionName {
    pub peer: Peer,
    pub lane: u32,
    pub purpose: Purpose,
}

impl ConnectionName {
    pub fn of(hello: &Hello) -> ConnectionName {
        ConnectionName {
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
    /// The addresses of this host by which others could be reached.
    pub interfaces: Vec<Interface>,
    /// Those that peers are told, each interface's together.
    pub told: Vec<Interface>,
    /// What the whole process waits with.
    pub poller: Poller,
    /// Runs while connections are being made.
    pub ticker: Ticker,
}

/// A connection for stripes is given up after so long a silence, as what it had can go by others.
const STRIPE_SILENCE: Duration = Duration::from_secs(5);

impl Identity {
    /// How long a connection's other end may leave what was sent there without an answer.
    pub fn silence(&self, purpose: Purpose) -> Option<Duration> {
        match purpose {
            Purpose::Stripe(_) => Some(
                self.timeout
                    .map_or(STRIPE_SILENCE, |all| all.min(STRIPE_SILENCE)),
            ),
            Purpose::Packets | Purpose::Bulk => self.timeout,
        }
    }

    /// Makes a connection fit for messages: nothing is held back, and a host that is silent for too long is found out, here while nothing is
    /// under way, else by `silence`.
    pub fn tune(&self, socket: &Socket, purpose: Purpose) -> io::Result<()> {
        socket.set_tcp_nodelay(true)?;
        if let Some(timeout) = self.silence(purpose) {
            let idle = (timeout / 3).max(Duration::from_secs(1));
            let between = (timeout / 6).max(Duration::from_secs(1));
            let keepalive = TcpKeepalive::new()
                .with_time(idle)
                .with_interval(between)
                .with_retries(4);
            SockRef::from(socket).set_tcp_keepalive(&keepalive)?;
        }
        Ok(())
    }
}

impl Identity {
    /// The interfaces by name, whose traffic is counted apart.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.told.iter().map(|one| one.name.as_str()).collect();
        names.dedup();
        names
    }

    /// The place among them of the one by which a connection goes; the one behind the last if that is not known.
    pub fn traffic_of(&self, path: Option<Path>) -> usize {
        let names = self.names();
        let own = path.and_then(|path| paths::own_end(&self.told, &path));
        let place = own.and_then(|own| names.iter().position(|name| *name == own.name));
        place.unwrap_or(names.len())
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

/// The addresses of a connection, this side's and the other's.
pub fn path(socket: &Socket) -> Option<Path> {
    let plain = |address: SockAddr| Some(address.as_socket()?.ip().to_canonical());
    Some(Path {
        own: plain(socket.local_addr().ok()?)?,
        theirs: plain(socket.peer_addr().ok()?)?,
    })
}

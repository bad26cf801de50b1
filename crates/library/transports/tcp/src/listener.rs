//! The socket on which a process accepts connections.
//!
//! A process that has no descriptor left cannot accept whoever connects, and whoever connects would wait for it for ever. So one
//! descriptor is spare: it is given up for as long as it takes to accept a connection and refuse it, by its reason.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use weft_kernel::above_standard;

use crate::handshake::{Refusal, Reply};
use crate::system::{Interest, Poller};

/// Connections accepted in one step.
const ACCEPTED_AT_ONCE: usize = 16;

pub struct Listener {
    socket: Socket,
    spare: Option<Socket>,
    /// The system could not accept: nothing is accepted until the next tick.
    is_paused: bool,
}

impl Listener {
    /// A socket that accepts connections on an address of this host, or on every one, and its port.
    pub fn new(address: Option<IpAddr>) -> io::Result<(Listener, u16)> {
        let socket = match address {
            Some(address) => bind((address, 0).into()),
            None => bind((Ipv6Addr::UNSPECIFIED, 0).into())
                .or_else(|_| bind((Ipv4Addr::UNSPECIFIED, 0).into())),
        };
        let socket = socket?;
        socket.listen(4096)?;
        let address = socket.local_addr()?.as_socket();
        let port = address.ok_or_else(|| io::Error::other("a listener without an address"))?;
        let listener = Listener {
            spare: Some(socket.try_clone()?),
            socket,
            is_paused: false,
        };
        Ok((listener, port.port()))
    }

    pub fn watch(&self, poller: &Poller, token: u64) -> io::Result<()> {
        poller.add(&self.socket, token, Interest::Reading)
    }

    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Hands over who has connected, some at a time. `make_room` gives up a descriptor that somebody else can do without, if there is one.
    pub fn accept(
        &mut self,
        poller: &Poller,
        token: u64,
        mut make_room: impl FnMut() -> bool,
        mut take: impl FnMut(Socket),
    ) {
        for _ in 0..ACCEPTED_AT_ONCE {
            match above_standard(|| self.socket.accept()) {
                Ok((socket, _)) => take(socket),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EMFILE | libc::ENFILE) if make_room() || self.refuse() => {}
                    Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) => {
                        return self.pause(poller, token);
                    }
                    // Whoever connected has ended it again.
                    Some(libc::ECONNABORTED | libc::EINTR) => {}
                    _ => return,
                },
            }
        }
    }

    /// Refuses a connection for want of descriptors. Whether that could be done.
    fn refuse(&mut self) -> bool {
        if self.spare.take().is_none() {
            return false;
        }
        let accepted = above_standard(|| self.socket.accept());
        if let Ok((socket, _)) = &accepted {
            let reply = Reply::Refused(Refusal::Full).put();
            // Whoever does not hear it finds the connection ended.
            let _ = socket.send_with_flags(&reply, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT);
        }
        let could = accepted.is_ok();
        drop(accepted);
        self.spare = self.socket.try_clone().ok();
        could
    }

    /// Those that wait to be accepted wait on.
    fn pause(&mut self, poller: &Poller, token: u64) {
        let paused = poller.change(&self.socket, token, Interest::Nothing);
        self.is_paused = paused.is_ok();
    }

    /// Goes on after a pause, if there is one.
    pub fn resume(&mut self, poller: &Poller, token: u64) {
        if self.spare.is_none() {
            self.spare = self.socket.try_clone().ok();
        }
        if self.is_paused {
            let resumed = poller.change(&self.socket, token, Interest::Reading);
            self.is_paused = resumed.is_err();
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<Socket> {
    let kind = Type::STREAM.nonblocking().cloexec();
    let domain = Domain::for_address(address);
    let socket = above_standard(|| Socket::new(domain, kind, Some(Protocol::TCP)))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

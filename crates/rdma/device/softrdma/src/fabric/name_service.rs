//! The fabric's name: an abstract socket that one member keeps, by which newcomers find the fabric segment.
//!
//! # Protocol
//! 1. The process that binds the name is its *server*, the others are its clients. It has a fabric segment before it listens, so a process that can connect can
//!    join.
//! 2. A server looks for a segment in which somebody lives before it makes one: in all processes of the user that it can see, by
//!    the names of their memfds.
//! 3. A process that connects learns the server's process from the kernel, and takes the segment from its descriptors; where that is not
//!    allowed, the server's agent sends it. No step needs the server to run, where /proc shows it.
//! 4. A newcomer shows itself in the segment (state LIVE), *then* asks for the name again. If that does not lead to the same
//!    server it withdraws and begins anew. So a process that won the name since saw it in rule 2, or was itself seen as the server: there are
//!    never two segments with members.
//! 5. When a server dies its connections break. Members then try to bind the name themselves; a newcomer that is faster finds
//!    the segment by rule 2. In a child after fork(2) the name is closed, so that it does not outlive the server.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

use super::fabric_segment::{self, JoinError, memfd_name};
use super::identity::{self, Identity};
use super::mapping::{self, Mapping};
use super::processes;
use super::socket::{self, Address};

/// How long a server's agent may take to hand the segment over.
const HANDOVER_MS: i32 = 2000;

/// What a server sends: which server it is.
const GREETING_BYTES: usize = 8;

/// How the name was reached.
pub enum NameAnswer {
    /// It is ours, and nobody can connect yet.
    Won(OwnedFd),
    /// Somebody keeps it.
    Held(Server),
    /// The process that has it is not ready, or just gone: ask again.
    NotYet,
}

/// The server, at the other end of a connection.
pub struct Server {
    connection: OwnedFd,
    /// 0 if it cannot be seen from this PID namespace.
    pid: u32,
    greeting: Option<[u8; GREETING_BYTES]>,
}

/// This process's part in keeping the name.
pub enum NameService {
    Server {
        listener: OwnedFd,
        greeting: [u8; GREETING_BYTES],
        /// Connections that tell members when this process dies.
        clients: Vec<OwnedFd>,
    },
    Client {
        server: OwnedFd,
    },
}

pub fn address(identity: &Identity, fabric: &str) -> Result<Address, JoinError> {
    let name = format!("softrdma.{}.{fabric}", identity.user);
    Address::new(&name).ok_or(JoinError::Name)
}

/// Asks for the name.
pub fn request_name(address: &Address, identity: &Identity) -> Result<NameAnswer, JoinError> {
    let socket = socket::open(libc::SOCK_SEQPACKET)?;
    match socket::bind(socket.as_fd(), address) {
        Ok(()) => Ok(NameAnswer::Won(socket)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => visit(address, identity),
        Err(error) => Err(error.into()),
    }
}

/// Connects to whoever keeps the name.
fn visit(address: &Address, identity: &Identity) -> Result<NameAnswer, JoinError> {
    let connection = socket::open(libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK)?;
    match socket::connect(connection.as_fd(), address) {
        Ok(()) => {}
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::ECONNREFUSED | libc::EAGAIN)
            ) =>
        {
            return Ok(NameAnswer::NotYet);
        }
        Err(error) => return Err(error.into()),
    }
    let peer = socket::peer(connection.as_fd())?;
    if peer.uid != identity.user {
        return Err(JoinError::OtherUser(peer.uid));
    }
    Ok(NameAnswer::Held(Server {
        connection,
        pid: peer.pid as u32,
        greeting: None,
    }))
}

impl Server {
    /// Its fabric segment; none if it is gone.
    pub fn segment(&mut self, fabric: &str) -> Result<Option<OwnedFd>, JoinError> {
        if self.pid != 0
            && let Some(memfd) = segments_of(self.pid, fabric).next()
        {
            return Ok(Some(memfd));
        }
        if !socket::wait(self.connection.as_fd(), HANDOVER_MS) {
            return Err(JoinError::Silent(self.pid));
        }
        let mut greeting = [0; GREETING_BYTES];
        let Ok(message) = socket::receive(self.connection.as_fd(), &mut greeting) else {
            return Ok(None);
        };
        self.greeting = (message.bytes == GREETING_BYTES).then_some(greeting);
        Ok(message.descriptor)
    }

    /// Whether a connection made later leads to the same server.
    fn is_same(&self, later: &Server) -> bool {
        if self.pid != 0 || later.pid != 0 {
            return self.pid == later.pid;
        }
        // The greeting's descriptor is not asked for: closing one would end this process's lock (`processes`, rule 4).
        let mut greeting = [0u8; GREETING_BYTES];
        socket::wait(later.connection.as_fd(), HANDOVER_MS);
        let got = socket::receive_bytes(later.connection.as_fd(), &mut greeting);
        self.greeting.is_some() && got == Some(GREETING_BYTES) && self.greeting == Some(greeting)
    }

    /// Asks for the name again: the part of a client, if it leads to the same server (rule 4).
    pub fn confirm(
        self,
        address: &Address,
        identity: &Identity,
    ) -> Result<Option<NameService>, JoinError> {
        Ok(match visit(address, identity)? {
            NameAnswer::Held(later) if self.is_same(&later) => {
                Some(NameService::client(later.connection))
            }
            _ => None,
        })
    }
}

impl NameService {
    fn client(server: OwnedFd) -> NameService {
        close_in_children(server.as_fd());
        NameService::Client { server }
    }

    /// Begins to keep the name.
    pub fn open(listener: OwnedFd) -> io::Result<NameService> {
        close_in_children(listener.as_fd());
        socket::set_nonblocking(listener.as_fd())?;
        socket::listen(listener.as_fd())?;
        Ok(NameService::Server {
            listener,
            greeting: identity::random_key()?.to_ne_bytes(),
            clients: Vec::new(),
        })
    }

    /// Readable when there is something to do: a newcomer, or the server's death.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            NameService::Server { listener, .. } => listener.as_fd(),
            NameService::Client { server } => server.as_fd(),
        }
    }

    /// Greets newcomers, or follows a server that died. True if the descriptor is another one now.
    pub fn attend(
        &mut self,
        address: &Address,
        identity: &Identity,
        fabric: &Mapping,
    ) -> Result<bool, JoinError> {
        match self {
            NameService::Server {
                listener,
                greeting,
                clients,
            } => {
                while let Some(client) = socket::accept(listener.as_fd()) {
                    // One that left again needs no greeting.
                    let _ = socket::send(client.as_fd(), None, greeting, Some(fabric.memfd()));
                    clients.push(client);
                }
                clients.retain(|client| !socket::hung_up(client.as_fd()));
                Ok(false)
            }
            NameService::Client { server } if socket::hung_up(server.as_fd()) => {
                let next = match request_name(address, identity)? {
                    NameAnswer::Won(listener) => NameService::open(listener)?,
                    NameAnswer::Held(server) => NameService::client(server.connection),
                    NameAnswer::NotYet => return Ok(false),
                };
                *self = next;
                Ok(true)
            }
            NameService::Client { server } => {
                // The greeting, which is not needed.
                socket::receive_bytes(server.as_fd(), &mut [0; GREETING_BYTES]);
                Ok(false)
            }
        }
    }
}

/// Fabric segments that process `pid` has open.
fn segments_of(pid: u32, fabric: &str) -> impl Iterator<Item = OwnedFd> {
    let wanted = memfd_name(fabric);
    let directory = std::fs::read_dir(format!("/proc/{pid}/fd"));
    directory.into_iter().flatten().filter_map(move |entry| {
        let number = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let memfd = mapping::open_descriptor(pid, number, &wanted).ok()?;
        mapping::trusted(memfd.as_fd()).then_some(memfd)
    })
}

/// A fabric segment of this host in which somebody lives (rule 2).
pub fn find_living(fabric: &str, identity: &Identity) -> Option<Mapping> {
    let processes = std::fs::read_dir("/proc").ok()?;
    let mut pids = processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&pid| pid != identity.pid);
    pids.find_map(|pid| {
        segments_of(pid, fabric).find_map(|memfd| {
            let mapping = fabric_segment::check(memfd, fabric, identity).ok()?;
            processes::any_alive(&mapping).then_some(mapping)
        })
    })
}

/// Descriptors to close in children; -1 where there is none.
static CLOSED_IN_CHILDREN: [AtomicI32; 8] = [const { AtomicI32::new(-1) }; 8];

/// Has fork(2) close `socket` in the child. What was listed before and is gone makes room.
fn close_in_children(socket: BorrowedFd<'_>) {
    extern "C" fn in_child() {
        for place in &CLOSED_IN_CHILDREN {
            let fd = place.swap(-1, Ordering::Relaxed);
            if fd >= 0 {
                // SAFETY: the child's copy of a descriptor that its parent's fabric owns, which the child never uses.
                unsafe { libc::close(fd) };
            }
        }
    }
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // SAFETY: the handler only closes descriptors, which is allowed there (signal-safety(7)).
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    let fd = socket.as_raw_fd();
    let listed = CLOSED_IN_CHILDREN
        .iter()
        .any(|place| place.load(Ordering::Relaxed) == fd);
    if !listed {
        CLOSED_IN_CHILDREN.iter().find(|place| {
            let empty = place.compare_exchange(-1, fd, Ordering::Relaxed, Ordering::Relaxed);
            empty.is_ok()
        });
    }
}

impl Drop for NameService {
    fn drop(&mut self) {
        let fd = self.descriptor().as_raw_fd();
        for place in &CLOSED_IN_CHILDREN {
            let _ = place.compare_exchange(fd, -1, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

//! The sockets of the process, and the thread that listens to them.
//!
//! An *endpoint* is a socket with what it stands for: a listener, or one side of a connection at some stage. Endpoints are
//! named by tokens that are never used again, so who holds one finds the endpoint or nothing.
//!
//! 1. All endpoints lie in one table under one lock. The thread handles what it hears with the lock held.
//! 2. An endpoint's owner is an identifier and the channel that its news go to. `rdma_destroy_id` takes the endpoint out of
//!    the table before the identifier is freed, `rdma_migrate_id` changes the channel under the lock, and a channel outlives
//!    the identifiers on it. So the pointers are good while the lock is held.
//! 3. The thread never looks into an identifier: it only says in the news whom they are about.

use std::collections::HashMap;
use std::ffi::c_int;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use weft_kernel::{Interest, Poller};

use crate::abi::*;
use crate::address;
use crate::call::{Errno, Outcome, system};
use crate::channel::{Channel, News};
use crate::message::{self, Message, MessageKind};

/// Why a connection that nobody listens for is rejected, in the numbers of the InfiniBand specification.
const INVALID_SERVICE: c_int = 8;

const NO_DESCRIPTOR_PAUSE: Duration = Duration::from_millis(10);

/// Whom news are for.
#[derive(Clone, Copy)]
pub struct Owner {
    pub id: *mut rdma_cm_id,
    pub channel: *const Channel,
}

// SAFETY: rule 2 above.
unsafe impl Send for Owner {}

impl Owner {
    fn tell(self, event: rdma_cm_event_type, status: c_int, token: u64, peer: Option<Message>) {
        let news = News {
            about: self.id,
            event,
            status,
            token,
            peer,
        };
        // SAFETY: rule 2 above.
        unsafe { (*self.channel).push(news) };
    }
}

/// What the application is told of a connect that failed.
fn not_connected(error: c_int) -> (rdma_cm_event_type, c_int) {
    match error {
        libc::ECONNREFUSED => (RDMA_CM_EVENT_REJECTED, INVALID_SERVICE),
        other => (RDMA_CM_EVENT_UNREACHABLE, -other),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Listening,
    /// The TCP connection is being made.
    Connecting,
    /// The request is out.
    Requested,
    /// The reply is there, the application has not answered it yet.
    Answered,
    /// Somebody has connected, and not said why.
    Arriving,
    /// The request is with the application.
    Asked,
    /// The reply is out.
    Replied,
    Established,
    /// We have disconnected.
    Leaving,
}

struct Endpoint {
    socket: OwnedFd,
    stage: Stage,
    owner: Option<Owner>,
    /// Of one that came in: the listener's token.
    listener: u64,
    /// What is said once connected.
    request: Option<Message>,
    /// The beginning of a message.
    input: Vec<u8>,
}

#[derive(Default)]
struct Table {
    last_token: u64,
    endpoints: HashMap<u64, Endpoint>,
}

pub struct Sockets {
    poller: Poller,
    table: Mutex<Table>,
}

/// Starts the thread when it is first called.
pub fn sockets() -> Outcome<&'static Sockets> {
    static SOCKETS: OnceLock<Result<Sockets, Errno>> = OnceLock::new();
    static THREAD: OnceLock<bool> = OnceLock::new();
    let sockets = SOCKETS.get_or_init(|| {
        let poller = Poller::new()?;
        let table = Mutex::default();
        Ok(Sockets { poller, table })
    });
    let sockets = sockets.as_ref().map_err(|errno| *errno)?;
    let started = THREAD.get_or_init(|| {
        let builder = std::thread::Builder::new().name("softrdma-cm".into());
        builder.spawn(|| sockets.run()).is_ok()
    });
    if *started {
        Ok(sockets)
    } else {
        Err(Errno(libc::EAGAIN))
    }
}

impl Sockets {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, table: &mut Table, endpoint: Endpoint, interest: Interest) -> Outcome<u64> {
        table.last_token += 1;
        let token = table.last_token;
        self.poller.add(&endpoint.socket, token, interest)?;
        table.endpoints.insert(token, endpoint);
        Ok(token)
    }

    pub fn listen(&self, socket: OwnedFd, backlog: c_int, owner: Owner) -> Outcome<u64> {
        let backlog = if backlog > 0 {
            backlog
        } else {
            libc::SOMAXCONN
        };
        // SAFETY: the socket is open.
        system(unsafe { libc::listen(socket.as_raw_fd(), backlog) })?;
        let endpoint = Endpoint::new(socket, Stage::Listening, Some(owner));
        self.enter(&mut self.lock(), endpoint, Interest::Reading)
    }

    pub fn connect(
        &self,
        socket: OwnedFd,
        target: SocketAddr,
        owner: Owner,
        request: Message,
    ) -> Outcome<u64> {
        let (storage, length) = address::write(target);
        // The lock keeps the thread from an answer that comes before the endpoint is in the table.
        let mut table = self.lock();
        // SAFETY: the address is as long as said.
        let answer =
            unsafe { libc::connect(socket.as_raw_fd(), (&raw const storage).cast(), length) };
        if let Err(errno) = system(answer) {
            // What goes wrong at once is told like what goes wrong later.
            if errno != Errno(libc::EINPROGRESS) {
                let (event, status) = not_connected(errno.0);
                owner.tell(event, status, 0, None);
                return Ok(0);
            }
        }
        let endpoint = Endpoint {
            request: Some(request),
            ..Endpoint::new(socket, Stage::Connecting, Some(owner))
        };
        self.enter(&mut table, endpoint, Interest::Writing)
    }

    /// Says something, and is at another stage from then on. ENOTCONN when the connection is gone or at none of `stages`.
    pub fn say(&self, token: u64, stages: &[Stage], message: &Message, next: Stage) -> Outcome {
        let mut table = self.lock();
        let endpoint = table
            .endpoints
            .get_mut(&token)
            .filter(|endpoint| stages.contains(&endpoint.stage));
        let endpoint = endpoint.ok_or(Errno(libc::ENOTCONN))?;
        endpoint.stage = next;
        endpoint.send(message)
    }

    /// A connection that has come in gets its identifier. The addresses of its two ends; `None` when it is gone.
    pub fn adopt(&self, token: u64, owner: Owner) -> Option<(SocketAddr, SocketAddr)> {
        let mut table = self.lock();
        let endpoint = table.endpoints.get_mut(&token)?;
        endpoint.owner = Some(owner);
        let local = address::local(&endpoint.socket).ok()?;
        let remote = address::remote(&endpoint.socket).ok()?;
        Some((local, remote))
    }

    pub fn migrate(&self, token: u64, channel: *const Channel) {
        if let Some(endpoint) = self.lock().endpoints.get_mut(&token)
            && let Some(owner) = &mut endpoint.owner
        {
            owner.channel = channel;
        }
    }

    /// Closes the socket; nobody hears of it here. Connections that came in for a listener and that nobody has taken go
    /// with it.
    pub fn forget(&self, token: u64) {
        let mut table = self.lock();
        table.endpoints.remove(&token);
        table.endpoints.retain(|_, endpoint| {
            let waits = matches!(endpoint.stage, Stage::Arriving | Stage::Asked);
            !(waits && endpoint.owner.is_none() && endpoint.listener == token)
        });
    }

    fn run(&self) {
        loop {
            for token in self.poller.ready_within(None) {
                self.hear(&mut self.lock(), token);
            }
        }
    }

    /// Something has happened at a socket.
    fn hear(&self, table: &mut Table, token: u64) {
        let Some(mut endpoint) = table.endpoints.remove(&token) else {
            return;
        };
        let stays = match endpoint.stage {
            Stage::Listening => self.welcome(table, &endpoint, token),
            Stage::Connecting => self.connected(&mut endpoint, token),
            _ => endpoint.read(table, token),
        };
        if stays {
            table.endpoints.insert(token, endpoint);
        }
    }

    fn welcome(&self, table: &mut Table, listener: &Endpoint, token: u64) -> bool {
        loop {
            let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            // SAFETY: a new descriptor, owned from here on; no address is asked for.
            let socket = unsafe {
                let none = std::ptr::null_mut();
                libc::accept4(listener.socket.as_raw_fd(), none, none.cast(), flags)
            };
            if socket < 0 {
                // Without a descriptor to be had the connection waits, and so does the thread: it would be told at once again.
                if matches!(Errno::last(), Errno(libc::EMFILE | libc::ENFILE)) {
                    std::thread::sleep(NO_DESCRIPTOR_PAUSE);
                }
                return true;
            }
            // SAFETY: as above.
            let socket = unsafe { OwnedFd::from_raw_fd(socket) };
            let endpoint = Endpoint {
                listener: token,
                ..Endpoint::new(socket, Stage::Arriving, None)
            };
            // One that cannot be watched is closed, and its peer is told by that.
            let _ = self.enter(table, endpoint, Interest::Reading);
        }
    }

    fn connected(&self, endpoint: &mut Endpoint, token: u64) -> bool {
        let error = endpoint.error();
        if error != 0 {
            let (event, status) = not_connected(error);
            endpoint.tell(event, status, token, None);
            return false;
        }
        endpoint.stage = Stage::Requested;
        let request = endpoint.request.take();
        let said = request.ok_or(Errno(libc::EINVAL)).and_then(|request| {
            let socket = &endpoint.socket;
            self.poller.change(socket, token, Interest::Reading)?;
            endpoint.send(&request)
        });
        if said.is_err() {
            endpoint.lost(token);
        }
        said.is_ok()
    }
}

impl Endpoint {
    fn new(socket: OwnedFd, stage: Stage, owner: Option<Owner>) -> Endpoint {
        Endpoint {
            socket,
            stage,
            owner,
            listener: 0,
            request: None,
            input: Vec::new(),
        }
    }

    fn tell(&self, event: rdma_cm_event_type, status: c_int, token: u64, peer: Option<Message>) {
        if let Some(owner) = self.owner {
            owner.tell(event, status, token, peer);
        }
    }

    fn error(&self) -> c_int {
        let mut error: c_int = 0;
        let mut length = size_of::<c_int>() as libc::socklen_t;
        // SAFETY: an integer option.
        let answer = unsafe {
            let target = (&raw mut error).cast();
            let socket = self.socket.as_raw_fd();
            libc::getsockopt(
                socket,
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                target,
                &raw mut length,
            )
        };
        if answer < 0 { libc::EIO } else { error }
    }

    /// Each side says a few short messages, so the socket always has room.
    fn send(&self, message: &Message) -> Outcome {
        let bytes = message.encode();
        // SAFETY: the bytes are as long as said.
        let sent = unsafe {
            let socket = self.socket.as_raw_fd();
            libc::send(
                socket,
                bytes.as_ptr().cast(),
                bytes.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        if sent == bytes.len() as isize {
            Ok(())
        } else {
            Err(Errno(libc::ECONNRESET))
        }
    }

    /// Reads what is there. Whether the endpoint stays.
    fn read(&mut self, table: &mut Table, token: u64) -> bool {
        loop {
            let mut bytes = [0u8; message::LEN];
            let room = message::LEN - self.input.len();
            // SAFETY: no more than the room that there is.
            let count =
                unsafe { libc::recv(self.socket.as_raw_fd(), bytes.as_mut_ptr().cast(), room, 0) };
            if count < 0 && Errno::last() == Errno(libc::EAGAIN) {
                return true;
            }
            if count <= 0 {
                self.lost(token);
                return false;
            }
            self.input.extend_from_slice(&bytes[..count as usize]);
            let Ok(whole) = <&[u8; message::LEN]>::try_from(&self.input[..]) else {
                continue;
            };
            let message = Message::decode(whole);
            self.input.clear();
            let stays = match message {
                Some(message) => self.understand(table, token, message),
                None => None,
            };
            match stays {
                Some(true) => {}
                Some(false) => return false,
                None => {
                    self.lost(token);
                    return false;
                }
            }
        }
    }

    /// Whether the endpoint stays; `None` when the message makes no sense at this stage.
    fn understand(&mut self, table: &Table, token: u64, message: Message) -> Option<bool> {
        let datagrams = u32::from(message.port_space) == RDMA_PS_UDP;
        match (self.stage, message.kind) {
            (Stage::Arriving, MessageKind::Request) => {
                let listener = table.endpoints.get(&self.listener)?;
                self.stage = Stage::Asked;
                listener.tell(RDMA_CM_EVENT_CONNECT_REQUEST, 0, token, Some(message));
                Some(true)
            }
            (Stage::Requested, MessageKind::Reply) if datagrams => {
                self.tell(RDMA_CM_EVENT_ESTABLISHED, 0, token, Some(message));
                Some(false)
            }
            (Stage::Requested, MessageKind::Reply) => {
                self.stage = Stage::Answered;
                self.tell(RDMA_CM_EVENT_CONNECT_RESPONSE, 0, token, Some(message));
                Some(true)
            }
            (Stage::Replied, MessageKind::Ready) => {
                self.stage = Stage::Established;
                self.tell(RDMA_CM_EVENT_ESTABLISHED, 0, token, None);
                Some(true)
            }
            (Stage::Requested | Stage::Replied, MessageKind::Reject) => {
                let reason = message.reason as c_int;
                self.tell(RDMA_CM_EVENT_REJECTED, reason, token, Some(message));
                Some(false)
            }
            (
                Stage::Answered | Stage::Replied | Stage::Established | Stage::Leaving,
                MessageKind::Disconnect,
            ) => {
                self.tell(RDMA_CM_EVENT_DISCONNECTED, 0, token, None);
                Some(false)
            }
            _ => None,
        }
    }

    /// The connection is gone, or what it says makes no sense.
    fn lost(&self, token: u64) {
        let (event, status) = match self.stage {
            Stage::Listening | Stage::Arriving | Stage::Asked => return,
            Stage::Connecting | Stage::Requested | Stage::Answered => {
                (RDMA_CM_EVENT_UNREACHABLE, -libc::ECONNRESET)
            }
            Stage::Replied => (RDMA_CM_EVENT_CONNECT_ERROR, -libc::ECONNRESET),
            Stage::Established | Stage::Leaving => (RDMA_CM_EVENT_DISCONNECTED, 0),
        };
        self.tell(event, status, token, None);
    }
}

#[cfg(test)]
mod tests;

//! Waking other processes: completion channels and agents.
//!
//! A completion channel's descriptor *is* a datagram socket with an abstract name; an event is a datagram that names the
//! completion queue. A socket holds only so many datagrams (net.unix.max_dgram_qlen). When one does not fit:
//! 1. the sender marks the queue (`event_waits`), counts up `events_behind` in the receiver's segment, and tries again once
//!    (a mark and a datagram may both tell of one event: whoever clears the mark speaks for it);
//! 2. the receiver looks at `events_behind` after each datagram it has taken, and sends itself what is marked. If the second try
//!    failed there was still a datagram to be taken after the mark was there; so no event is left behind.
//!
//! Datagrams may come from anyone in the network namespace: those of other users are dropped, and what ours say is only an index,
//! which is checked.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;

use super::completion::queue::Cq;
use super::own_segment::OwnSegment;
use super::segment::{ObjectId, Segment};
use super::socket::{self, Address};

/// Bytes of an event's datagram: the name of the completion queue.
const EVENT_BYTES: usize = 8;

/// A socket to send from.
pub struct Sender {
    socket: OwnedFd,
}

fn channel_address(key: u64, channel: u32) -> Address {
    Address::new(&format!("softrdma.{key:016x}.{channel}")).expect("a short name")
}

fn agent_address(key: u64) -> Address {
    Address::new(&format!("softrdma.{key:016x}.agent")).expect("a short name")
}

impl Sender {
    pub fn new() -> io::Result<Sender> {
        Ok(Sender {
            socket: socket::open(libc::SOCK_DGRAM | libc::SOCK_NONBLOCK)?,
        })
    }

    /// Sends the event of `cq`, which wants one, to its owner's channel.
    pub fn completion_event(&self, segment: &Segment, cq: Cq<'_>, channel: u32) {
        let key = segment.header().key.load(Ordering::Relaxed);
        let address = channel_address(key, channel);
        if self.event(&address, cq.id()) {
            return;
        }
        cq.event_waits().store(1, Ordering::SeqCst);
        segment
            .header()
            .events_behind
            .fetch_add(1, Ordering::SeqCst);
        if cq.event_waits().swap(0, Ordering::SeqCst) == 1 && !self.event(&address, cq.id()) {
            cq.event_waits().store(1, Ordering::SeqCst);
            segment
                .header()
                .events_behind
                .fetch_add(1, Ordering::SeqCst);
        }
    }

    /// False if there is no room now. A channel that is gone wants nothing.
    fn event(&self, address: &Address, id: ObjectId) -> bool {
        let sent = socket::send(
            self.socket.as_fd(),
            Some(address),
            &id.word().to_ne_bytes(),
            None,
        );
        !sent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Rings the agent of the process whose segment this is.
    pub(super) fn ring(&self, segment: &Segment) {
        let address = agent_address(segment.header().key.load(Ordering::Relaxed));
        // With no room there is a doorbell not yet heard; with no agent there is nobody to hear it.
        let _ = socket::send(self.socket.as_fd(), Some(&address), &[], None);
    }

    /// Asks the agent of the process of `key` for its segment, which it may send to `answer_to`.
    pub(super) fn ask_for_segment(&self, key: u64, answer_to: &str) -> io::Result<()> {
        let address = agent_address(key);
        socket::send(
            self.socket.as_fd(),
            Some(&address),
            answer_to.as_bytes(),
            None,
        )
    }
}

/// A completion channel of this process.
pub struct Channel {
    socket: OwnedFd,
    number: u32,
}

impl Channel {
    /// Its descriptor blocks until the user says otherwise.
    pub fn create(own_segment: &OwnSegment) -> io::Result<Channel> {
        let socket = socket::open(libc::SOCK_DGRAM)?;
        let number = own_segment.next_channel();
        socket::bind(socket.as_fd(), &channel_address(own_segment.key(), number))?;
        socket::ask_for_senders(socket.as_fd())?;
        Ok(Channel { socket, number })
    }

    /// Which of the process's channels it is.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The next event: the completion queue that has one, which may have been destroyed since. Waits for it unless the descriptor was
    /// made non-blocking.
    pub fn receive(&self, own_segment: &OwnSegment, sender: &Sender) -> io::Result<ObjectId> {
        // SAFETY: takes nothing.
        let user = unsafe { libc::geteuid() };
        loop {
            let mut event = [0; EVENT_BYTES];
            let message = socket::receive(self.socket.as_fd(), &mut event)?;
            self.catch_up(own_segment, sender);
            let ours = message.user == Some(user) && message.bytes == EVENT_BYTES;
            if let (true, Some(id)) = (ours, ObjectId::from_word(u64::from_ne_bytes(event))) {
                return Ok(id);
            }
        }
    }

    /// Sends what did not fit.
    fn catch_up(&self, own_segment: &OwnSegment, sender: &Sender) {
        let segment = own_segment.segment();
        if segment.header().events_behind.load(Ordering::SeqCst) == 0 {
            return;
        }
        segment.header().events_behind.store(0, Ordering::SeqCst);
        for id in own_segment.cqs() {
            let cq = segment.cq(id);
            if cq.event_waits().swap(0, Ordering::SeqCst) == 1
                && let Some(channel) = cq.channel()
            {
                sender.completion_event(segment, cq, channel);
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The doorbell of this process's agent.
pub struct AgentDoorbell {
    socket: OwnedFd,
}

impl AgentDoorbell {
    pub fn create(own_segment: &OwnSegment) -> io::Result<AgentDoorbell> {
        let socket = socket::open(libc::SOCK_DGRAM | libc::SOCK_NONBLOCK)?;
        socket::bind(socket.as_fd(), &agent_address(own_segment.key()))?;
        socket::ask_for_senders(socket.as_fd())?;
        Ok(AgentDoorbell { socket })
    }

    /// Takes all rings, answers those that ask for the segment. The mailbox's doorbell is to be cleared, and the mailbox looked at,
    /// afterwards.
    pub fn take_rings(&self, own_segment: &OwnSegment) {
        // SAFETY: takes nothing.
        let user = unsafe { libc::geteuid() };
        let mut question = [0; 64];
        while let Ok(message) = socket::receive(self.socket.as_fd(), &mut question) {
            let asked = std::str::from_utf8(&question[..message.bytes]);
            let answer_to = asked
                .ok()
                .filter(|name| !name.is_empty())
                .and_then(Address::new);
            if let (true, Some(address)) = (message.user == Some(user), answer_to) {
                let memfd = own_segment.segment().mapping().memfd();
                // A process that no longer waits for the answer needs none.
                let _ = socket::send(self.socket.as_fd(), Some(&address), b"segment", Some(memfd));
            }
        }
    }
}

impl AsFd for AgentDoorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

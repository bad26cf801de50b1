//! Everything of the device that lies in memory shared between processes.
//!
//! A process [joins](Fabric::join) the fabric of its user, its host (network namespace) and a name, and stays in it until it
//! ends: there is no leaving, since a process that ends and one that is killed must look the same to the others. Nothing
//! is named in any file system; what a process leaves is taken back by the others (`reap`).
//!
//! | module | what |
//! |---|---|
//! | `mapping`, `layout` | memfds, checked access; what lies where |
//! | `numbers`, `identity`, `processes`, `reap` | slots, owners, queue pair numbers; who lives; taking back |
//! | `door`, `founding`, `socket` | finding the fabric by its name |
//! | `look` | looking into it without joining |
//! | `lock` | locks that survive their holders |
//! | `segment`, `home`, `heap`, `peers` | a process's segment: as all see it, as its owner does, as it is found |
//! | `regions` | keys of memory, and the marks of who uses it |
//! | `queue_pair`, `receive`, `receiving`, `completion` | queues that peers execute against |
//! | `memory`, `few`, `atomics` | moving bytes, the short lists for that, changing words |
//! | `relay` | asking a peer's agent for what the kernel does not let this process do |
//! | `mailbox`, `notify` | messages to agents, events |
//! | `pages`, `xrc`, `target` | UAR pages, XRC domains and their queue pairs, these queue pairs between hosts |
//!
//! # Executing a SEND against a peer
//! ```text
//! let peer = fabric.peer(number.slot())?;                     // once for a connection
//! let qp = peer.segment().qp(number.index());                 // state, dest_qpn, receive_cq: right?
//! let turn = peer.segment().receive_ring(number.index()).turn(fabric.processes(), POSTING)?;
//! let Some(request) = turn.request() else { /* RNR */ };
//! for sge in request.sges() { peer.visit(sge.lkey, hint)?.region().span(..)? }
//! unsafe { peer.copy(Direction::Write, &local, &spans)? };
//! let received = turn.finish(peer.segment().cq(id), &completion, solicited, POSTING)?;
//! if let Some(channel) = received.pushed.notify { fabric.notify(&peer, channel, id) }
//! ```

pub mod atomics;
pub mod completion;
mod door;
mod few;
mod founding;
mod heap;
pub mod home;
pub mod identity;
pub mod layout;
pub mod lock;
pub mod look;
pub mod mailbox;
pub mod mapping;
pub mod memory;
pub mod notify;
pub mod numbers;
pub mod pages;
pub mod peers;
pub mod processes;
pub mod queue_pair;
mod reap;
pub mod receive;
pub mod receiving;
pub mod regions;
pub mod relay;
pub mod segment;
mod socket;
pub mod target;
pub mod xrc;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::os::fd::RawFd;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use atomics::{AtomicError, Operation as AtomicOperation};
pub use completion::{Arm, CARRIED_BYTES, Carried, Completion, Cq, Parcel, PushError, Pushed};
pub use few::Few;
pub use home::Home;
pub use lock::{Busy, PATIENT, POSTING};
pub use mailbox::{Letter, MailError};
pub use memory::{Direction, Local, MemoryError, Reach};
pub use numbers::{FABRIC_SLOT, Number, Owner};
pub use peers::{Peer, PeerError};
pub use processes::Processes;
pub use queue_pair::QpRecord;
pub use regions::{KeyError, Region, Span, Visit, own_region, visit};
pub use segment::{ObjectId, Segment};

use door::{Answer, Door};
use home::Ground;
use identity::Identity;
use mapping::Mapping;
use notify::Sender;
use pages::Pages;
use peers::Peers;
use processes::ClaimError;
use socket::Address;
use target::TargetRecord;
use xrc::Domains;

/// How long a newcomer waits for a keeper that does not get ready.
const JOIN_TIME: Duration = Duration::from_secs(10);

/// This process's membership of a fabric.
pub struct Fabric {
    processes: Processes,
    home: &'static Home,
    own: Peer,
    peers: Peers,
    domains: Domains,
    sender: Sender,
    abandoned: relay::Abandoned,
    address: Address,
    door: Mutex<Door>,
}

/// By process, as a child after fork(2) has a copy of its parent's, and by the fabric's name.
type Joined = HashMap<(u32, String), &'static Fabric>;

static JOINED: Mutex<Option<Joined>> = Mutex::new(None);

/// Why the fabric cannot be joined.
#[derive(Debug)]
pub enum JoinError {
    /// The fabric's name is too long.
    Name,
    /// Its name is held by another user.
    OtherUser(u32),
    /// All slots are taken by processes that live.
    Full,
    /// The process that keeps the name neither lets itself be seen nor answers.
    Silent(u32),
    /// Nobody was ready in time.
    Late,
    /// The fabric was made by another version of this library.
    Version,
    /// What was found is not the fabric's segment.
    NotOurs,
    System(io::Error),
}

impl From<io::Error> for JoinError {
    fn from(error: io::Error) -> JoinError {
        JoinError::System(error)
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Name => write!(formatter, "the fabric's name is too long"),
            JoinError::OtherUser(user) => {
                write!(formatter, "the fabric's name is held by user {user}")
            }
            JoinError::Full => {
                let most = numbers::PROCESSES;
                write!(
                    formatter,
                    "the fabric has {most} processes already, the most it can have"
                )
            }
            JoinError::Silent(pid) => write!(
                formatter,
                "process {pid}, which keeps the fabric's name, does not answer"
            ),
            JoinError::Late => write!(formatter, "nobody made the fabric ready in time"),
            JoinError::Version => write!(
                formatter,
                "the fabric was made by another version of this library; end its processes or take another name"
            ),
            JoinError::NotOurs => write!(formatter, "what was found is not the fabric's memory"),
            JoinError::System(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for JoinError {}

impl Fabric {
    /// This process's membership of the fabric called `name`, begun if it is the first call. A child after fork(2) becomes a member of
    /// its own.
    pub fn join(name: &str) -> Result<&'static Fabric, JoinError> {
        let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
        let joined = joined.get_or_insert_default();
        let key = (std::process::id(), name.to_owned());
        if let Some(fabric) = joined.get(&key) {
            return Ok(fabric);
        }
        let fabric: &Fabric = Box::leak(Box::new(Fabric::enter(name)?));
        joined.insert(key, fabric);
        Ok(fabric)
    }

    /// This process's membership of the fabric called `name`, if it has joined it.
    pub fn joined(name: &str) -> Option<&'static Fabric> {
        Fabric::unless_joined(name, |joined| joined)
    }

    /// Does `what` while no thread of this process joins a fabric: `what` may close descriptors of its segment.
    fn unless_joined<T>(name: &str, what: impl FnOnce(Option<&'static Fabric>) -> T) -> T {
        let joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (std::process::id(), name.to_owned());
        what(joined.as_ref().and_then(|joined| joined.get(&key).copied()))
    }

    fn enter(name: &str) -> Result<Fabric, JoinError> {
        let identity = Identity::of_process()?;
        let address = door::address(&identity, name)?;
        identity::allow_copies();
        let ground = Ground::create()?;
        let (processes, door) = find_place(name, &address, &identity, &ground)?;
        let home = Box::leak(Box::new(Home::new(ground, &processes)));
        let own = Peer::own(&processes, home).ok_or(JoinError::NotOurs)?;
        Ok(Fabric {
            processes,
            home,
            own,
            peers: Peers::new(),
            domains: Domains::new(),
            sender: Sender::new()?,
            abandoned: relay::Abandoned::default(),
            address,
            door: Mutex::new(door),
        })
    }

    #[inline]
    pub fn me(&self) -> Owner {
        self.processes.me()
    }

    #[inline]
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// This process's segment.
    #[inline]
    pub fn home(&self) -> &'static Home {
        self.home
    }

    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// As [`home`](Self::home), as others see it.
    #[inline]
    pub fn segment(&self) -> &'static Segment {
        self.home.segment()
    }

    /// This process as a peer of its own.
    #[inline]
    pub fn own(&self) -> &Peer {
        &self.own
    }

    /// The process that has `slot` now, this one included; none if there is none, or it cannot be reached.
    #[inline]
    pub fn peer(&self, slot: u8) -> Option<Arc<Peer>> {
        self.meet(slot).ok()
    }

    /// As [`peer`](Self::peer), with the reason.
    #[inline]
    pub fn meet(&self, slot: u8) -> Result<Arc<Peer>, PeerError> {
        self.peers
            .at(slot, &self.processes, self.home, &self.sender)
    }

    /// Forgets peers that are dead and takes back what they owned.
    pub fn tidy(&self) {
        self.peers.forget_dead(&self.processes);
        self.processes.reap();
    }

    /// The UAR pages of device `device`.
    pub fn pages(&self, device: u32) -> Pages<'_> {
        Pages::new(&self.processes, device)
    }

    /// The record of an XRC receive queue pair.
    #[inline]
    pub fn shared_qp(&self, index: u16) -> &QpRecord {
        xrc::qp(self.processes.fabric(), index)
    }

    /// Its half of the protocol between hosts.
    pub fn shared_target(&self, index: u16) -> &TargetRecord {
        xrc::target(self.processes.fabric(), index)
    }

    /// Takes the key of a window of `peer`'s away that is bound to a queue pair, `(number, protection domain)`.
    pub fn invalidate(&self, peer: &Peer, key: u32, (qpn, pd): (u32, u32)) -> bool {
        regions::invalidate(peer.segment(), self.me(), key, qpn, pd)
    }

    /// Sends the event that completion queue `id` of `peer`'s wants to its channel.
    pub fn notify(&self, peer: &Peer, channel: u32, id: ObjectId) {
        let cq = peer.segment().cq(id);
        self.sender.completion_event(peer.segment(), cq, channel);
    }

    /// Sends a message to a peer's agent.
    pub fn send(&self, peer: &Peer, letter: &Letter, patience: Duration) -> Result<(), MailError> {
        let mailbox = peer.segment().mailbox();
        if mailbox.put(&self.processes, letter, patience)? {
            self.sender.ring(peer.segment());
        }
        Ok(())
    }

    /// Has this process's own agent look around.
    pub fn wake_agent(&self) {
        let segment = self.home.segment();
        if segment.mailbox().ring() {
            self.sender.ring(segment);
        }
    }

    /// A descriptor that is readable when [`attend_door`](Self::attend_door) has something to do.
    pub fn door(&self) -> RawFd {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        door.descriptor().as_fd().as_raw_fd()
    }

    /// Lets newcomers in, or follows a keeper of the name that died. True if [`door`](Self::door) is another descriptor now. An agent
    /// calls it; without one, processes that can see each other in /proc still find each other.
    pub fn attend_door(&self) -> Result<bool, JoinError> {
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        door.attend(
            &self.address,
            self.processes.identity(),
            self.processes.fabric(),
        )
    }
}

/// Joins or makes the fabric (`door`).
fn find_place(
    name: &str,
    address: &Address,
    identity: &Identity,
    ground: &Ground,
) -> Result<(Processes, Door), JoinError> {
    let deadline = Instant::now() + JOIN_TIME;
    while Instant::now() < deadline {
        match door::knock(address, identity)? {
            Answer::Won(listener) => {
                let fabric = match door::find_living(name, identity) {
                    Some(fabric) => fabric,
                    None => founding::found(name, identity)?,
                };
                let processes = claim(fabric, identity, ground)?;
                return Ok((processes, Door::open(listener)?));
            }
            Answer::Kept(mut keeper) => {
                let Some(memfd) = keeper.segment(name)? else {
                    continue;
                };
                let processes = claim(founding::check(memfd, name, identity)?, identity, ground)?;
                match keeper.confirm(address, identity)? {
                    Some(door) => return Ok((processes, door)),
                    None => processes.withdraw(),
                }
            }
            Answer::NotYet => {}
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(JoinError::Late)
}

fn claim(fabric: Mapping, identity: &Identity, ground: &Ground) -> Result<Processes, JoinError> {
    Processes::claim(fabric, *identity, ground.claim()).map_err(|error| match error {
        ClaimError::Full => JoinError::Full,
        ClaimError::System(error) => JoinError::System(error),
    })
}

//! This process's membership of a fabric, and what it does as a member.

use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::fabric_segment::{self, JoinError};
use super::identity::Identity;
use super::mailbox::{MailError, MailboxMessage};
use super::mapping::Mapping;
use super::name_service::{self, NameAnswer, NameService};
use super::notify::Sender;
use super::numbers::Owner;
use super::own_segment::{NewSegment, OwnSegment};
use super::pages::Pages;
use super::peers::{Peer, PeerError, Peers};
use super::processes::{ClaimError, Processes};
use super::proxy_buffer::Abandoned;
use super::reap::take_back;
use super::record::queue_pair::QpRecord;
use super::regions;
use super::segment::{ObjectId, Segment};
use super::socket::Address;
use super::target::TargetRecord;
use super::xrc::{self, Domains};

/// How long a newcomer waits for a server that does not get ready.
const JOIN_TIME: Duration = Duration::from_secs(10);

/// This process's membership of a fabric.
pub struct Fabric {
    processes: Processes,
    own_segment: &'static OwnSegment,
    own: Peer,
    peers: Peers,
    domains: Domains,
    sender: Sender,
    abandoned: Abandoned,
    address: Address,
    name_service: Mutex<NameService>,
}

/// By process, as a child after fork(2) has a copy of its parent's, and by the fabric's name.
type Joined = HashMap<(u32, String), &'static Fabric>;

static JOINED: Mutex<Option<Joined>> = Mutex::new(None);

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
    pub(super) fn unless_joined<T>(
        name: &str,
        what: impl FnOnce(Option<&'static Fabric>) -> T,
    ) -> T {
        let joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (std::process::id(), name.to_owned());
        what(joined.as_ref().and_then(|joined| joined.get(&key).copied()))
    }

    fn enter(name: &str) -> Result<Fabric, JoinError> {
        let identity = Identity::of_process()?;
        let address = name_service::address(&identity, name)?;
        weft_kernel::process::allow_copies();
        let ground = NewSegment::create()?;
        let (processes, name_service) = find_place(name, &address, &identity, &ground)?;
        let own_segment = Box::leak(Box::new(OwnSegment::new(ground, &processes)));
        let own = Peer::own(&processes, own_segment).ok_or(JoinError::NotOurs)?;
        Ok(Fabric {
            processes,
            own_segment,
            own,
            peers: Peers::new(),
            domains: Domains::new(),
            sender: Sender::new()?,
            abandoned: Abandoned::default(),
            address,
            name_service: Mutex::new(name_service),
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
    pub fn own_segment(&self) -> &'static OwnSegment {
        self.own_segment
    }

    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// Stages for which nobody waits any more.
    pub(super) fn abandoned(&self) -> &Abandoned {
        &self.abandoned
    }

    /// As [`own_segment`](Self::home), as others see it.
    #[inline]
    pub fn segment(&self) -> &'static Segment {
        self.own_segment.segment()
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
            .at(slot, &self.processes, self.own_segment, &self.sender)
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
    pub fn send(
        &self,
        peer: &Peer,
        message: &MailboxMessage,
        patience: Duration,
    ) -> Result<(), MailError> {
        let mailbox = peer.segment().mailbox();
        if mailbox.put(&self.processes, message, patience)? {
            self.sender.ring(peer.segment());
        }
        Ok(())
    }

    /// Has this process's own agent look around.
    pub fn wake_agent(&self) {
        let segment = self.own_segment.segment();
        if segment.mailbox().ring() {
            self.sender.ring(segment);
        }
    }

    /// A descriptor that is readable when [`attend_name`](Self::attend_name) has something to do.
    pub fn name_service(&self) -> RawFd {
        let name_service = self
            .name_service
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        name_service.descriptor().as_fd().as_raw_fd()
    }

    /// Lets newcomers in, or follows a server of the name that died. True if [`name_service`](Self::name_service) is another descriptor now. An agent
    /// calls it; without one, processes that can see each other in /proc still find each other.
    pub fn attend_name(&self) -> Result<bool, JoinError> {
        let mut name_service = self
            .name_service
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        name_service.attend(
            &self.address,
            self.processes.identity(),
            self.processes.fabric(),
        )
    }
}

/// Joins or makes the fabric (`name_service`).
fn find_place(
    name: &str,
    address: &Address,
    identity: &Identity,
    ground: &NewSegment,
) -> Result<(Processes, NameService), JoinError> {
    let deadline = Instant::now() + JOIN_TIME;
    while Instant::now() < deadline {
        match name_service::request_name(address, identity)? {
            NameAnswer::Won(listener) => {
                let fabric = match name_service::find_living(name, identity) {
                    Some(fabric) => fabric,
                    None => fabric_segment::found(name, identity)?,
                };
                let processes = claim(fabric, identity, ground)?;
                return Ok((processes, NameService::open(listener)?));
            }
            NameAnswer::Held(mut server) => {
                let Some(memfd) = server.segment(name)? else {
                    continue;
                };
                let processes = claim(
                    fabric_segment::check(memfd, name, identity)?,
                    identity,
                    ground,
                )?;
                match server.confirm(address, identity)? {
                    Some(name_service) => return Ok((processes, name_service)),
                    None => processes.withdraw(),
                }
            }
            NameAnswer::NotYet => {}
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(JoinError::Late)
}

fn claim(
    fabric: Mapping,
    identity: &Identity,
    ground: &NewSegment,
) -> Result<Processes, JoinError> {
    Processes::claim(fabric, *identity, ground.claim(), take_back).map_err(|error| match error {
        ClaimError::Full => JoinError::Full,
        ClaimError::System(error) => JoinError::System(error),
    })
}

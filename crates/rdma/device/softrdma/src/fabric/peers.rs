//! The processes that this one has to do with: their segments, and how their memory is reached.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::atomics::{self, AtomicError};
use super::layout::process;
use super::mapping::{self, Mapping};
use super::memory::{self, Direction, Local, MemoryError, Reach};
use super::notify::Sender;
use super::numbers::{Owner, PROCESSES};
use super::own_segment::{MEMFD_NAME, OwnSegment};
use super::processes::{Entry, Processes, pidfd};
use super::record::region::Region;
use super::record::region::Span;
use super::regions::{self, Visit};
use super::segment::Segment;
use super::socket::{self, Address};

/// How long a peer's agent may take to hand its segment over.
const HANDOVER_MS: i32 = 2000;

/// A process of the fabric, this one included.
pub struct Peer {
    entry: Entry,
    /// None for this process, whose segment is `own_segment`'s.
    segment: Option<Segment>,
    own_segment: &'static OwnSegment,
    reach: Reach,
    me: Owner,
    gone: AtomicBool,
    /// Its death is waited for. Set once, by whoever asks for that.
    watched: AtomicBool,
}

/// Why a process cannot be reached.
#[derive(Debug)]
pub enum PeerError {
    /// Nobody has that slot, or who has it is dead.
    Absent,
    /// Its segment cannot be had, and why.
    Closed(io::Error),
}

impl Peer {
    /// This process.
    pub(super) fn own(processes: &Processes, own_segment: &'static OwnSegment) -> Option<Peer> {
        let entry = processes.entry(processes.me().slot())?;
        regions::announce_visits(own_segment.segment(), processes.me());
        Some(Peer {
            entry,
            segment: None,
            own_segment,
            reach: Reach::Own,
            me: processes.me(),
            gone: AtomicBool::new(false),
            watched: AtomicBool::new(false),
        })
    }

    #[inline]
    pub fn owner(&self) -> Owner {
        self.entry.owner
    }

    #[inline]
    pub fn segment(&self) -> &Segment {
        self.segment
            .as_ref()
            .unwrap_or_else(|| self.own_segment.segment())
    }

    #[inline]
    pub fn reach(&self) -> Reach {
        self.reach
    }

    pub fn is_own(&self) -> bool {
        self.segment.is_none()
    }

    /// The region of `key`, which stays while the visit lasts. `hint` is any number that is another for another thread.
    #[inline]
    pub fn visit(&self, key: u32, hint: usize) -> Option<Visit<'_>> {
        regions::visit(self.segment(), self.me, key, hint)
    }

    /// As [`visit`](Self::visit), of a peer that is kept with the region.
    #[inline]
    pub fn keep_visit(self: &Arc<Peer>, key: u32, hint: usize) -> Option<KeptVisit> {
        let visit = self.visit(key, hint)?;
        // SAFETY: a visit borrows memory that the segment of the peer has mapped, or that lives as long as the process. That stays where it
        // is as long as the peer lives, which the visit does not outlive (`KeptVisit`).
        let visit = unsafe { std::mem::transmute::<Visit<'_>, Visit<'static>>(visit) };
        let peer = self.clone();
        Some(KeptVisit { visit, peer })
    }

    /// As [`memory::copy`].
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub unsafe fn copy(
        &self,
        direction: Direction,
        local: &[Local],
        remote: &[Span],
    ) -> Result<(), MemoryError> {
        // SAFETY: the caller's.
        unsafe { memory::copy(direction, self.segment(), self.reach, local, remote) }
    }

    /// As [`memory::copy_at_once`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn copy_at_once(
        &self,
        direction: Direction,
        local: &[Local],
        remote: &[Span],
    ) -> u64 {
        // SAFETY: the caller's.
        unsafe { memory::copy_at_once(direction, self.reach, local, remote) }
    }

    /// As [`atomics::execute`].
    #[inline]
    pub fn atomic(
        &self,
        operation: atomics::Operation,
        span: Span,
        processes: &Processes,
        patience: Duration,
    ) -> Result<u64, AtomicError> {
        atomics::execute(
            operation,
            self.segment(),
            self.reach,
            span,
            processes,
            patience,
        )
    }

    /// Whether its memory is still there to be copied: a process that dies loses that before anything else.
    pub fn has_memory(&self) -> bool {
        match self.reach {
            Reach::Copies { pid } => {
                memory::probe(self.segment(), pid, self.entry.address) == self.reach
            }
            Reach::Own | Reach::Agent => true,
        }
    }

    /// Whether it was found to be dead. Costs no system call.
    #[inline]
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// True for the first that asks: it sees to it that the peer's death is noticed.
    #[inline]
    pub fn begin_watch(&self) -> bool {
        !self.watched.load(Ordering::Relaxed) && !self.watched.swap(true, Ordering::Relaxed)
    }

    /// Whether it is dead, asked of the kernel.
    pub fn look(&self, processes: &Processes) -> bool {
        if !self.is_gone() && !processes.alive(self.owner()) {
            self.gone.store(true, Ordering::Relaxed);
        }
        self.is_gone()
    }

    /// A descriptor that becomes readable when it dies; none if it is dead or not to be seen from this PID namespace, where
    /// [`look`](Self::look) must do.
    pub fn pidfd(&self, processes: &Processes) -> Option<OwnedFd> {
        pidfd(processes.identity(), &self.entry)
    }
}

/// A region of a peer's, and the peer: both stay while this lives.
pub struct KeptVisit {
    /// Goes before the peer, in whose segment its mark is.
    visit: Visit<'static>,
    peer: Arc<Peer>,
}

impl KeptVisit {
    #[inline]
    pub fn region(&self) -> &Region {
        self.visit.region()
    }

    #[inline]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }
}

/// The peers met so far.
pub struct Peers {
    met: RwLock<Vec<Option<Arc<Peer>>>>,
}

impl Peers {
    pub(super) fn new() -> Peers {
        Peers {
            met: RwLock::new(vec![None; PROCESSES]),
        }
    }

    /// The process that has `slot` now.
    #[inline]
    pub(super) fn at(
        &self,
        slot: u8,
        processes: &Processes,
        own_segment: &'static OwnSegment,
        sender: &Sender,
    ) -> Result<Arc<Peer>, PeerError> {
        let met = self.met.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(peer)) = met.get(usize::from(slot))
            && !peer.is_gone()
            && processes.generation(slot) == peer.owner().generation()
        {
            return Ok(peer.clone());
        }
        drop(met);
        self.meet(slot, processes, own_segment, sender)
    }

    #[cold]
    fn meet(
        &self,
        slot: u8,
        processes: &Processes,
        own_segment: &'static OwnSegment,
        sender: &Sender,
    ) -> Result<Arc<Peer>, PeerError> {
        let mut met = self.met.write().unwrap_or_else(PoisonError::into_inner);
        let entry = processes.entry(slot).ok_or(PeerError::Absent)?;
        let place = met.get_mut(usize::from(slot)).ok_or(PeerError::Absent)?;
        if let Some(peer) = place.as_ref().filter(|peer| peer.owner() == entry.owner) {
            return if peer.look(processes) {
                Err(PeerError::Absent)
            } else {
                Ok(peer.clone())
            };
        }
        *place = None;
        if !processes.alive(entry.owner) {
            return Err(PeerError::Absent);
        }
        let peer = Arc::new(attach(entry, processes, own_segment, sender)?);
        *place = Some(peer.clone());
        Ok(peer)
    }

    /// Forgets those that are dead; their memory goes when nobody holds on to them.
    pub fn forget_dead(&self, processes: &Processes) {
        let mut met = self.met.write().unwrap_or_else(PoisonError::into_inner);
        for place in met.iter_mut() {
            if place.as_ref().is_some_and(|peer| peer.look(processes)) {
                *place = None;
            }
        }
    }
}

fn attach(
    entry: Entry,
    processes: &Processes,
    own_segment: &'static OwnSegment,
    sender: &Sender,
) -> Result<Peer, PeerError> {
    if entry.owner == processes.me() {
        return Peer::own(processes, own_segment).ok_or(PeerError::Absent);
    }
    let segment = foreign_segment(&entry, processes, sender).map_err(PeerError::Closed)?;
    let same_namespace = entry.pid_namespace == processes.identity().pid_namespace;
    let reach = match same_namespace {
        true => memory::probe(&segment, entry.pid, entry.address),
        false => Reach::Agent,
    };
    regions::announce_visits(&segment, processes.me());
    Ok(Peer {
        entry,
        segment: Some(segment),
        own_segment,
        reach,
        me: processes.me(),
        gone: AtomicBool::new(false),
        watched: AtomicBool::new(false),
    })
}

/// A peer's segment: by /proc where that is allowed and the process can be seen, else by asking its agent.
fn foreign_segment(entry: &Entry, processes: &Processes, sender: &Sender) -> io::Result<Segment> {
    let same_namespace = entry.pid_namespace == processes.identity().pid_namespace;
    let opened = same_namespace
        .then(|| mapping::open_descriptor(entry.pid, entry.memfd, MEMFD_NAME))
        .transpose();
    if let Ok(Some(memfd)) = opened
        && let Some(segment) = map_segment(memfd, entry)?
    {
        return Ok(segment);
    }
    let memfd = ask_for_segment(entry.key, sender)?;
    map_segment(memfd, entry)?.ok_or_else(|| io::Error::from(io::ErrorKind::PermissionDenied))
}

fn map_segment(memfd: OwnedFd, entry: &Entry) -> io::Result<Option<Segment>> {
    if !mapping::trusted(memfd.as_fd()) {
        return Ok(None);
    }
    let mapping = Mapping::new(memfd, process::SPAN)?;
    Ok(Segment::new(mapping, entry.owner, entry.key))
}

fn ask_for_segment(key: u64, sender: &Sender) -> io::Result<OwnedFd> {
    let name = format!("softrdma.{:016x}.ask", super::identity::random_key()?);
    let address = Address::new(&name).ok_or(io::ErrorKind::InvalidInput)?;
    let socket = socket::open(libc::SOCK_DGRAM | libc::SOCK_NONBLOCK)?;
    socket::bind(socket.as_fd(), &address)?;
    socket::ask_for_senders(socket.as_fd())?;
    sender.ask_for_segment(key, &name)?;
    if !socket::wait(socket.as_fd(), HANDOVER_MS) {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let answer = socket::receive(socket.as_fd(), &mut [0; 64])?;
    answer
        .descriptor
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

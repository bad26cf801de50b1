//! What the lanes of a process share.

mod dialing;
mod over_xrc;
mod presence;
mod serving;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use weft_kernel::{Bell, Interest};
use weft_memory::Memory;
use weft_sync::{Section, Slumber};
use weft_transport::endings::{Ending, Endings};
use weft_transport::watching::Watching;
use weft_transport::{Allocation, Directory, Exposed, Exposure, Lost, Peer};
use weft_verbs::abi::{IBV_EVENT_DEVICE_FATAL, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR};
use weft_verbs::{Buffer, MemoryRegion, Subject};

use crate::adapter::{Unusable, unusable};
use crate::counters::Counts;
use crate::hosts::Hosts;
use crate::identity::Identity;
use crate::keys::Keys;
use crate::left::{Left, Name};
use crate::parts::Making;
use crate::presence::Unanswered;
use crate::rail::Rail;
use crate::routes::Known;
use crate::user_memory;

/// In [`Shared::signalled`]: there are links to be made ([`Shared::serve`]).
const SERVE: u64 = 1 << 63;
/// What is ready, in the poller's words: one of these, with a rail's number above it; or a lane, with the rail's number above that.
const BELL: u64 = 1 << 32;
const DATAGRAMS: u64 = 2 << 32;
const EVENTS: u64 = 3 << 32;
const WHAT: u64 = 3 << 32;
const RAIL_SHIFT: u32 = 16;

/// A process's lanes share this.
pub struct Shared {
    pub identity: Identity,
    pub rails: Box<[Rail]>,
    pub endings: Endings,
    pub watching: Watching,
    pub lanes: Box<[LaneShared]>,
    /// Peers of which something is awaited: a lane that has a link asks now and then whether they are there.
    expected: Section<BTreeSet<Peer>>,
    /// A bit for each lane for which something has come, and [`SERVE`]. Set by whoever finds that, cleared by the lane.
    signalled: AtomicU64,
    directory: Arc<dyn Directory>,
    known: Section<BTreeMap<Peer, Known>>,
    /// Links that lanes wait for and nobody has asked for.
    wants: Section<Vec<Name>>,
    /// Held while links are made: the launcher is asked once for a card, a lane's parts are made once.
    making: Section<()>,
    /// Peers that have not answered requests for links.
    unanswered: Section<Unanswered>,
    hosts: Hosts,
    slumber: Slumber,
    bell: Bell,
}

/// What others have for a lane, and what it tells them.
pub struct LaneShared {
    pub counts: Counts,
    /// By rail.
    inbox: Section<Vec<(usize, Left)>>,
    making: Section<Box<[Option<Arc<Making>>]>>,
}

impl LaneShared {
    fn new(rails: usize) -> LaneShared {
        LaneShared {
            counts: Counts::new(rails),
            inbox: Section::new(Vec::new()),
            making: Section::new((0..rails).map(|_| None).collect()),
        }
    }
}

/// A descriptor of something that lives as long as this process's attachment.
struct Descriptor(RawFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}

impl Shared {
    pub fn new(
        identity: Identity,
        rails: Vec<Rail>,
        directory: Arc<dyn Directory>,
        host_file: Option<File>,
    ) -> Result<Shared, Unusable> {
        let bell = Bell::new().map_err(unusable)?;
        let poller = &identity.poller;
        poller
            .add(&bell, BELL, Interest::Reading)
            .map_err(unusable)?;
        for (number, rail) in rails.iter().enumerate() {
            let above = (number as u64) << RAIL_SHIFT;
            let datagrams = Descriptor(rail.setup.enter().datagrams().descriptor());
            let reading = Interest::Reading;
            poller
                .add(&datagrams, DATAGRAMS | above, reading)
                .map_err(unusable)?;
            if rails.len() > 1 {
                let events = Descriptor(rail.adapter.context.event_descriptor());
                let context = &rail.adapter.context;
                context.set_nonblocking_events().map_err(unusable)?;
                poller
                    .add(&events, EVENTS | above, reading)
                    .map_err(unusable)?;
            }
        }
        Ok(Shared {
            endings: Endings::new(),
            watching: Watching::new(),
            lanes: (0..identity.lanes)
                .map(|_| LaneShared::new(rails.len()))
                .collect(),
            expected: Section::new(BTreeSet::new()),
            signalled: AtomicU64::new(0),
            directory,
            known: Section::new(BTreeMap::new()),
            wants: Section::new(Vec::new()),
            making: Section::new(()),
            unanswered: Section::new(Unanswered::new()),
            hosts: Hosts::new(host_file),
            slumber: Slumber::new(),
            bell,
            identity,
            rails: rails.into(),
        })
    }

    #[inline]
    pub fn signalled(&self) -> u64 {
        self.signalled.load(Ordering::Acquire)
    }

    #[inline]
    pub fn is_signalled(&self, lane: u32) -> bool {
        self.signalled() >> lane & 1 != 0
    }

    /// The lane looks at all there is for it from here on.
    pub fn take_signal(&self, lane: u32) {
        self.signalled.fetch_and(!(1 << lane), Ordering::AcqRel);
    }

    /// Has lanes look at what was left for them, be it that the process sleeps.
    fn signal(&self, bits: u64) {
        self.signalled.fetch_or(bits, Ordering::AcqRel);
        self.wake();
    }

    /// Has [`serve`](Self::serve) be called.
    fn ask_to_serve(&self) {
        self.signal(SERVE);
    }

    pub fn take_left(&self, lane: u32) -> Vec<(usize, Left)> {
        std::mem::take(&mut *self.lanes[lane as usize].inbox.enter())
    }

    fn leave(&self, lane: u32, rail: usize, left: Left) {
        self.lanes[lane as usize].inbox.enter().push((rail, left));
        self.signal(1 << lane);
    }

    pub fn expect(&self, peer: Peer) {
        self.expected.enter().insert(peer);
    }

    /// Peers that are to be asked now and then whether they are there.
    pub fn expected(&self) -> BTreeSet<Peer> {
        self.expected.enter().clone()
    }

    /// Memory that peers access by a lane's links, if all adapters register it.
    pub fn expose(&self, lane: u32, memory: &Memory) -> Option<Exposure> {
        let makings: Option<Vec<Arc<Making>>> = {
            let _making = self.making.enter();
            let parts = |rail| self.parts(rail, lane).ok();
            (0..self.rails.len()).map(parts).collect()
        };
        // SAFETY: who exposes memory keeps it until the exposure is dropped (`Fabric::expose`), and with it the regions.
        let region =
            |making: &Arc<Making>| unsafe { user_memory::expose(memory, &making.protection) };
        let regions: Option<Vec<MemoryRegion>> = makings?.iter().map(region).collect();
        let regions = regions?;
        let mut keys = Keys::default();
        for (place, region) in regions.iter().enumerate() {
            keys.set(place, region.remote().key);
        }
        let [first, second] = keys.words();
        let address = regions.first()?.remote().address;
        let exposed = Exposed([address, first, second]);
        Some(Exposure::new(exposed, regions))
    }

    /// Memory of the adapter's library, if that has any: on the device in software, processes of this host reach it without a system call.
    pub fn allocate(&self, lane: u32, bytes: usize) -> Option<Allocation> {
        let making = {
            let _making = self.making.enter();
            self.parts(0, lane).ok()?
        };
        let buffer = Buffer::from_library(&making.protection, bytes).ok()?;
        let memory = Memory::contiguous(buffer.as_ptr(), bytes);
        Some(Allocation::new(memory, buffer))
    }

    /// Lanes that have parts of an adapter, and how often: by each rail.
    pub fn made_lanes(&self) -> (usize, usize) {
        let by_rail = |lane: &LaneShared| lane.making.enter().iter().flatten().count();
        let all: Vec<usize> = self.lanes.iter().map(by_rail).collect();
        let used = all.iter().filter(|&&rails| rails > 0).count();
        (used, all.iter().sum())
    }

    /// Loses a peer, for all lanes. Why: the first reason counts.
    pub fn lose(&self, peer: Peer, lost: Lost, died: bool) -> Lost {
        let (first, is_new) = self.endings.enter(Ending { peer, lost, died });
        if is_new {
            for rail in &self.rails {
                rail.setup.enter().forget(peer);
            }
            self.lost_over_xrc(peer);
            self.expected.enter().remove(&peer);
            self.signal((1 << self.identity.lanes) - 1);
        }
        first.lost
    }

    /// Whether anybody asks for a link, or is to be asked again: then [`serve`](Self::serve) is called soon.
    pub fn glance(&self, now: Instant) {
        if self.signalled() & SERVE != 0 {
            return;
        }
        let is_due = |rail: &Rail| {
            let setup = rail.setup.try_enter();
            setup.is_some_and(|mut setup| {
                setup.due().is_some_and(|due| due <= now) || setup.datagrams().has_any()
            })
        };
        if self.rails.iter().any(is_due) {
            self.signal(SERVE);
        }
    }

    /// Before a sleep: who asks for a link ends it. Whether somebody has asked.
    pub fn arm(&self) -> bool {
        let mut is_any = false;
        for rail in &self.rails {
            let Some(mut setup) = rail.setup.try_enter() else {
                return true;
            };
            setup.datagrams().arm();
            is_any |= setup.datagrams().has_any();
        }
        if is_any {
            self.signal(SERVE);
        }
        is_any
    }

    /// Waits so long for the process's descriptors. What they are about is signalled.
    pub fn look(&self, timeout_ms: i32) {
        let (mut bits, mut is_rung) = (0, false);
        self.identity.poller.wait(timeout_ms, |token| {
            let rail = (token as u32 >> RAIL_SHIFT) as usize;
            match token & WHAT {
                BELL => is_rung = true,
                DATAGRAMS => {
                    self.rails[rail].setup.enter().datagrams().take_events();
                    bits |= SERVE;
                }
                EVENTS => self.take_port_events(rail),
                _ => {
                    let lane = token % (1 << RAIL_SHIFT);
                    bits |= 1u64 << lane;
                    self.take_events(rail, lane as usize);
                }
            }
        });
        self.stay_awake();
        if is_rung {
            self.bell.clear();
        }
        if bits != 0 {
            self.signalled.fetch_or(bits, Ordering::AcqRel);
        }
    }

    /// Takes the events that have made a lane's descriptor readable.
    fn take_events(&self, rail: usize, lane: usize) {
        let making = self.lanes[lane].making.enter();
        if let Some(making) = &making[rail] {
            while making.channel.wait().is_ok() {}
        }
    }

    /// Takes what the adapter tells of itself: lanes send by other ports than one that is down.
    fn take_port_events(&self, rail: usize) {
        let on = &self.rails[rail];
        let port = Subject::Port(on.adapter.port);
        while let Ok(event) = on.adapter.context.wait_for_event() {
            let is_down = match event.kind {
                IBV_EVENT_DEVICE_FATAL => true,
                IBV_EVENT_PORT_ERR if event.subject == port => true,
                IBV_EVENT_PORT_ACTIVE if event.subject == port => false,
                _ => continue,
            };
            on.is_down.store(is_down, Ordering::Release);
            if is_down {
                (0..self.identity.lanes).for_each(|lane| self.leave(lane, rail, Left::Down));
            }
        }
    }

    /// Takes what the adapters tell, if there are several, for a process that does not sleep.
    pub fn look_at_ports(&self) {
        if self.rails.len() > 1 {
            (0..self.rails.len()).for_each(|rail| self.take_port_events(rail));
        }
    }

    #[cfg(test)]
    pub fn lose_datagrams(&self) -> usize {
        let taken = |rail: &Rail| rail.setup.enter().datagrams().take().len();
        self.rails.iter().map(taken).sum()
    }

    pub fn pending(&self) -> usize {
        let pending = |rail: &Rail| rail.setup.enter().pending();
        self.rails.iter().map(pending).sum()
    }

    /// Datagrams that were sent, repeated ones too.
    pub fn datagrams(&self) -> u64 {
        let posted = |rail: &Rail| rail.setup.enter().datagrams().posted;
        self.rails.iter().map(posted).sum()
    }

    pub fn prepare_sleep(&self) -> u32 {
        self.slumber.prepare()
    }

    pub fn sleep(&self, ticket: u32, timeout_ms: i32) {
        if self.slumber.may_sleep(ticket) {
            self.look(timeout_ms);
        }
        self.stay_awake();
        self.glance(Instant::now());
    }

    /// From here on nobody needs to ring.
    pub fn stay_awake(&self) {
        self.slumber.end();
    }

    pub fn wake(&self) {
        if self.slumber.wake() {
            self.bell.ring();
        }
    }
}

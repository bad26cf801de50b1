//! What the lanes of a process share.

mod over_xrc;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use weft_memory::Memory;
use weft_sync::kernel::{Bell, Interest};
use weft_sync::{Section, Slumber};
use weft_transport::endings::{Ending, Endings, lost};
use weft_transport::watching::Watching;
use weft_transport::{Directory, Exposed, Exposure, Lost, Peer};
use weft_verbs::Remote;

use crate::adapter::{Adapter, Unusable, unusable};
use crate::card::Card;
use crate::counters::Counts;
use crate::handshake::{End, Message, Refusal, Step, is_signed};
use crate::hosts::Hosts;
use crate::identity::Identity;
use crate::left::{Left, Name};
use crate::parts::{MadePair, Making};
use crate::receive_queue::ReceiveQueue;
use crate::setup::{Outcome, Setup, Way, pool_pairs};
use crate::user_memory;

/// In [`Shared::signalled`]: there are links to be made ([`Shared::serve`]).
const SERVE: u64 = 1 << 63;
/// What is ready, in the poller's words; other tokens are lanes.
const BELL: u64 = 1 << 32;
const DATAGRAMS: u64 = 2 << 32;

/// A process's lanes share this.
pub struct Shared {
    pub identity: Identity,
    pub adapter: Adapter,
    pub endings: Endings,
    pub watching: Watching,
    pub lanes: Box<[LaneShared]>,
    /// Peers of which something is awaited: a lane that has a link asks now and then whether they are there.
    expected: Section<BTreeSet<Peer>>,
    /// A bit for each lane for which something has come, and [`SERVE`]. Set by whoever finds that, cleared by the lane.
    signalled: AtomicU64,
    directory: Arc<dyn Directory>,
    ways: Section<BTreeMap<Peer, Way>>,
    setup: Section<Setup>,
    /// Links that lanes wait for and nobody has asked for.
    wants: Section<Vec<Name>>,
    /// Held while links are made: the launcher is asked once for a card, a lane's parts are made once.
    making: Section<()>,
    hosts: Hosts,
    slumber: Slumber,
    bell: Bell,
}

/// What others have for a lane, and what it tells them.
pub struct LaneShared {
    pub counts: Counts,
    inbox: Section<Vec<Left>>,
    making: Section<Option<Arc<Making>>>,
}

impl LaneShared {
    fn new() -> LaneShared {
        LaneShared {
            counts: Counts::default(),
            inbox: Section::new(Vec::new()),
            making: Section::new(None),
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
        adapter: Adapter,
        mut setup: Setup,
        directory: Arc<dyn Directory>,
        host_file: Option<File>,
    ) -> Result<Shared, Unusable> {
        let bell = Bell::new().map_err(unusable)?;
        let datagrams = Descriptor(setup.datagrams().descriptor());
        let poller = &identity.poller;
        poller
            .add(&bell, BELL, Interest::Reading)
            .map_err(unusable)?;
        poller
            .add(&datagrams, DATAGRAMS, Interest::Reading)
            .map_err(unusable)?;
        Ok(Shared {
            endings: Endings::new(),
            watching: Watching::new(),
            lanes: (0..identity.lanes).map(|_| LaneShared::new()).collect(),
            expected: Section::new(BTreeSet::new()),
            signalled: AtomicU64::new(0),
            directory,
            ways: Section::new(BTreeMap::new()),
            setup: Section::new(setup),
            wants: Section::new(Vec::new()),
            making: Section::new(()),
            hosts: Hosts::new(host_file),
            slumber: Slumber::new(),
            bell,
            identity,
            adapter,
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

    pub fn take_left(&self, lane: u32) -> Vec<Left> {
        std::mem::take(&mut *self.lanes[lane as usize].inbox.enter())
    }

    fn leave(&self, lane: u32, left: Left) {
        self.lanes[lane as usize].inbox.enter().push(left);
        self.signal(1 << lane);
    }

    /// A lane needs a link: [`connect`](Self::connect) asks for it.
    pub fn want(&self, peer: Peer, lane: u32) {
        self.watching.connects(peer);
        self.wants.enter().push((peer, lane));
    }

    pub fn expect(&self, peer: Peer) {
        self.expected.enter().insert(peer);
    }

    /// Peers that are to be asked now and then whether they are there.
    pub fn expected(&self) -> BTreeSet<Peer> {
        self.expected.enter().clone()
    }

    /// Asks for the links to `peer` that lanes wait for. Asks the launcher, and waits for nobody else.
    pub fn connect(&self, peer: Peer) {
        let _making = self.making.enter();
        self.serve_xrc();
        let wants: Vec<Name> = self
            .wants
            .enter()
            .extract_if(.., |name| name.0 == peer)
            .collect();
        for name in wants {
            if self.endings.find(peer).is_some() {
                return;
            }
            if let Err(why) = self.dial(name) {
                self.lose(peer, lost(peer, why), true);
            }
        }
    }

    fn dial(&self, name: Name) -> Result<(), Unusable> {
        let way = self.way(name.0)?;
        if self.sends_over_xrc(&way.card) {
            self.dial_over_xrc(name, &way.card)?;
        }
        if !self.sends_connected(&way.card) || self.setup.enter().knows(name) {
            return Ok(());
        }
        let pairs = self.queue_pairs(name.1, &way.card)?;
        let mut setup = self.setup.enter();
        setup.dial(name, pairs, way, &self.identity)
    }

    /// The way to a peer; found once. Inside `making`.
    fn way(&self, peer: Peer) -> Result<Way, Unusable> {
        if let Some(way) = self.ways.enter().get(&peer) {
            return Ok(way.clone());
        }
        let line = self.directory.card(peer).map_err(unusable)?;
        let card = Card::parse(&line)
            .ok_or_else(|| unusable(format_args!("its card is none of rdma: {line}")))?;
        if !self.adapter.place.may_reach(&card.place) {
            let what = "its adapter is on another kind of network than this process's";
            return Err(unusable(what));
        }
        let way = self.setup.enter().way(&self.adapter, Arc::new(card))?;
        self.ways.enter().insert(peer, way.clone());
        Ok(way)
    }

    /// Queue pairs of a lane's to a peer. The lane's parts, and its receive queues, are made with the first that need them. Inside `making`.
    fn queue_pairs(&self, lane: u32, peer: &Card) -> Result<Vec<MadePair>, Unusable> {
        let making = self.parts(lane)?;
        let mut made = Vec::new();
        let pairs = making.queue_pairs(&pool_pairs(peer, &self.adapter), &mut made);
        self.leave_queues(lane, made);
        pairs
    }

    fn leave_queues(&self, lane: u32, made: Vec<ReceiveQueue>) {
        let queues = made.into_iter().map(Left::Queue);
        queues.for_each(|queue| self.leave(lane, queue));
    }

    /// What a lane's links are made in; made with the first. Inside `making`.
    fn parts(&self, lane: u32) -> Result<Arc<Making>, Unusable> {
        let known = self.lanes[lane as usize].making.enter().clone();
        match known {
            Some(making) => Ok(making),
            None => self.make(lane),
        }
    }

    fn make(&self, lane: u32) -> Result<Arc<Making>, Unusable> {
        let (making, memory) = Making::new(&self.adapter, lane)?;
        let making = Arc::new(making);
        let channel = Descriptor(making.channel.descriptor());
        let poller = &self.identity.poller;
        poller
            .add(&channel, lane.into(), Interest::Reading)
            .map_err(unusable)?;
        *self.lanes[lane as usize].making.enter() = Some(making.clone());
        self.leave(lane, Left::Parts(making.clone(), memory));
        Ok(making)
    }

    /// Memory that peers access by a lane's links, if the adapter registers it.
    pub fn expose(&self, lane: u32, memory: &Memory) -> Option<Exposure> {
        let making = {
            let _making = self.making.enter();
            self.parts(lane).ok()?
        };
        // SAFETY: who exposes memory keeps it until the exposure is dropped (`Fabric::expose`), and with it the region.
        let region = unsafe { user_memory::expose(memory, &making.protection) }?;
        let Remote { address, key } = region.remote();
        Some(Exposure::new(Exposed([address, key.into()]), region))
    }

    /// Lanes that have parts of the adapter.
    pub fn made_lanes(&self) -> usize {
        let is_made = |lane: &&LaneShared| lane.making.enter().is_some();
        self.lanes.iter().filter(is_made).count()
    }

    /// Answers who asks for links, and asks again who has not answered. Whether there was anything.
    #[cold]
    pub fn serve(&self) -> bool {
        let _making = self.making.enter();
        self.signalled.fetch_and(!SERVE, Ordering::AcqRel);
        let datagrams = self.setup.enter().datagrams().take();
        let is_any = !datagrams.is_empty();
        for datagram in datagrams {
            let message = Message::parse(&datagram).filter(|message| {
                let Identity {
                    rank,
                    size,
                    lanes,
                    job,
                    ..
                } = self.identity;
                let is_ours = message.to == rank && message.job == job;
                is_ours && message.from < size && message.from != rank && message.lane < lanes
            });
            let Some(message) = message else {
                continue;
            };
            match &message.step {
                Step::Request(end) if is_signed(&datagram, &self.identity.key) => {
                    self.asked(&message, end);
                }
                Step::Request(_) => {}
                Step::XrcRequest(host, bytes) if is_signed(&datagram, &self.identity.key) => {
                    self.asked_over_xrc(&message, *host, bytes);
                }
                Step::XrcRequest(..) => {}
                Step::XrcAnswer(_) | Step::XrcRefused(_) => {
                    let way = self.ways.enter().get(&message.from).cloned();
                    if way.is_some_and(|way| is_signed(&datagram, &way.card.key)) {
                        self.answered_over_xrc(&message);
                    }
                }
                Step::Answer(_) | Step::Refused(_) => {
                    let name = (message.from, message.lane);
                    let key = self.setup.enter().key_of(name);
                    if key.is_some_and(|key| is_signed(&datagram, &key)) {
                        self.answered(&message);
                    }
                }
            }
        }
        self.setup.enter().repeat(Instant::now());
        self.serve_xrc();
        is_any
    }

    fn asked(&self, asks: &Message, end: &End) {
        let peer = asks.from;
        let way = match self.way(peer) {
            Ok(way) => way,
            Err(why) => return drop(self.lose(peer, lost(peer, why), true)),
        };
        let mut setup = self.setup.enter();
        if self.endings.find(peer).is_some() {
            return setup.refuse(asks, &way, Refusal::Ended, &self.identity);
        }
        let make = || self.queue_pairs(asks.lane, &way.card);
        let made = setup.asked((asks, end), &way, &self.identity, &self.adapter, make);
        drop(setup);
        if let Some(made) = made {
            self.tell(Outcome::Made(made));
        }
    }

    fn answered(&self, says: &Message) {
        let outcome = self
            .setup
            .enter()
            .answered(says, &self.identity, &self.adapter);
        if let Some(outcome) = outcome {
            self.tell(outcome);
        }
    }

    fn tell(&self, outcome: Outcome) {
        match outcome {
            Outcome::Made(made) => {
                self.watching.connects(made.name.0);
                self.leave(made.name.1, Left::Link(made));
            }
            Outcome::Lost(peer, why) => drop(self.lose(peer, lost(peer, why), true)),
        }
    }

    /// Loses a peer, for all lanes. Why: the first reason counts.
    pub fn lose(&self, peer: Peer, lost: Lost, died: bool) -> Lost {
        let (first, is_new) = self.endings.enter(Ending { peer, lost, died });
        if is_new {
            self.setup.enter().forget(peer);
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
        let Some(mut setup) = self.setup.try_enter() else {
            return;
        };
        if setup.due().is_some_and(|due| due <= now) || setup.datagrams().has_any() {
            drop(setup);
            self.signal(SERVE);
        }
    }

    /// Before a sleep: who asks for a link ends it. Whether somebody has asked.
    pub fn arm(&self) -> bool {
        let Some(mut setup) = self.setup.try_enter() else {
            return true;
        };
        setup.datagrams().arm();
        let is_any = setup.datagrams().has_any();
        drop(setup);
        if is_any {
            self.signal(SERVE);
        }
        is_any
    }

    /// Waits so long for the process's descriptors. What they are about is signalled.
    pub fn look(&self, timeout_ms: i32) {
        let (mut bits, mut is_rung, mut is_asked) = (0, false, false);
        self.identity.poller.wait(timeout_ms, |token| match token {
            BELL => is_rung = true,
            DATAGRAMS => is_asked = true,
            lane => {
                bits |= 1u64 << lane;
                self.take_events(lane as usize);
            }
        });
        self.stay_awake();
        if is_rung {
            self.bell.clear();
        }
        if is_asked {
            self.setup.enter().datagrams().take_events();
            bits |= SERVE;
        }
        if bits != 0 {
            self.signalled.fetch_or(bits, Ordering::AcqRel);
        }
    }

    /// Takes the events that have made a lane's descriptor readable.
    fn take_events(&self, lane: usize) {
        let making = self.lanes[lane].making.enter();
        if let Some(making) = &*making {
            while making.channel.wait().is_ok() {}
        }
    }

    #[cfg(test)]
    pub fn lose_datagrams(&self) -> usize {
        self.setup.enter().datagrams().take().len()
    }

    pub fn pending(&self) -> usize {
        self.setup.enter().pending()
    }

    /// Datagrams that were sent, repeated ones too.
    pub fn datagrams(&self) -> u64 {
        self.setup.enter().datagrams().posted
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

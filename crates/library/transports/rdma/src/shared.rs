//! What the lanes of a process share.

mod over_xrc;
mod presence;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use weft_memory::Memory;
use weft_pools::Kind;
use weft_sync::kernel::{Bell, Interest};
use weft_sync::{Section, Slumber};
use weft_transport::endings::{Ending, Endings, lost};
use weft_transport::watching::Watching;
use weft_transport::{Allocation, Directory, Exposed, Exposure, Lost, Peer};
use weft_verbs::abi::{IBV_EVENT_DEVICE_FATAL, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR};
use weft_verbs::{Buffer, MemoryRegion, Subject};

use crate::adapter::{Unusable, unusable};
use crate::address::Way;
use crate::card::Card;
use crate::counters::Counts;
use crate::handshake::{End, Message, Refusal, Step, is_signed};
use crate::hosts::Hosts;
use crate::identity::Identity;
use crate::keys::Keys;
use crate::left::{Left, Name};
use crate::parts::{MadePair, Making};
use crate::place::Place;
use crate::pool_pair::selected;
use crate::presence::Unanswered;
use crate::rail::Rail;
use crate::receive_queue::ReceiveQueue;
use crate::routes::{Known, Route, pairs};
use crate::setup::{Outcome, pool_pairs};
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
        (0..self.rails.len()).for_each(|rail| self.serve_xrc(rail));
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

    /// Asks for a link by all rails that lead to the peer.
    fn dial(&self, name: Name) -> Result<(), Unusable> {
        let routes = self.known(name.0)?.routes;
        for route in &*routes {
            let on = &self.rails[route.rail];
            let dialed = match routes.len() > 1 && on.is_down.load(Ordering::Acquire) {
                true => Err(unusable(format_args!("{} is down", on.adapter.name()))),
                false => self.dial_by(route.rail, name),
            };
            if let Err(why) = dialed {
                self.no_way(route.rail, name, why.to_string());
            }
        }
        Ok(())
    }

    fn dial_by(&self, rail: usize, name: Name) -> Result<(), Unusable> {
        let on = &self.rails[rail];
        let way = self.way(rail, name.0)?;
        let pools = selected(&way.card.pools, on.adapter.reach(&way.card, way.port));
        if pools.iter().any(|pool| pool.kind == Kind::Xrc) {
            self.dial_over_xrc(rail, name, &way.card)?;
        }
        let is_connected = pools.iter().any(|pool| pool.kind != Kind::Xrc);
        if !is_connected || on.setup.enter().knows(name) {
            return Ok(());
        }
        let pairs = self.queue_pairs(rail, name.1, &way)?;
        let mut setup = on.setup.enter();
        setup.dial(name, pairs, way, &self.identity)
    }

    /// A peer's card, and the rails that lead to it; found once. Inside `making`.
    fn known(&self, peer: Peer) -> Result<Known, Unusable> {
        if let Some(known) = self.known.enter().get(&peer) {
            return Ok(known.clone());
        }
        let line = self.directory.card(peer).map_err(unusable)?;
        let card = Card::parse(&line)
            .ok_or_else(|| unusable(format_args!("its card is none of rdma: {line}")))?;
        let routes = self.routes(peer, &card);
        if routes.is_empty() {
            let what = "its adapter is on another kind of network than this process's";
            return Err(unusable(what));
        }
        let (card, routes) = (Arc::new(card), routes.into());
        let known = Known { card, routes };
        self.known.enter().insert(peer, known.clone());
        Ok(known)
    }

    /// The rails that lead to a peer, in an order that both ends find.
    fn routes(&self, peer: Peer, card: &Card) -> Vec<Route> {
        let own: Vec<Place> = self.rails.iter().map(|rail| rail.adapter.place).collect();
        let theirs = card.places();
        let pairs = match self.identity.rank < peer {
            true => pairs(&own, &theirs),
            false => pairs(&theirs, &own)
                .into_iter()
                .map(|(port, rail)| (rail, port))
                .collect(),
        };
        let route = |(rail, port): (usize, usize)| Route {
            rail,
            port,
            pools: selected(&card.pools, self.rails[rail].adapter.reach(card, port)),
        };
        pairs.into_iter().map(route).collect()
    }

    /// The way to a peer by a rail; found once. Inside `making`.
    fn way(&self, rail: usize, peer: Peer) -> Result<Way, Unusable> {
        let on = &self.rails[rail];
        if let Some(way) = on.ways.enter().get(&peer) {
            return Ok(way.clone());
        }
        let known = self.known(peer)?;
        let route = known.routes.iter().find(|route| route.rail == rail);
        let port = route.map(|route| route.port);
        let port = port.ok_or_else(|| unusable("this adapter does not lead there"))?;
        // All rails one after the other take no longer than the time that the user gives.
        let timeout = self.identity.timeout;
        let timeout = timeout.map(|timeout| timeout / known.routes.len() as u32);
        let way = on.setup.enter().way(&on.adapter, &known, port, timeout)?;
        on.ways.enter().insert(peer, way.clone());
        Ok(way)
    }

    /// The way to a peer that asks by a rail; none if that does not lead there, or the peer has no card, which loses it.
    fn way_of_asker(&self, rail: usize, peer: Peer) -> Option<Way> {
        match self.known(peer) {
            Ok(_) => self.way(rail, peer).ok(),
            Err(why) => {
                self.lose(peer, lost(peer, why), true);
                None
            }
        }
    }

    /// A link is not to be had by a rail. Where that is the only one, the peer is lost.
    fn no_way(&self, rail: usize, name: Name, why: String) {
        let known = self.known.enter().get(&name.0).cloned();
        match known {
            Some(known) if known.routes.len() > 1 => {
                let (peer, routes) = (name.0, known.routes);
                self.leave(name.1, rail, Left::NoWay { peer, routes, why });
            }
            _ => drop(self.lose(name.0, lost(name.0, why), true)),
        }
    }

    fn refused(&self, rail: usize, name: Name, why: Refusal) {
        match why {
            Refusal::Ended => drop(self.lose(name.0, lost(name.0, why), true)),
            why => self.no_way(rail, name, why.to_string()),
        }
    }

    /// Queue pairs of a lane's to a peer. The lane's parts, and its receive queues, are made with the first that need them. Inside `making`.
    fn queue_pairs(&self, rail: usize, lane: u32, way: &Way) -> Result<Vec<MadePair>, Unusable> {
        let making = self.parts(rail, lane)?;
        let mut made = Vec::new();
        let pools = pool_pairs(way, &self.rails[rail].adapter);
        let pairs = making.queue_pairs(&pools, &mut made);
        self.leave_queues(rail, lane, made);
        pairs
    }

    fn leave_queues(&self, rail: usize, lane: u32, made: Vec<ReceiveQueue>) {
        let queues = made.into_iter().map(Left::Queue);
        queues.for_each(|queue| self.leave(lane, rail, queue));
    }

    /// What a lane's links by a rail are made in; made with the first. Inside `making`.
    fn parts(&self, rail: usize, lane: u32) -> Result<Arc<Making>, Unusable> {
        let known = self.lanes[lane as usize].making.enter()[rail].clone();
        match known {
            Some(making) => Ok(making),
            None => self.make(rail, lane),
        }
    }

    fn make(&self, rail: usize, lane: u32) -> Result<Arc<Making>, Unusable> {
        let (making, memory) = Making::new(&self.rails[rail].adapter, lane)?;
        let making = Arc::new(making);
        let channel = Descriptor(making.channel.descriptor());
        let poller = &self.identity.poller;
        let token = u64::from(lane) | (rail as u64) << RAIL_SHIFT;
        poller
            .add(&channel, token, Interest::Reading)
            .map_err(unusable)?;
        self.lanes[lane as usize].making.enter()[rail] = Some(making.clone());
        self.leave(lane, rail, Left::Parts(making.clone(), memory));
        Ok(making)
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

    /// Answers who asks for links, and asks again who has not answered. Whether there was anything.
    #[cold]
    pub fn serve(&self) -> bool {
        let _making = self.making.enter();
        self.signalled.fetch_and(!SERVE, Ordering::AcqRel);
        let mut is_any = false;
        for rail in 0..self.rails.len() {
            is_any |= self.serve_rail(rail);
        }
        self.look_for_unanswered(Instant::now());
        is_any
    }

    fn serve_rail(&self, rail: usize) -> bool {
        let on = &self.rails[rail];
        let datagrams = on.setup.enter().datagrams().take();
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
            if let Some(message) = message {
                self.message_came(rail, &message, &datagram);
            }
        }
        on.setup.enter().repeat(Instant::now());
        self.serve_xrc(rail);
        is_any
    }

    fn message_came(&self, rail: usize, message: &Message, datagram: &[u8]) {
        let on = &self.rails[rail];
        match &message.step {
            Step::Request(end) if is_signed(datagram, &self.identity.key) => {
                self.asked(rail, message, end);
            }
            Step::Request(_) => {}
            Step::XrcRequest(host, bytes) if is_signed(datagram, &self.identity.key) => {
                self.asked_over_xrc(rail, message, *host, bytes);
            }
            Step::XrcRequest(..) => {}
            Step::XrcAnswer(_) | Step::XrcRefused(_) => {
                let way = on.ways.enter().get(&message.from).cloned();
                if way.is_some_and(|way| is_signed(datagram, &way.card.key)) {
                    self.answered_over_xrc(rail, message);
                }
            }
            Step::HasEnded(peer) if is_signed(datagram, &self.identity.key) => {
                self.asked_after(rail, message, *peer);
            }
            Step::HasEnded(_) => {}
            Step::Ended(peer) => {
                let way = on.ways.enter().get(&message.from).cloned();
                if way.is_some_and(|way| is_signed(datagram, &way.card.key)) {
                    self.told_of_end(message, *peer);
                }
            }
            Step::Answer(_) | Step::Refused(_) => {
                let name = (message.from, message.lane);
                let key = on.setup.enter().key_of(name);
                if key.is_some_and(|key| is_signed(datagram, &key)) {
                    self.answered(rail, message);
                }
            }
        }
    }

    fn asked(&self, rail: usize, asks: &Message, end: &End) {
        let on = &self.rails[rail];
        let peer = asks.from;
        let Some(way) = self.way_of_asker(rail, peer) else {
            return;
        };
        let mut setup = on.setup.enter();
        if self.endings.find(peer).is_some() {
            return setup.refuse(asks, &way, Refusal::Ended, &self.identity);
        }
        let make = || self.queue_pairs(rail, asks.lane, &way);
        let made = setup.asked((asks, end), &way, &self.identity, &on.adapter, make);
        drop(setup);
        if let Some(made) = made {
            self.tell(rail, Outcome::Made(made));
        }
    }

    fn answered(&self, rail: usize, says: &Message) {
        let on = &self.rails[rail];
        let outcome = on.setup.enter().answered(says, &on.adapter);
        if let Some(outcome) = outcome {
            self.tell(rail, outcome);
        }
    }

    fn tell(&self, rail: usize, outcome: Outcome) {
        match outcome {
            Outcome::Made(made) => {
                let (peer, lane) = made.name;
                self.watching.connects(peer);
                let routes = self
                    .known
                    .enter()
                    .get(&peer)
                    .map(|known| known.routes.clone());
                if let Some(routes) = routes {
                    self.leave(lane, rail, Left::Link(made, routes));
                }
            }
            Outcome::Refused(name, why) => self.refused(rail, name, why),
            Outcome::Failed(name, why) => self.no_way(rail, name, why),
        }
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

//! A network that keeps the transport's promises in the worst way they allow, and breaks them where it is told: for tests.
//!
//! [`Faulty`] stands before another fabric. What that tells is held back for some polls and told in an order of its own, which a
//! seed decides: each peer's events stay in their order, those of different peers mix. Every call of an endpoint, and every
//! event that it tells, is a *step*; at a step chosen beforehand a [`Fault`] happens. So a test can run once to count the steps, and
//! then once for each of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};

use weft_memory::Memory;

use crate::{
    Access, BulkDescriptor, Cookie, Endpoint, Exposure, Fabric, Far, Header, Lost, Near,
    NearEndpoint, Peer, Refused, Sink,
};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A peer is lost: it dies, or gives this process up.
    Lose(Peer),
    /// The next packet that this process sends is a lie: this word of it, of header and payload, is another.
    Lie { word: usize, value: u64 },
    /// The next packet that this process sends comes twice.
    Duplicate,
}

/// When it happens, for all the endpoints of a fabric, and how many steps there have been.
pub struct Plan(Mutex<Progress>);

struct Progress {
    random: u64,
    steps: usize,
    fault: Option<(usize, Fault)>,
    /// The peer that is lost is lost on all endpoints.
    lost: BTreeSet<Peer>,
    /// Of a fault in what is sent: the next packet has it.
    sends: Option<Fault>,
}

impl Plan {
    /// Nothing goes wrong but the order of things.
    pub fn sound(seed: u64) -> Arc<Plan> {
        Plan::make(seed, None)
    }

    /// A fault at a step, counted from 0.
    pub fn with(seed: u64, step: usize, fault: Fault) -> Arc<Plan> {
        Plan::make(seed, Some((step, fault)))
    }

    fn make(seed: u64, fault: Option<(usize, Fault)>) -> Arc<Plan> {
        Arc::new(Plan(Mutex::new(Progress {
            random: seed,
            steps: 0,
            fault,
            lost: BTreeSet::new(),
            sends: None,
        })))
    }

    /// Steps until now.
    pub fn steps(&self) -> usize {
        self.progress(|progress| progress.steps)
    }

    /// Whether the fault has happened.
    pub fn is_over(&self) -> bool {
        self.progress(|progress| progress.fault.is_none() && progress.sends.is_none())
    }

    fn progress<T>(&self, f: impl FnOnce(&mut Progress) -> T) -> T {
        f(&mut self.0.lock().expect("no panic inside"))
    }

    fn below(&self, bound: usize) -> usize {
        self.progress(|progress| {
            let next = progress.random.wrapping_mul(6364136223846793005);
            progress.random = next.wrapping_add(1442695040888963407);
            (progress.random >> 33) as usize % bound
        })
    }

    /// One step further.
    fn step(&self) {
        self.progress(|progress| {
            let now = progress.steps;
            progress.steps += 1;
            let Some((_, fault)) = progress.fault.take_if(|(step, _)| *step == now) else {
                return;
            };
            match fault {
                Fault::Lose(peer) => drop(progress.lost.insert(peer)),
                fault => progress.sends = Some(fault),
            }
        });
    }
}

/// A fabric with faults.
pub struct Faulty<F> {
    inner: F,
    plan: Arc<Plan>,
}

impl<F> Faulty<F> {
    pub fn new(inner: F, plan: Arc<Plan>) -> Faulty<F> {
        Faulty { inner, plan }
    }
}

/// What the fabric behind has told.
enum Event {
    Packet(Header, Vec<u8>),
    Sent(Cookie),
    Received(Cookie),
    Writable,
    Connect,
    Lost(Lost),
}

/// One lane of a [`Faulty`] fabric.
pub struct FaultyEndpoint<E> {
    inner: E,
    plan: Arc<Plan>,
    held: Held,
    /// Peers that were ended here because the plan says so.
    ended: BTreeSet<Peer>,
}

/// Events held back, by peer.
#[derive(Default)]
struct Held {
    queues: BTreeMap<Peer, VecDeque<Event>>,
    /// Whose transfers these are.
    peers: BTreeMap<Cookie, Peer>,
    /// Peers of whose loss the engine was told.
    told: BTreeSet<Peer>,
}

impl Held {
    fn push(&mut self, peer: Peer, event: Event) {
        if !self.told.contains(&peer) {
            self.queues.entry(peer).or_default().push_back(event);
        }
    }

    fn peer_of(&mut self, cookie: Cookie) -> Peer {
        self.peers
            .remove(&cookie)
            .expect("a transfer that was begun")
    }
}

impl Sink for Held {
    fn packet(&mut self, from: Peer, header: Header, payload: &[u8]) {
        self.push(from, Event::Packet(header, payload.to_vec()));
    }

    fn sent(&mut self, cookie: Cookie) {
        let peer = self.peer_of(cookie);
        self.push(peer, Event::Sent(cookie));
    }

    fn received(&mut self, cookie: Cookie) {
        let peer = self.peer_of(cookie);
        self.push(peer, Event::Received(cookie));
    }

    fn writable(&mut self, peer: Peer) {
        self.push(peer, Event::Writable);
    }

    fn connect(&mut self, peer: Peer) {
        self.push(peer, Event::Connect);
    }

    fn lost(&mut self, peer: Peer, lost: &Lost) {
        self.push(peer, Event::Lost(lost.clone()));
    }
}

impl<F: Fabric> Fabric for Faulty<F> {
    type Endpoint = FaultyEndpoint<F::Endpoint>;

    fn endpoint(&self, lane: u32) -> Self::Endpoint {
        FaultyEndpoint {
            inner: self.inner.endpoint(lane),
            plan: self.plan.clone(),
            held: Held::default(),
            ended: BTreeSet::new(),
        }
    }

    fn connect(&self, peer: Peer) {
        self.plan.step();
        self.inner.connect(peer);
    }

    fn expose(&self, lane: u32, memory: Memory) -> Option<Exposure> {
        self.inner.expose(lane, memory)
    }

    fn reaches_exposed(&self, peer: Peer) -> bool {
        self.inner.reaches_exposed(peer)
    }

    fn signalled(&self) -> u64 {
        self.inner.signalled()
    }

    fn prepare_sleep(&self) -> u32 {
        self.inner.prepare_sleep()
    }

    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>) {
        self.inner.sleep(ticket, timeout_ms);
    }

    fn wake(&self) {
        self.inner.wake();
    }

    fn rung_at(&self) -> Option<u64> {
        self.inner.rung_at()
    }

    fn serve(&self) -> bool {
        self.inner.serve()
    }
}

impl<F: Near> Near for Faulty<F> {
    fn reaches(&self, peer: Peer) -> bool {
        self.inner.reaches(peer)
    }

    fn sleep_with(&self, ticket: u32, timeout_ms: Option<u32>, descriptors: &[RawFd]) -> bool {
        self.inner.sleep_with(ticket, timeout_ms, descriptors)
    }
}

impl<F: Far> Far for Faulty<F> {
    fn descriptors(&self) -> Vec<RawFd> {
        self.inner.descriptors()
    }
}

impl<E: NearEndpoint> NearEndpoint for FaultyEndpoint<E> {
    fn reaches(&self, peer: Peer) -> bool {
        self.inner.reaches(peer)
    }
}

fn lost_by_plan(peer: Peer) -> Lost {
    Lost(format!("rank {peer} is lost: by plan").into())
}

impl<E: Endpoint> FaultyEndpoint<E> {
    /// One step further: whoever is lost by it is ended, and what was held of it is dropped.
    fn step(&mut self) {
        self.plan.step();
        let lost = self.plan.progress(|progress| progress.lost.clone());
        for peer in lost {
            if self.ended.insert(peer) {
                self.inner.end(peer, &lost_by_plan(peer));
                self.forget(peer);
            }
        }
    }

    /// As [`step`](Self::step), in a poll: a peer that is lost by it is told at once, in the poll that has told its packets.
    fn step_inside(&mut self, sink: &mut impl Sink) {
        let before = self.ended.clone();
        self.step();
        for &lost in self.ended.difference(&before) {
            if self.held.told.insert(lost) {
                self.held.queues.remove(&lost);
                sink.lost(lost, &lost_by_plan(lost));
            }
        }
    }

    fn forget(&mut self, peer: Peer) {
        if let Some(queue) = self.held.queues.get_mut(&peer) {
            // That it is lost has to be told still.
            queue.retain(|event| matches!(event, Event::Lost(_)));
        }
    }

    /// Tells one event of a peer.
    fn tell(&mut self, peer: Peer, sink: &mut impl Sink) {
        self.step_inside(sink);
        let queue = self.held.queues.get_mut(&peer);
        let Some(event) = queue.and_then(|queue| queue.pop_front()) else {
            return;
        };
        match event {
            Event::Packet(header, payload) => sink.packet(peer, header, &payload),
            Event::Sent(cookie) => sink.sent(cookie),
            Event::Received(cookie) => sink.received(cookie),
            Event::Writable => sink.writable(peer),
            Event::Connect => sink.connect(peer),
            Event::Lost(why) => {
                self.held.told.insert(peer);
                self.held.queues.remove(&peer);
                sink.lost(peer, &why);
            }
        }
    }

    /// A packet with the fault that is due, if one is.
    fn send_faulty(
        &mut self,
        peer: Peer,
        mut header: Header,
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        let fault = self.plan.progress(|progress| progress.sends);
        if let Some(Fault::Lie { word, value }) = fault
            && let Some(word) = header.0.get_mut(word)
        {
            *word = value;
        }
        let mut sent = Vec::new();
        self.inner
            .send_with(peer, header, bytes, throttled, |payload| {
                fill(payload);
                lie_in(payload, fault);
                sent.extend_from_slice(payload);
            })?;
        if fault == Some(Fault::Duplicate) {
            // One that finds no room is none.
            let _ = self.inner.send(peer, header, &sent, throttled);
        }
        self.plan.progress(|progress| progress.sends = None);
        Ok(())
    }
}

/// The words of a packet behind its header, one of which may be a lie.
fn lie_in(payload: &mut [u8], fault: Option<Fault>) {
    if let Some(Fault::Lie { word, value }) = fault
        && let Some(word) = word.checked_sub(2)
    {
        let there = payload.iter_mut().skip(word * 8);
        there
            .zip(value.to_le_bytes())
            .for_each(|(place, byte)| *place = byte);
    }
}

impl<E: Endpoint> Endpoint for FaultyEndpoint<E> {
    const EAGER_TO_ALL: usize = E::EAGER_TO_ALL;

    fn eager_limit(&self, peer: Peer) -> usize {
        self.inner.eager_limit(peer)
    }

    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        self.send_with(peer, header, payload.len(), throttled, |out| {
            out.copy_from_slice(payload);
        })
    }

    fn send_with(
        &mut self,
        peer: Peer,
        header: Header,
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        self.step();
        self.send_faulty(peer, header, bytes, throttled, fill)
    }

    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        self.step();
        let moved = self.inner.poll(&mut self.held);
        let mut told = false;
        for _ in 0..self.plan.below(6) {
            let filled = self
                .held
                .queues
                .iter()
                .filter(|(_, queue)| !queue.is_empty());
            let peers: Vec<Peer> = filled.map(|(&peer, _)| peer).collect();
            if peers.is_empty() {
                break;
            }
            told = true;
            self.tell(peers[self.plan.below(peers.len())], sink);
        }
        self.step_inside(sink);
        moved | told
    }

    fn flush(&mut self) {
        self.inner.flush();
    }

    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        self.step();
        let descriptor = self.inner.bulk_send(peer, source, cookie)?;
        self.held.peers.insert(cookie, peer);
        Ok(descriptor)
    }

    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        self.step();
        self.held.peers.remove(&cookie);
        // From here on nothing is told of it.
        if let Some(queue) = self.held.queues.get_mut(&peer) {
            queue.retain(|event| !matches!(event, Event::Sent(sent) if *sent == cookie));
        }
        self.inner.bulk_cancel(peer, cookie);
    }

    fn bulk_receive(
        &mut self,
        peer: Peer,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Refused> {
        self.step();
        self.inner
            .bulk_receive(peer, descriptor, bytes, target, cookie)?;
        self.held.peers.insert(cookie, peer);
        Ok(())
    }

    fn access(&mut self, peer: Peer, access: Access, cookie: Cookie) -> Result<(), Refused> {
        self.step();
        self.inner.access(peer, access, cookie)?;
        self.held.peers.insert(cookie, peer);
        Ok(())
    }

    fn end(&mut self, peer: Peer, why: &Lost) {
        self.step();
        self.inner.end(peer, why);
        self.forget(peer);
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        self.step();
        self.inner.throttle(peer, on);
    }

    fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        self.inner.expect(peer, one_of_many)
    }

    fn arm(&mut self) -> bool {
        let held = self.held.queues.values().any(|queue| !queue.is_empty());
        self.inner.arm() | held
    }

    fn look(&mut self) {
        self.inner.look();
    }

    fn disarm(&mut self) {
        self.inner.disarm();
    }

    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.inner.describe(out)
    }
}

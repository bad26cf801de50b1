//! A network inside one process, for tests: bounded queues, delivery in an order that a seed decides.
//!
//! It keeps the transport's promises and no more: packets from one peer stay in order, those of different
//! peers mix; a queue may be full at any time; a bulk transfer completes some turns after it is taken up; a link may
//! have to be made first; a process may die, or end another, at any time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard};

use weft_memory::Memory;

use crate::{
    Access, BulkDescriptor, Cookie, Direction, Endpoint, Exposed, Exposure, Fabric, Far, Header,
    Lost, Near, NearEndpoint, Peer, Refused, Sink,
};

/// The network that a set of [`Loopback`] fabrics share.
pub struct Network {
    state: Mutex<State>,
    capacity: usize,
    eager_limit: usize,
    /// Whether a link has to be made by [`Fabric::connect`] before the first packet.
    on_demand: bool,
    is_silent: bool,
}

struct State {
    random: u64,
    /// Packets by lane, sender and receiver.
    queues: BTreeMap<(u32, Peer, Peer), Queue>,
    /// Receivers that a lane of a sender waits for, for room or for a link, by lane and sender.
    refused: BTreeMap<(u32, Peer), BTreeSet<Peer>>,
    throttled: BTreeMap<(u32, Peer, Peer), bool>,
    /// Bulk transfers that were not taken up, by the number in their descriptors.
    transfers: BTreeMap<u64, Transfer>,
    next_transfer: u64,
    /// What processes have exposed, by the number that peers name, and for which lane.
    exposed: BTreeMap<u64, (Peer, u32, Memory)>,
    /// Completions by lane and process.
    events: BTreeMap<(u32, Peer), VecDeque<Event>>,
    /// Which process has a link to which.
    links: BTreeSet<(Peer, Peer)>,
    dead: BTreeSet<Peer>,
    /// Peers that a process has lost, and why.
    lost: BTreeMap<(Peer, Peer), Lost>,
}

type Queue = VecDeque<(Header, Vec<u8>)>;

struct Transfer {
    from: Peer,
    to: Peer,
    source: Memory,
    cookie: Cookie,
}

/// A completion, and the peer whose loss takes it back.
#[derive(Clone, Copy)]
enum Event {
    Sent(Peer, Cookie),
    Received(Peer, Cookie),
}

impl Event {
    fn peer(self) -> Peer {
        match self {
            Event::Sent(peer, _) | Event::Received(peer, _) => peer,
        }
    }
}

impl State {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.random >> 33) as usize % bound
    }

    /// Has `process` lose `peer`: what was under way from there, or was to be told of it, is dropped.
    fn lose(&mut self, process: Peer, peer: Peer, why: &Lost) {
        if self.lost.contains_key(&(process, peer)) {
            return;
        }
        self.lost.insert((process, peer), why.clone());
        self.queues
            .retain(|&(_, from, to), _| (from, to) != (peer, process));
        self.transfers
            .retain(|_, transfer| (transfer.from, transfer.to) != (process, peer));
        for (&(_, owner), events) in &mut self.events {
            if owner == process {
                events.retain(|event| event.peer() != peer);
            }
        }
        for (&(_, owner), receivers) in &mut self.refused {
            if owner == process {
                receivers.remove(&peer);
            }
        }
    }

    fn refuse(&mut self, lane: u32, process: Peer, peer: Peer, why: Refused) -> Refused {
        self.refused
            .entry((lane, process))
            .or_default()
            .insert(peer);
        why
    }
}

impl Network {
    /// Queues hold `capacity` packets of at most `eager_limit` (at least 100) bytes; `seed` decides the order of things.
    pub fn new(seed: u64, capacity: usize, eager_limit: usize) -> Arc<Network> {
        Network::make(seed, capacity, eager_limit, false, false)
    }

    /// As [`new`](Self::new), links being made when they are first needed.
    pub fn on_demand(seed: u64, capacity: usize, eager_limit: usize) -> Arc<Network> {
        Network::make(seed, capacity, eager_limit, true, false)
    }

    /// As [`new`](Self::new), but a process learns that a peer has died only if it has called `expect` for it.
    pub fn silent(seed: u64, capacity: usize, eager_limit: usize) -> Arc<Network> {
        Network::make(seed, capacity, eager_limit, false, true)
    }

    fn make(
        seed: u64,
        capacity: usize,
        eager_limit: usize,
        on_demand: bool,
        is_silent: bool,
    ) -> Arc<Network> {
        assert!(eager_limit >= LoopbackEndpoint::EAGER_TO_ALL);
        let state = State {
            random: seed,
            queues: BTreeMap::new(),
            refused: BTreeMap::new(),
            throttled: BTreeMap::new(),
            transfers: BTreeMap::new(),
            next_transfer: 1,
            exposed: BTreeMap::new(),
            events: BTreeMap::new(),
            links: BTreeSet::new(),
            dead: BTreeSet::new(),
            lost: BTreeMap::new(),
        };
        Arc::new(Network {
            state: Mutex::new(state),
            capacity,
            eager_limit,
            on_demand,
            is_silent,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic inside")
    }

    /// Process `me`'s attachment to the network of `peers`.
    pub fn fabric(self: &Arc<Self>, me: Peer, peers: u32) -> Loopback {
        self.part(me, (0..peers).collect())
    }

    /// Process `me`'s attachment to the network as the part of a fabric that reaches `members`.
    pub fn part(self: &Arc<Self>, me: Peer, members: BTreeSet<Peer>) -> Loopback {
        Loopback {
            network: self.clone(),
            me,
            members: Arc::new(members),
        }
    }

    /// Bulk transfers that were neither taken up nor cancelled.
    pub fn open_transfers(&self) -> usize {
        self.state().transfers.len()
    }

    /// Process `peer` dies: what it has sent still arrives, unless its receiver loses it before; the others lose it where
    /// they have a link to it or expect something of it.
    pub fn kill(&self, peer: Peer) {
        self.state().dead.insert(peer);
    }
}

/// Ends an exposure.
struct Hidden {
    network: Arc<Network>,
    number: u64,
}

impl Drop for Hidden {
    fn drop(&mut self) {
        self.network.state().exposed.remove(&self.number);
    }
}

/// One process's attachment to a [`Network`].
pub struct Loopback {
    network: Arc<Network>,
    me: Peer,
    members: Arc<BTreeSet<Peer>>,
}

/// One lane of a [`Loopback`].
pub struct LoopbackEndpoint {
    network: Arc<Network>,
    lane: u32,
    me: Peer,
    members: Arc<BTreeSet<Peer>>,
    /// Peers whose loss the engine has been told.
    told: BTreeSet<Peer>,
    /// Peers that may die unnoticed otherwise.
    expected: BTreeSet<Peer>,
}

impl Fabric for Loopback {
    type Endpoint = LoopbackEndpoint;

    fn endpoint(&self, lane: u32) -> LoopbackEndpoint {
        LoopbackEndpoint {
            network: self.network.clone(),
            lane,
            me: self.me,
            members: self.members.clone(),
            told: BTreeSet::new(),
            expected: BTreeSet::new(),
        }
    }

    fn connect(&self, peer: Peer) {
        let mut state = self.network.state();
        if state.dead.contains(&peer) {
            state.lose(self.me, peer, &died(peer));
        } else {
            state.links.insert((self.me, peer));
        }
    }

    fn expose(&self, lane: u32, memory: Memory) -> Option<Exposure> {
        let mut state = self.network.state();
        let number = state.next_transfer;
        state.next_transfer += 1;
        state.exposed.insert(number, (self.me, lane, memory));
        let network = self.network.clone();
        Some(Exposure::new(
            Exposed([number, 0, 0]),
            Hidden { network, number },
        ))
    }

    fn reaches_exposed(&self, peer: Peer) -> bool {
        self.members.contains(&peer)
    }

    fn signalled(&self) -> u64 {
        let state = self.network.state();
        let waiting = state
            .queues
            .iter()
            .filter(|(key, queue)| key.2 == self.me && !queue.is_empty());
        waiting.fold(0, |lanes, (key, _)| lanes | 1 << key.0)
    }

    fn prepare_sleep(&self) -> u32 {
        0
    }

    fn sleep(&self, _ticket: u32, _timeout_ms: Option<u32>) {
        // Nobody rings: another engine moves only when this thread, or another, turns to it.
        std::thread::yield_now();
    }

    fn wake(&self) {}
}

impl Near for Loopback {
    fn reaches(&self, peer: Peer) -> bool {
        self.members.contains(&peer)
    }

    fn sleep_with(&self, ticket: u32, timeout_ms: Option<u32>, _descriptors: &[RawFd]) -> bool {
        self.sleep(ticket, timeout_ms);
        true
    }
}

impl Far for Loopback {
    /// None: a sleep ends at once.
    fn descriptors(&self) -> Vec<RawFd> {
        Vec::new()
    }
}

impl NearEndpoint for LoopbackEndpoint {
    fn reaches(&self, peer: Peer) -> bool {
        self.members.contains(&peer)
    }
}

fn died(peer: Peer) -> Lost {
    Lost(format!("rank {peer} is lost: its process has ended").into())
}

impl LoopbackEndpoint {
    /// Whether there is a way to `peer`.
    fn reach(&self, state: &mut State, peer: Peer) -> Result<(), Refused> {
        assert_ne!(peer, self.me, "a message to itself came to a transport");
        if !self.members.contains(&peer) {
            return Err(Refused::Elsewhere);
        }
        if state.lost.contains_key(&(self.me, peer)) {
            return Err(Refused::Lost);
        }
        if self.network.on_demand && !state.links.contains(&(self.me, peer)) {
            return Err(state.refuse(self.lane, self.me, peer, Refused::Connecting));
        }
        Ok(())
    }

    /// Finds out about the dead, of whom nothing is under way any more.
    fn check_lives(&self, state: &mut State) {
        for peer in state.dead.clone() {
            let left = |(&(_, from, to), queue): (&(u32, Peer, Peer), &Queue)| {
                (from, to) == (peer, self.me) && !queue.is_empty()
            };
            let has_link = !self.network.on_demand || state.links.contains(&(self.me, peer));
            let concerned = has_link && !self.network.is_silent || self.expected.contains(&peer);
            if concerned
                && peer != self.me
                && self.members.contains(&peer)
                && !state.queues.iter().any(left)
            {
                state.lose(self.me, peer, &died(peer));
            }
        }
    }
}

impl Endpoint for LoopbackEndpoint {
    const EAGER_TO_ALL: usize = 100;

    fn eager_limit(&self, _peer: Peer) -> usize {
        self.network.eager_limit
    }

    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        self.send_with(peer, header, payload.len(), throttled, |out| {
            out.copy_from_slice(payload)
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
        let mut state = self.network.state();
        self.reach(&mut state, peer)?;
        let limit = self.network.eager_limit;
        assert!(bytes <= limit, "a packet of {bytes} bytes");
        let key = (self.lane, self.me, peer);
        if throttled && state.throttled.get(&key).copied().unwrap_or(false) {
            return Err(Refused::Throttled);
        }
        let queue = state.queues.entry(key).or_default();
        if queue.len() >= self.network.capacity {
            return Err(state.refuse(self.lane, self.me, peer, Refused::Busy));
        }
        let mut payload = vec![0; bytes];
        fill(&mut payload);
        queue.push_back((header, payload));
        Ok(())
    }

    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        let mut packets = Vec::new();
        let mut events = Vec::new();
        let mut writable = Vec::new();
        let mut lost = Vec::new();
        {
            let mut state = self.network.state();
            self.check_lives(&mut state);
            for &from in self.members.iter() {
                let take = state.below(4);
                if let Some(queue) = state.queues.get_mut(&(self.lane, from, self.me)) {
                    let take = take.min(queue.len());
                    packets.extend(queue.drain(..take).map(|packet| (from, packet)));
                }
            }
            let take = state.below(3);
            if let Some(waiting) = state.events.get_mut(&(self.lane, self.me)) {
                let take = take.min(waiting.len());
                events.extend(waiting.drain(..take));
            }
            let refused = state.refused.remove(&(self.lane, self.me));
            for peer in refused.unwrap_or_default() {
                let linked = !self.network.on_demand || state.links.contains(&(self.me, peer));
                let queue = state.queues.get(&(self.lane, self.me, peer));
                if linked && queue.is_none_or(|queue| queue.len() < self.network.capacity) {
                    writable.push(peer);
                } else {
                    state.refuse(self.lane, self.me, peer, Refused::Busy);
                }
            }
            for (&(process, peer), why) in &state.lost {
                if process == self.me && self.told.insert(peer) {
                    lost.push((peer, why.clone()));
                }
            }
        }
        let moved =
            !(packets.is_empty() && events.is_empty() && writable.is_empty() && lost.is_empty());
        for (from, (header, payload)) in packets {
            sink.packet(from, header, &payload);
        }
        for event in events {
            match event {
                Event::Sent(_, cookie) => sink.sent(cookie),
                Event::Received(_, cookie) => sink.received(cookie),
            }
        }
        writable.into_iter().for_each(|peer| sink.writable(peer));
        lost.iter().for_each(|(peer, why)| sink.lost(*peer, why));
        moved
    }

    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        let mut state = self.network.state();
        self.reach(&mut state, peer)?;
        let number = state.next_transfer;
        state.next_transfer += 1;
        let transfer = Transfer {
            from: self.me,
            to: peer,
            source,
            cookie,
        };
        state.transfers.insert(number, transfer);
        Ok(BulkDescriptor([number, 0, 0, 0]))
    }

    fn bulk_cancel(&mut self, _peer: Peer, cookie: Cookie) {
        let me = self.me;
        let mut state = self.network.state();
        state
            .transfers
            .retain(|_, transfer| (transfer.from, transfer.cookie) != (me, cookie));
    }

    fn bulk_receive(
        &mut self,
        peer: Peer,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Refused> {
        if !self.members.contains(&peer) {
            return Err(Refused::Elsewhere);
        }
        let mut state = self.network.state();
        if state.lost.contains_key(&(self.me, peer)) {
            return Err(Refused::Lost);
        }
        let number = descriptor.0[0];
        let sensible = state.transfers.get(&number).is_some_and(|transfer| {
            (transfer.from, transfer.to, transfer.source.bytes) == (peer, self.me, bytes)
        });
        if !sensible {
            let why = Lost(format!("rank {peer} named a transfer that is none").into());
            state.lose(self.me, peer, &why);
            state.lose(peer, self.me, &given_up(self.me));
            return Err(Refused::Lost);
        }
        let transfer = state.transfers.remove(&number).expect("just found");
        if state.dead.contains(&peer) {
            // The memory is gone with the process, which the next poll tells.
            return Ok(());
        }
        let mut copy = vec![0; target.bytes];
        // SAFETY: both buffers belong to pending requests of this process; the lengths were checked.
        unsafe {
            transfer.source.read(0, &mut copy);
            target.write(0, &copy);
        }
        let mut tell = |process, event| {
            let events = state.events.entry((self.lane, process)).or_default();
            events.push_back(event);
        };
        tell(peer, Event::Sent(self.me, transfer.cookie));
        tell(self.me, Event::Received(peer, cookie));
        Ok(())
    }

    fn access(&mut self, peer: Peer, access: Access, cookie: Cookie) -> Result<(), Refused> {
        let mut state = self.network.state();
        self.reach(&mut state, peer)?;
        let Access {
            direction,
            memory,
            exposed: Exposed([number, _, _]),
            offset,
        } = access;
        let exposed = state.exposed.get(&number);
        let exposed = exposed.filter(|&&(owner, lane, _)| (owner, lane) == (peer, self.lane));
        let fits = exposed.filter(|(_, _, there)| offset as usize + memory.bytes <= there.bytes);
        let Some((_, _, there)) = fits else {
            let why = Lost(format!("rank {peer} does not give the memory that it exposed").into());
            state.lose(self.me, peer, &why);
            state.lose(peer, self.me, &given_up(self.me));
            return Err(Refused::Lost);
        };
        let there = there.part(offset as usize, memory.bytes);
        if state.dead.contains(&peer) {
            // The memory is gone with the process, which the next poll tells.
            return Ok(());
        }
        let (from, to) = match direction {
            Direction::Write => (&memory, &there),
            Direction::Read => (&there, &memory),
        };
        let mut copy = vec![0; memory.bytes];
        // SAFETY: one is a pending request's of this process, the other is exposed, which is valid until then; the lengths were checked.
        unsafe {
            from.read(0, &mut copy);
            to.write(0, &copy);
        }
        let event = match direction {
            Direction::Write => Event::Sent(peer, cookie),
            Direction::Read => Event::Received(peer, cookie),
        };
        let events = state.events.entry((self.lane, self.me)).or_default();
        events.push_back(event);
        Ok(())
    }

    fn end(&mut self, peer: Peer, why: &Lost) {
        let mut state = self.network.state();
        state.lose(self.me, peer, why);
        state.lose(peer, self.me, &given_up(self.me));
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        let mut state = self.network.state();
        state.throttled.insert((self.lane, peer, self.me), on);
    }

    fn expect(&mut self, peer: Peer, _one_of_many: bool) -> Result<(), Refused> {
        if !self.members.contains(&peer) {
            return Err(Refused::Elsewhere);
        }
        let state = self.network.state();
        if state.lost.contains_key(&(self.me, peer)) {
            return Err(Refused::Lost);
        }
        self.expected.insert(peer);
        Ok(())
    }

    fn arm(&mut self) -> bool {
        let state = self.network.state();
        let mut queues = state.queues.iter();
        let events = state.events.get(&(self.lane, self.me));
        queues.any(|(key, queue)| (key.0, key.2) == (self.lane, self.me) && !queue.is_empty())
            || events.is_some_and(|events| !events.is_empty())
    }

    fn disarm(&mut self) {}

    fn describe(&self, _out: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }
}

fn given_up(peer: Peer) -> Lost {
    Lost(format!("rank {peer} is lost: it has given up the connection to this process").into())
}

//! A network inside one process, for tests: bounded queues, delivery in an order that a seed decides.
//!
//! It keeps the transport's promises and no more: packets from one peer stay in order, those of different
//! peers mix; a queue may be full at any time; a bulk transfer completes some turns after it is accepted.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};

use crate::{Cookie, Endpoint, Fabric, Header, Lost, Memory, Offer, Peer, Refused, Sink};

/// The network that a set of [`Loopback`] fabrics share.
pub struct Network {
    state: Mutex<State>,
    capacity: usize,
    eager_limit: usize,
}

struct State {
    random: u64,
    /// Packets by lane, sender and receiver.
    queues: HashMap<(u32, Peer, Peer), Queue>,
    /// Senders to tell of room, by lane and sender.
    refused: HashMap<(u32, Peer), Vec<Peer>>,
    throttled: HashMap<(u32, Peer, Peer), bool>,
    offers: HashMap<u64, (Peer, Memory, Cookie)>,
    next_offer: u64,
    /// Completions by lane and process.
    events: HashMap<(u32, Peer), VecDeque<Event>>,
}

type Queue = VecDeque<(Header, Vec<u8>)>;

enum Event {
    Sent(Cookie),
    Received(Cookie),
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
}

impl Network {
    /// Queues hold `capacity` packets of at most `eager_limit` bytes; `seed` decides the order of things.
    pub fn new(seed: u64, capacity: usize, eager_limit: usize) -> Arc<Network> {
        let state = State {
            random: seed,
            queues: HashMap::new(),
            refused: HashMap::new(),
            throttled: HashMap::new(),
            offers: HashMap::new(),
            next_offer: 1,
            events: HashMap::new(),
        };
        Arc::new(Network {
            state: Mutex::new(state),
            capacity,
            eager_limit,
        })
    }

    /// Process `me`'s attachment to the network of `peers`.
    pub fn fabric(self: &Arc<Self>, me: Peer, peers: u32) -> Loopback {
        Loopback {
            network: self.clone(),
            me,
            peers,
        }
    }

    /// Offers made and neither accepted nor taken back.
    pub fn open_offers(&self) -> usize {
        self.state.lock().expect("no panic inside").offers.len()
    }
}

/// One process's attachment to a [`Network`].
pub struct Loopback {
    network: Arc<Network>,
    me: Peer,
    peers: u32,
}

/// One lane of a [`Loopback`].
pub struct LoopbackEndpoint {
    network: Arc<Network>,
    lane: u32,
    me: Peer,
    peers: u32,
}

impl Fabric for Loopback {
    type Endpoint = LoopbackEndpoint;

    fn endpoint(&self, lane: u32) -> LoopbackEndpoint {
        LoopbackEndpoint {
            network: self.network.clone(),
            lane,
            me: self.me,
            peers: self.peers,
        }
    }

    fn signalled(&self) -> u64 {
        let state = self.network.state.lock().expect("no panic inside");
        let waiting = state
            .queues
            .iter()
            .filter(|(key, queue)| key.2 == self.me && !queue.is_empty());
        waiting.fold(0, |lanes, (key, _)| lanes | 1 << key.0)
    }

    fn prepare(&self) -> u32 {
        0
    }

    fn sleep(&self, _ticket: u32, _timeout_ms: Option<u32>) {
        // Nobody rings: another engine moves only when this thread, or another, turns to it.
        std::thread::yield_now();
    }

    fn wake(&self) {}
}

impl Endpoint for LoopbackEndpoint {
    fn eager_limit(&self) -> usize {
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
        assert!(
            bytes <= self.network.eager_limit,
            "a packet of {bytes} bytes"
        );
        assert_ne!(peer, self.me, "a message to itself came to a transport");
        let mut state = self.network.state.lock().expect("no panic inside");
        let key = (self.lane, self.me, peer);
        if throttled && state.throttled.get(&key).copied().unwrap_or(false) {
            return Err(Refused::Throttled);
        }
        let queue = state.queues.entry(key).or_default();
        if queue.len() >= self.network.capacity {
            state
                .refused
                .entry((self.lane, self.me))
                .or_default()
                .push(peer);
            return Err(Refused::Busy);
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
        {
            let mut state = self.network.state.lock().expect("no panic inside");
            for from in 0..self.peers {
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
            let refused = state
                .refused
                .remove(&(self.lane, self.me))
                .unwrap_or_default();
            for peer in refused {
                let queue = state.queues.get(&(self.lane, self.me, peer));
                if queue.is_none_or(|queue| queue.len() < self.network.capacity) {
                    writable.push(peer);
                } else {
                    state
                        .refused
                        .entry((self.lane, self.me))
                        .or_default()
                        .push(peer);
                }
            }
        }
        let moved = !packets.is_empty() || !events.is_empty() || !writable.is_empty();
        for (from, (header, payload)) in packets {
            sink.packet(from, header, &payload);
        }
        for event in events {
            match event {
                Event::Sent(cookie) => sink.sent(cookie),
                Event::Received(cookie) => sink.received(cookie),
            }
        }
        writable.into_iter().for_each(|peer| sink.writable(peer));
        moved
    }

    fn offer(&mut self, _peer: Peer, source: Memory, cookie: Cookie) -> Offer {
        let mut state = self.network.state.lock().expect("no panic inside");
        let number = state.next_offer;
        state.next_offer += 1;
        state.offers.insert(number, (self.me, source, cookie));
        Offer([number, 0, 0, 0])
    }

    fn retract(&mut self, _peer: Peer, cookie: Cookie) {
        let mut state = self.network.state.lock().expect("no panic inside");
        let me = self.me;
        state
            .offers
            .retain(|_, (owner, _, mine)| (*owner, *mine) != (me, cookie));
    }

    fn accept(
        &mut self,
        peer: Peer,
        offer: Offer,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Lost> {
        let mut state = self.network.state.lock().expect("no panic inside");
        let taken = state.offers.remove(&offer.0[0]);
        let Some((owner, source, sender)) = taken.filter(|offer| offer.0 == peer) else {
            return Err(Lost(format!("peer {peer}: no such offer").into()));
        };
        assert_eq!(source.bytes, bytes);
        let mut copy = vec![0; target.bytes];
        // SAFETY: both buffers belong to pending requests of this process; the lengths were checked.
        unsafe {
            source.read(0, &mut copy);
            target.write(0, &copy);
        }
        state
            .events
            .entry((self.lane, owner))
            .or_default()
            .push_back(Event::Sent(sender));
        state
            .events
            .entry((self.lane, self.me))
            .or_default()
            .push_back(Event::Received(cookie));
        Ok(())
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        let mut state = self.network.state.lock().expect("no panic inside");
        state.throttled.insert((self.lane, peer, self.me), on);
    }

    fn arm(&mut self) -> bool {
        true
    }

    fn disarm(&mut self) {}

    fn describe(&self, _out: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }
}

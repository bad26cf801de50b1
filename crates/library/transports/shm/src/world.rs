//! For tests: several fabrics in one process, and a sink that remembers.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use weft_memory::Memory;
use weft_transport::{
    BulkDescriptor, Cookie, Directory, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink,
};

use crate::endpoint::ShmEndpoint;
use crate::fabric::Shm;
use crate::shared::Options;

/// Cards in a map.
#[derive(Default)]
pub struct Cards(pub Mutex<HashMap<Peer, String>>);

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        self.0
            .lock()
            .unwrap()
            .get(&peer)
            .cloned()
            .ok_or_else(|| "it has no card".to_owned())
    }
}

/// What a lane was told.
#[derive(Default)]
pub struct Log {
    pub packets: VecDeque<(Peer, Header, Vec<u8>)>,
    pub announced: usize,
    /// What the engine says of itself.
    pub expects_nothing: bool,
    pub sent: Vec<Cookie>,
    pub received: Vec<Cookie>,
    pub writable: Vec<Peer>,
    /// Peers to which the endpoint needs links.
    pub connect: Vec<Peer>,
    pub lost: BTreeMap<Peer, String>,
}

impl Sink for Log {
    fn looks_ahead(&self) -> bool {
        true
    }

    fn expects_nothing(&self) -> bool {
        self.expects_nothing
    }

    fn upcoming(&mut self, _: Peer, _: Header) {
        self.announced += 1;
    }
    fn packet(&mut self, from: Peer, header: Header, payload: &[u8]) {
        self.packets.push_back((from, header, payload.to_vec()));
    }
    fn sent(&mut self, cookie: Cookie) {
        self.sent.push(cookie);
    }
    fn received(&mut self, cookie: Cookie) {
        self.received.push(cookie);
    }
    fn writable(&mut self, peer: Peer) {
        self.writable.push(peer);
    }
    fn connect(&mut self, peer: Peer) {
        self.connect.push(peer);
    }
    fn lost(&mut self, peer: Peer, lost: &Lost) {
        assert!(
            self.lost.insert(peer, lost.to_string()).is_none(),
            "told twice"
        );
    }
}

/// One process, as it were, with one lane.
pub struct Process {
    pub rank: Peer,
    pub fabric: Shm,
    pub endpoint: ShmEndpoint,
    pub log: Log,
}

impl Process {
    /// A turn, and what an engine does after it: has links made that are needed.
    pub fn poll(&mut self) -> bool {
        let moved = self.endpoint.poll(&mut self.log);
        let peers = std::mem::take(&mut self.log.connect);
        if peers.is_empty() {
            return moved;
        }
        peers.iter().for_each(|&peer| self.fabric.connect(peer));
        self.poll() | moved
    }

    /// Does something that may need a link to `peer`, which is made then.
    pub fn linked<R>(
        &mut self,
        peer: Peer,
        mut what: impl FnMut(&mut ShmEndpoint) -> Result<R, Refused>,
    ) -> Result<R, Refused> {
        loop {
            match what(&mut self.endpoint) {
                Err(Refused::Connecting) => {
                    self.fabric.connect(peer);
                    self.poll();
                    if !self.log.lost.contains_key(&peer) {
                        let told = self.log.writable.iter().position(|&other| other == peer);
                        self.log.writable.remove(told.expect("the engine is told"));
                    }
                }
                done => return done,
            }
        }
    }

    /// What it waits for, in words.
    pub fn pending(&self) -> String {
        let mut text = String::new();
        self.endpoint.describe(&mut text).unwrap();
        text
    }
}

pub fn world(size: u32, options: Options) -> Vec<Process> {
    host((0..size).collect(), options)
}

/// A host with these ranks.
pub fn host(ranks: Vec<Peer>, options: Options) -> Vec<Process> {
    let cards = Arc::new(Cards::default());
    let attach = |&rank: &Peer| Shm::with_options(rank, &ranks, 2, cards.clone(), options).unwrap();
    let fabrics: Vec<Shm> = ranks.iter().map(attach).collect();
    for (&rank, fabric) in ranks.iter().zip(&fabrics) {
        cards.0.lock().unwrap().insert(rank, fabric.card());
    }
    ranks
        .into_iter()
        .zip(fabrics)
        .map(|(rank, fabric)| {
            let endpoint = fabric.endpoint(0);
            Process {
                rank,
                fabric,
                endpoint,
                log: Log::default(),
            }
        })
        .collect()
}

pub fn pair(options: Options) -> (Process, Process) {
    let mut both = world(2, options);
    let second = both.pop().unwrap();
    (both.pop().unwrap(), second)
}

/// A small generator of random numbers (xorshift64*), so that a failure can be repeated by its seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut seed = self.below(1 << 30) as u32;
        (0..count)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            })
            .collect()
    }
}

/// An offer as the engine would carry it: in the payload of a packet.
pub fn offer_bytes(offer: BulkDescriptor) -> Vec<u8> {
    offer.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

pub fn offer_from(payload: &[u8]) -> BulkDescriptor {
    let mut words = payload
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
    BulkDescriptor(std::array::from_fn(|_| words.next().unwrap()))
}

pub fn memory(bytes: &mut [u8]) -> Memory {
    Memory::contiguous(bytes.as_mut_ptr(), bytes.len())
}

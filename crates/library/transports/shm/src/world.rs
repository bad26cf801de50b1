//! For tests: several fabrics in one process, and a sink that remembers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub use weft_contract::{Cards, Random, memory, offer_bytes, offer_from};
use weft_transport::{Cookie, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink};

use crate::endpoint::ShmEndpoint;
use crate::fabric::Shm;
use crate::shared::Options;

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
        cards.put(rank, fabric.card());
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

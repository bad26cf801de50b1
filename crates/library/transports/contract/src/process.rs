//! Processes, as it were, and what each was told.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use weft_transport::{Cookie, Directory, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink};

/// Cards in a map.
#[derive(Default)]
pub struct Cards(pub Mutex<HashMap<Peer, String>>);

impl Cards {
    /// Publishes a process's card.
    pub fn put(&self, rank: Peer, card: String) {
        self.0.lock().unwrap().insert(rank, card);
    }
}

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        let cards = self.0.lock().unwrap();
        cards
            .get(&peer)
            .cloned()
            .ok_or_else(|| "it has no card".to_owned())
    }
}

/// A transport under test.
pub trait Tested: Fabric + Sized {
    /// The lanes that each process has; bits of [`Fabric::signalled`] above them are the transport's own.
    const LANES: u32;

    /// Process `rank` of so many, which finds the others in `cards`.
    fn tested(rank: Peer, size: u32, cards: Arc<Cards>) -> Self;

    fn own_card(&self) -> String;

    /// Links that stand, and those that are being made.
    fn links(&self) -> u64;
    fn under_way(&self) -> usize;
}

/// What a lane was told.
#[derive(Default)]
pub struct Log {
    pub packets: VecDeque<(Peer, Header, Vec<u8>)>,
    pub sent: Vec<Cookie>,
    pub received: Vec<Cookie>,
    pub writable: Vec<Peer>,
    /// Peers to which the endpoint needs connections.
    pub connect: Vec<Peer>,
    pub lost: BTreeMap<Peer, String>,
}

impl Sink for Log {
    fn packet(&mut self, from: Peer, header: Header, payload: &[u8]) {
        assert!(!self.lost.contains_key(&from), "a packet of a lost peer");
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
        let told = self.lost.insert(peer, lost.to_string());
        assert!(told.is_none(), "told twice");
    }
}

/// One process, as it were, with one lane.
pub struct Process<F: Fabric> {
    pub fabric: F,
    pub endpoint: F::Endpoint,
    pub log: Log,
}

impl<F: Tested> Process<F> {
    pub fn new(fabric: F) -> Process<F> {
        Process {
            endpoint: fabric.endpoint(0),
            fabric,
            log: Log::default(),
        }
    }

    /// A turn, and what an engine does after it: has links made that are needed.
    pub fn poll(&mut self) -> bool {
        if self.fabric.signalled() >> F::LANES != 0 {
            self.fabric.serve();
        }
        let moved = self.endpoint.poll(&mut self.log);
        self.endpoint.flush();
        let peers = std::mem::take(&mut self.log.connect);
        peers.iter().for_each(|&peer| self.fabric.connect(peer));
        moved
    }

    /// Something that may need a link to `peer`, which then is begun.
    pub fn try_to<R>(
        &mut self,
        peer: Peer,
        what: impl FnOnce(&mut F::Endpoint) -> Result<R, Refused>,
    ) -> Result<R, Refused> {
        let done = what(&mut self.endpoint);
        if matches!(done, Err(Refused::Connecting)) {
            self.fabric.connect(peer);
        }
        done
    }

    pub fn send(&mut self, to: Peer, tag: u64, payload: &[u8]) -> Result<(), Refused> {
        let header = Header([tag, !tag]);
        self.try_to(to, |endpoint| endpoint.send(to, header, payload, true))
    }

    /// What it waits for, in words.
    pub fn pending(&self) -> String {
        let mut text = String::new();
        self.endpoint.describe(&mut text).unwrap();
        text
    }
}

/// Processes that can reach each other.
pub struct World<F: Fabric> {
    pub cards: Arc<Cards>,
    pub all: Vec<Process<F>>,
}

impl<F: Tested> World<F> {
    /// So many, each with the fabric that `make` gives its rank.
    pub fn new(size: u32, make: impl Fn(Peer, Arc<Cards>) -> F) -> World<F> {
        let cards = Arc::new(Cards::default());
        let made = |rank| {
            let fabric = make(rank, cards.clone());
            cards.put(rank, fabric.own_card());
            Process::new(fabric)
        };
        let all = (0..size).map(made).collect();
        World { cards, all }
    }

    /// The two of a world of two.
    pub fn into_pair(self) -> (Process<F>, Process<F>) {
        let two = <[Process<F>; 2]>::try_from(self.all)
            .ok()
            .expect("a world of two");
        two.into()
    }
}

pub fn world<F: Tested>(size: u32) -> Vec<Process<F>> {
    World::new(size, |rank, cards| F::tested(rank, size, cards)).all
}

pub fn pair<F: Tested>() -> (Process<F>, Process<F>) {
    World::new(2, |rank, cards| F::tested(rank, 2, cards)).into_pair()
}

/// Two processes with a link.
pub fn linked_pair<F: Tested>() -> (Process<F>, Process<F>) {
    let (mut a, mut b) = pair();
    link(&mut a, &mut b);
    (a, b)
}

/// Makes a link and uses it once each way.
pub fn link<F: Tested>(a: &mut Process<F>, b: &mut Process<F>) {
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
    turn(&mut [a, b], |all| !all[0].log.writable.is_empty());
    a.log.writable.clear();
    a.send(1, 0, &[]).unwrap();
    turn(&mut [a, b], |all| !all[1].log.packets.is_empty());
    b.log.packets.clear();
    turn(&mut [a, b], |all| all[1].send(0, 0, &[]).is_ok());
    turn(&mut [a, b], |all| !all[0].log.packets.is_empty());
    (a.log, b.log) = (Log::default(), Log::default());
}

/// Turns all until `done`, for no longer than a test may take.
pub fn turn<F: Tested>(
    all: &mut [&mut Process<F>],
    mut done: impl FnMut(&mut [&mut Process<F>]) -> bool,
) {
    let begin = Instant::now();
    while !done(all) {
        all.iter_mut().for_each(|process| {
            process.poll();
        });
        if begin.elapsed() >= Duration::from_secs(20) {
            let pending: Vec<String> = all.iter().map(|one| one.pending()).collect();
            panic!("it does not come:\n{}", pending.join("\n"));
        }
    }
}

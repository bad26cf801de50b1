//! For tests: several fabrics in one process, and a sink that remembers.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use weft_memory::{Layout, Memory};
use weft_transport::{
    BulkDescriptor, Cookie, Directory, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink,
};
use weft_verbs::abi::Library;
use weft_verbs::library_at;

use crate::{Options, Rdma, RdmaEndpoint};

const LANES: u32 = 2;

/// Cards in a map.
#[derive(Default)]
pub struct Cards(pub Mutex<HashMap<Peer, String>>);

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        let cards = self.0.lock().unwrap();
        cards
            .get(&peer)
            .cloned()
            .ok_or_else(|| "it has no card".to_owned())
    }
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
pub struct Process {
    pub fabric: Rdma,
    pub endpoint: RdmaEndpoint,
    pub log: Log,
}

impl Process {
    /// A turn, and what an engine does after it: has links made that are needed.
    pub fn poll(&mut self) -> bool {
        if self.fabric.signalled() >> LANES != 0 {
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
        what: impl FnOnce(&mut RdmaEndpoint) -> Result<R, Refused>,
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

/// The device in software, loaded as programs load it: the library that cargo built for these tests.
fn software() -> &'static Library {
    static LIBRARY: OnceLock<&Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let name = format!("rdma-test-{}", std::process::id());
        // SAFETY: no other thread of the tests reads the environment before it has been here.
        unsafe { std::env::set_var("SOFTRDMA_FABRIC", name) };
        let test = std::env::current_exe().expect("a test has a path");
        let built = test.parent().expect("deps").join("libibverbs.so");
        library_at(&built).expect("the library loads")
    })
}

thread_local! {
    static IS_OVER_XRC: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test with processes that are all of one host, and reach each other over XRC.
pub fn over_xrc(test: impl FnOnce()) {
    IS_OVER_XRC.set(true);
    test();
    IS_OVER_XRC.set(false);
}

pub fn options() -> Options {
    Options {
        job: "test".to_owned(),
        first_of_host: IS_OVER_XRC.get().then_some(0),
        timeout: Some(Duration::from_secs(1)),
        library: Some(software()),
        ..Options::default()
    }
}

pub struct World {
    pub cards: Arc<Cards>,
    pub all: Vec<Process>,
}

pub fn world_with(size: u32, options: &Options) -> World {
    worlds_apart(&vec![options.clone(); size as usize])
}

/// Processes with options of their own.
pub fn worlds_apart(options: &[Options]) -> World {
    let cards = Arc::new(Cards::default());
    let size = options.len() as u32;
    let make = |rank: Peer| {
        let options = options[rank as usize].clone();
        let fabric = Rdma::new(rank, size, LANES, cards.clone(), options).unwrap();
        cards.0.lock().unwrap().insert(rank, fabric.card());
        Process {
            endpoint: fabric.endpoint(0),
            fabric,
            log: Log::default(),
        }
    };
    let all = (0..size).map(make).collect();
    World { cards, all }
}

pub fn world(size: u32) -> Vec<Process> {
    world_with(size, &options()).all
}

pub fn pair() -> (Process, Process) {
    let mut both = world(2);
    let second = both.pop().unwrap();
    (both.pop().unwrap(), second)
}

/// Two processes with a link, over XRC one each way.
pub fn linked_pair() -> (Process, Process) {
    let (mut a, mut b) = pair();
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
    turn(&mut [&mut a, &mut b], |all| !all[0].log.writable.is_empty());
    a.log.writable.clear();
    a.send(1, 0, &[]).unwrap();
    turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
    b.log.packets.clear();
    turn(&mut [&mut a, &mut b], |all| all[1].send(0, 0, &[]).is_ok());
    turn(&mut [&mut a, &mut b], |all| !all[0].log.packets.is_empty());
    (a.log, b.log) = (Log::default(), Log::default());
    (a, b)
}

/// Turns all until `done`, for no longer than a test may take.
pub fn turn(all: &mut [&mut Process], mut done: impl FnMut(&mut [&mut Process]) -> bool) {
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
        let next = |_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        (0..count).map(next).collect()
    }
}

/// Bytes that lie together, and that no adapter is told of.
pub struct Scattered;

// SAFETY: touches the bytes of the span that are packed.
unsafe impl Layout for Scattered {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        for (index, byte) in out.iter_mut().enumerate() {
            // SAFETY: by this function's contract.
            *byte = unsafe { *base.add(offset + index) };
        }
    }
    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        for (index, byte) in data.iter().enumerate() {
            // SAFETY: by this function's contract.
            unsafe { *base.add(offset + index) = *byte };
        }
    }
}

/// An offer as the engine would carry it: in the payload of a packet.
pub fn offer_bytes(offer: BulkDescriptor) -> Vec<u8> {
    offer.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

pub fn offer_from(payload: &[u8]) -> BulkDescriptor {
    let words = payload.chunks_exact(8);
    let mut words = words.map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
    BulkDescriptor(std::array::from_fn(|_| words.next().unwrap()))
}

pub fn memory(bytes: &mut [u8]) -> Memory {
    Memory::contiguous(bytes.as_mut_ptr(), bytes.len())
}

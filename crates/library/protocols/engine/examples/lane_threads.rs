//! Messages a second of T threads on one lane, without a peer: what the lane's lines cost between cores, and no more.
//!
//! `cargo run --release -p weft-engine --example lane_threads [SECONDS [THREADS]...]`
//!
//! What bounds threads that share a lane is cache lines that go from core to core, at 50 to 250 ns each. A message
//! whose thread is inside moves, if another was inside before it, the section's word, the endpoint's and the tables'
//! lines, and with a request the head of the list of slots that came back. One that is handed in moves the head of the
//! submission list, and both lines of its slot to the holder and back, and the section's word unless another's mark
//! stands there; the holder finds the slots by their links, one miss behind the other.
//!
//! The transport lies in memory: what is sent is counted, and what arrives costs a few stores. Each thread has a core
//! and a tag of its own. `send`: windows of 64 messages of 8 bytes, each acknowledged by an empty one; `receive`:
//! windows of 64 receives, asked for by an empty message. As `bench/threads.c`, of which this is one side.

use std::fmt;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use weft_engine::{Engine, Incoming, Outgoing, Pace, RequestId, Route, Span};
use weft_memory::Memory;
use weft_transport::{BulkDescriptor, Cookie, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink};

const WINDOW: usize = 64;
const THREADS_MAX: usize = 64;
/// Rounds, and how often one is tried at most in which no thread loses its core.
const ROUNDS: usize = 15;
const TRIES: usize = 200;
/// Windows of each thread before the time begins.
const WARM: usize = 100;
const ME: Peer = 0;
const PEER: Peer = 1;
const CONTEXT: u32 = 8;
/// What a poll delivers at most, as over shared memory.
const PACKETS_OF_POLL: u32 = 64;

/// How many messages of a window this process sends, and receives in answer.
#[derive(Clone, Copy)]
struct Mode {
    name: &'static str,
    sends: usize,
    receives: usize,
}

const MODES: [Mode; 2] = [
    Mode {
        name: "send",
        sends: WINDOW,
        receives: 1,
    },
    Mode {
        name: "receive",
        sends: 1,
        receives: WINDOW,
    },
];

/// What makes the endpoint.
struct InProcess {
    mode: Mode,
}

/// The way to the peer and the peer: counts by tag.
struct InMemory {
    mode: Mode,
    sent: [u32; THREADS_MAX],
    to_come: [u32; THREADS_MAX],
    tags_to_come: u64,
    /// Of which something came last.
    last: usize,
    /// As in a ring: the lines are the endpoint's own.
    cells: Box<[[u64; 8]; 256]>,
    next: usize,
}

impl Fabric for InProcess {
    type Endpoint = InMemory;

    fn endpoint(&self, _lane: u32) -> InMemory {
        InMemory {
            mode: self.mode,
            sent: [0; THREADS_MAX],
            to_come: [0; THREADS_MAX],
            tags_to_come: 0,
            last: 0,
            cells: Box::new([[0; 8]; 256]),
            next: 0,
        }
    }
    fn signalled(&self) -> u64 {
        0
    }
    fn prepare_sleep(&self) -> u32 {
        0
    }
    fn sleep(&self, _ticket: u32, _timeout_ms: Option<u32>) {
        std::thread::yield_now();
    }
    fn wake(&self) {}
}

impl InMemory {
    /// Here it lies in the header's second word, above the context.
    fn tag(header: Header) -> usize {
        (header.0[1] >> 32) as usize
    }
}

impl Endpoint for InMemory {
    const EAGER_TO_ALL: usize = 1024;

    fn eager_limit(&self, _peer: Peer) -> usize {
        1024
    }

    #[inline(always)]
    fn send_at_once(&mut self, _: Peer, header: Header, payload: &[u8], _: bool) -> bool {
        let cell = &mut self.cells[self.next % 256];
        self.next += 1;
        cell[..2].copy_from_slice(&header.0);
        if let Ok(word) = payload.try_into() {
            cell[2] = u64::from_ne_bytes(word);
        }
        let tag = InMemory::tag(header);
        self.sent[tag] += 1;
        if self.sent[tag] == self.mode.sends as u32 {
            self.sent[tag] = 0;
            self.to_come[tag] += self.mode.receives as u32;
            self.tags_to_come |= 1 << tag;
        }
        true
    }

    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        self.send_at_once(peer, header, payload, throttled);
        Ok(())
    }

    fn send_with(
        &mut self,
        peer: Peer,
        header: Header,
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        let mut payload = vec![0; bytes];
        fill(&mut payload);
        self.send(peer, header, &payload, throttled)
    }

    #[inline]
    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        if self.tags_to_come == 0 {
            return false;
        }
        let mut left = PACKETS_OF_POLL;
        while self.tags_to_come != 0 && left > 0 {
            // In turns, as what threads ask of a peer comes in the order in which they ask.
            let behind = self.tags_to_come & (u64::MAX << 1 << self.last);
            let some = if behind != 0 {
                behind
            } else {
                self.tags_to_come
            };
            let tag = some.trailing_zeros() as usize;
            self.last = tag;
            let packets = self.to_come[tag].min(left);
            let envelope = weft_wire::Packet {
                kind: weft_wire::PacketKind::Eager,
                flags: 0,
                source: PEER,
                context: CONTEXT,
                tag: tag as u32,
            };
            for packet in 0..u64::from(packets) {
                let payload = packet.to_ne_bytes();
                let bytes = if self.mode.receives == 1 { 0 } else { 8 };
                sink.packet(PEER, Header(envelope.words()), &payload[..bytes]);
            }
            left -= packets;
            self.to_come[tag] -= packets;
            if self.to_come[tag] == 0 {
                self.tags_to_come &= !(1 << tag);
            }
        }
        true
    }

    fn bulk_send(&mut self, _: Peer, _: Memory, _: Cookie) -> Result<BulkDescriptor, Refused> {
        unreachable!("all messages are short")
    }
    fn bulk_cancel(&mut self, _: Peer, _: Cookie) {}
    fn bulk_receive(
        &mut self,
        _: Peer,
        _: BulkDescriptor,
        _: usize,
        _: Memory,
        _: Cookie,
    ) -> Result<(), Refused> {
        unreachable!("all messages are short")
    }
    fn end(&mut self, _: Peer, why: &Lost) {
        panic!("{why}");
    }
    fn throttle(&mut self, _: Peer, _: bool) {}
    fn arm(&mut self) -> bool {
        false
    }
    fn disarm(&mut self) {}
    fn describe(&self, _: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }
}

fn route(source: Peer, tag: usize) -> Route {
    Route {
        lane: 0,
        peer: PEER,
        context: CONTEXT,
        source: source as i32,
        tag: tag as i32,
    }
}

fn window(engine: &Engine<InProcess>, mode: Mode, tag: usize, values: &mut [u64; WINDOW]) {
    let mut requests = [RequestId::DONE; WINDOW + 1];
    let bytes = |count: usize| if count == 1 { 0 } else { 8 };
    let base = values.as_mut_ptr();
    let span = |index: usize, count| Span {
        base: base.wrapping_add(index).cast(),
        bytes: bytes(count),
    };
    for (index, request) in requests[..mode.receives].iter_mut().enumerate() {
        let (route, memory) = (route(PEER, tag), span(index, mode.receives));
        *request = engine
            .receive_span(Incoming { route, memory })
            .expect("a request");
    }
    for (index, request) in requests[mode.receives..].iter_mut().enumerate() {
        let (route, memory) = (route(ME, tag), span(index, mode.sends));
        let message = Outgoing {
            route,
            memory,
            synchronous: false,
        };
        *request = engine.send_span(message).expect("a request");
    }
    for id in requests {
        let done = id == RequestId::DONE
            || engine.finish_if_successful(id)
            || engine.progress_and_finish_if_successful(id);
        if !done {
            engine.wait(id);
        }
    }
}

fn pin(core: usize) {
    // SAFETY: an all-zero set is an empty one, and it lies here; a core that is not there is refused.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// Processor time that the calling thread has had.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Messages of all threads a microsecond, as if all were as slow as the slowest: they have as much to do each. None if a
/// thread lost its core meanwhile.
fn rate(mode: Mode, threads: usize, duration: Duration) -> Option<f64> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let engine = Engine::new(InProcess { mode }, ME, 2, Pace::ALONE, cores as u32);
    let begin = Barrier::new(threads);
    let work = |tag: usize| {
        pin(tag % cores);
        let mut values = [0; WINDOW];
        (0..WARM).for_each(|_| window(&engine, mode, tag, &mut values));
        begin.wait();
        let cpu = cpu_time();
        let (begun, mut windows) = (Instant::now(), 0usize);
        while begun.elapsed() < duration {
            (0..16).for_each(|_| window(&engine, mode, tag, &mut values));
            windows += 16;
        }
        let (time, cpu) = (begun.elapsed(), cpu_time() - cpu);
        let has_core = cpu.as_secs_f64() > 0.97 * time.as_secs_f64();
        has_core.then(|| (windows * WINDOW) as f64 / time.as_secs_f64() / 1e6)
    };
    std::thread::scope(|scope| {
        let workers = (0..threads).map(|tag| scope.spawn(move || work(tag)));
        let workers = Vec::from_iter(workers);
        let rates = workers.into_iter().map(|one| one.join().expect("a worker"));
        let slowest = rates.reduce(|one, other| Some(one?.min(other?)));
        Some(slowest?? * threads as f64)
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments
        .next()
        .map_or(0.2, |word| word.parse().expect("seconds"));
    let mut threads = Vec::from_iter(arguments.map(|word| word.parse::<usize>().expect("threads")));
    if threads.is_empty() {
        threads = vec![1, 2];
    }
    for mode in MODES.into_iter().filter(|mode| {
        std::env::var("MODE").is_ok_and(|m| m == mode.name) || std::env::var("MODE").is_err()
    }) {
        for &threads in &threads {
            let duration = Duration::from_secs_f64(seconds);
            let rounds = (0..TRIES).filter_map(|_| rate(mode, threads, duration));
            let mut rates = Vec::from_iter(rounds.take(ROUNDS));
            if rates.is_empty() {
                println!("{:8} {threads} threads: the cores were wanted", mode.name);
                continue;
            }
            rates.sort_by(f64::total_cmp);
            println!(
                "{:8} {threads} threads: {:6.2} Mmsg/s ({:.2} to {:.2})",
                mode.name,
                rates[rates.len() / 2],
                rates[0],
                rates[rates.len() - 1]
            );
        }
    }
}

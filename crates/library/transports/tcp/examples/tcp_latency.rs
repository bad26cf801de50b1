//! Half round trips, streams and windows of small messages between two engines over TCP, beside those of two bare sockets in
//! the same run.
//!
//! On one machine: `cargo run --release -p weft-tcp --example tcp_latency [BATCHES [BYTES]...]`. Between two: with `--listen` on one,
//! and then with `--connect ADDRESS` on the other, where the figures are told.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use weft_engine::{Engine, Incoming, LANES, Outgoing, Pace, RequestId, Route};
use weft_memory::Memory;
use weft_tcp::{Counters, Options, Tcp};
use weft_transport::{Directory, Peer};

const PORT: u16 = 7811;
const WINDOW: usize = 64;
const LONGEST: usize = 4 << 20;
const MEBIBYTE: usize = 1 << 20;

/// The other process's card, once it is known.
struct Card(Arc<OnceLock<String>>);

impl Directory for Card {
    fn card(&self, _: Peer) -> Result<String, String> {
        self.0
            .get()
            .cloned()
            .ok_or_else(|| "no card yet".to_owned())
    }
}

/// Half of a round trip, of a message of so many bytes.
type Step = fn(&mut Side, usize);

struct Side {
    me: Peer,
    /// For the bare round trips, and for meeting before each batch.
    bare: TcpStream,
    engine: Engine<Tcp>,
    buffer: Vec<u8>,
}

impl Side {
    fn new(me: Peer, mut bare: TcpStream, options: Options) -> Side {
        bare.set_nodelay(true).expect("a socket");
        let card = Arc::new(OnceLock::new());
        let fabric = Tcp::new(me, 2, LANES, Arc::new(Card(card.clone())), options).expect("tcp");
        let mut line = [b' '; 1024];
        let own = fabric.card();
        line[..own.len()].copy_from_slice(own.as_bytes());
        bare.write_all(&line).expect("the other side");
        bare.read_exact(&mut line).expect("the other side");
        let theirs = String::from_utf8_lossy(&line).trim_end().to_owned();
        card.set(theirs).expect("set once");
        bare.set_nonblocking(true).expect("a socket");
        let pace = Pace {
            spins: u32::MAX,
            yields: 0,
            wakes: 0,
        };
        Side {
            me,
            bare,
            engine: Engine::new(fabric, me, 2, pace, 1),
            buffer: vec![me as u8; LONGEST],
        }
    }

    fn route(&self, source: Peer) -> Route {
        Route {
            lane: 0,
            peer: 1 - self.me,
            context: 8,
            source: source as i32,
            tag: 1,
        }
    }

    fn post_send(&mut self, bytes: usize) -> RequestId {
        let message = Outgoing {
            route: self.route(self.me),
            memory: Memory::contiguous(self.buffer.as_mut_ptr(), bytes),
            synchronous: false,
        };
        self.engine.send(message).expect("a request")
    }

    fn post_receive(&mut self, bytes: usize) -> RequestId {
        let message = Incoming {
            route: self.route(1 - self.me),
            memory: Memory::contiguous(self.buffer.as_mut_ptr(), bytes),
        };
        self.engine.receive(message).expect("a request")
    }

    fn send(&mut self, bytes: usize) {
        let id = self.post_send(bytes);
        self.engine.wait(id);
    }

    fn receive(&mut self, bytes: usize) {
        let id = self.post_receive(bytes);
        self.engine.wait(id);
    }

    fn bare_send(&mut self, bytes: usize) {
        let mut left = &self.buffer[..bytes];
        while !left.is_empty() {
            match self.bare.write(left) {
                Ok(sent) => left = &left[sent..],
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }

    fn bare_receive(&mut self, bytes: usize) {
        let mut got = 0;
        while got < bytes {
            match self.bare.read(&mut self.buffer[got..bytes]) {
                Ok(0) => panic!("the other side has gone"),
                Ok(bytes) => got += bytes,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }

    /// Neither goes on before the other is here.
    fn meet(&mut self) {
        self.bare_send(1);
        self.bare_receive(1);
    }

    /// Microseconds of half a round trip.
    fn ping_pong(&mut self, bytes: usize, rounds: u32, bare: bool) -> f64 {
        let (send, receive): (Step, Step) = match bare {
            true => (Side::bare_send, Side::bare_receive),
            false => (Side::send, Side::receive),
        };
        self.meet();
        let begin = Instant::now();
        for _ in 0..rounds {
            if self.me == 0 {
                send(self, bytes);
                receive(self, bytes);
            } else {
                receive(self, bytes);
                send(self, bytes);
            }
        }
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(rounds) / 2.0
    }

    /// Megabytes a second of messages from rank 0 to rank 1, `count` at once, and one byte back.
    fn stream(&mut self, bytes: usize, count: usize, bare: bool) -> f64 {
        self.meet();
        let begin = Instant::now();
        match (self.me, bare) {
            (0, true) => {
                (0..count).for_each(|_| self.bare_send(bytes));
                self.bare_receive(1);
            }
            (_, true) => {
                (0..count).for_each(|_| self.bare_receive(bytes));
                self.bare_send(1);
            }
            (0, false) => {
                let ids: Vec<RequestId> = (0..count).map(|_| self.post_send(bytes)).collect();
                ids.into_iter().for_each(|id| _ = self.engine.wait(id));
                self.receive(1);
            }
            (_, false) => {
                let ids: Vec<RequestId> = (0..count).map(|_| self.post_receive(bytes)).collect();
                ids.into_iter().for_each(|id| _ = self.engine.wait(id));
                self.send(1);
            }
        }
        (bytes * count) as f64 / (begin.elapsed().as_secs_f64() * 1e6)
    }

    fn measure(&mut self, batches: usize, sizes: &[usize]) {
        for &bytes in sizes {
            let rounds = (2_000_000 / (bytes + 20_000)).clamp(2, 50) as u32;
            self.ping_pong(bytes, rounds, false);
            let pairs =
                (0..batches).map(|_| [true, false].map(|bare| self.ping_pong(bytes, rounds, bare)));
            let pairs = pairs.collect();
            self.report(
                &format!("{bytes:>8} B  half round trip, us"),
                pairs,
                f64::min,
            );
        }
        let pairs = (0..batches)
            .map(|_| [true, false].map(|bare| self.stream(MEBIBYTE, 16, bare)))
            .collect();
        self.report("   1 MiB    stream of 16, MB/s", pairs, f64::max);
        let before = self.engine.fabric().counters();
        let pairs: Vec<[f64; 2]> = (0..batches)
            .map(|_| [true, false].map(|bare| self.stream(8, WINDOW, bare) / 8.0 * 1e3))
            .collect();
        let windows = pairs.len();
        self.report("     8 B    windows of 64, thousand/s", pairs, f64::max);
        if self.me == 0 {
            let Counters {
                sends, receives, ..
            } = self.engine.fabric().counters();
            let each = |now: u64, then: u64| (now - then) as f64 / windows as f64;
            let (sends, receives) = (each(sends, before.sends), each(receives, before.receives));
            println!(
                "a window of 64: {sends:.1} system calls that send, {receives:.1} that receive"
            );
            println!("{:?}", self.engine.fabric().counters());
        }
    }

    /// Pairs of the bare figure and ours; `better` finds the best.
    fn report(&self, what: &str, pairs: Vec<[f64; 2]>, better: fn(f64, f64) -> f64) {
        if self.me != 0 {
            return;
        }
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let of = |which: usize| pairs.iter().map(move |pair| pair[which]);
        let best = [0, 1].map(|which| of(which).reduce(better).expect("a batch"));
        let [bare, ours] = [0, 1].map(|which| median(of(which).collect()));
        let ratio = median(pairs.iter().map(|[bare, ours]| ours / bare).collect());
        println!(
            "{what}: best {:.2} of {:.2} bare ({:.2}), median {ours:.2} of {bare:.2} ({:.2}), median of ratios {ratio:.2}",
            best[1],
            best[0],
            best[1] / best[0],
            ours / bare
        );
    }
}

fn pin(cpu: usize) {
    // SAFETY: an all-zero set is valid, and the calls only read it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = Options::default();
    let listens = arguments.first().is_some_and(|first| first == "--listen");
    let connects = arguments.first().is_some_and(|first| first == "--connect");
    let mut child = None;
    let (me, stream) = if connects {
        let address = arguments.get(1).expect("an address").clone();
        arguments.drain(..2);
        if address == "127.0.0.1" {
            options.interfaces = vec!["lo".to_owned()];
        }
        (
            0,
            TcpStream::connect((address.as_str(), PORT)).expect("the side that listens"),
        )
    } else {
        let listener = TcpListener::bind(("0.0.0.0", PORT)).expect("a free port");
        if listens {
            arguments.remove(0);
        } else {
            options.interfaces = vec!["lo".to_owned()];
            let this = std::env::current_exe().expect("this program");
            let mut other = std::process::Command::new(this);
            other.args(["--connect", "127.0.0.1"]).args(&arguments);
            child = Some(other.spawn().expect("a second process"));
        }
        (1, listener.accept().expect("the other side").0)
    };
    pin(me as usize);
    let mut numbers = arguments.iter().map(|text| text.parse().expect("a number"));
    let batches = numbers.next().unwrap_or(100);
    let mut sizes: Vec<usize> = numbers.collect();
    if sizes.is_empty() {
        sizes = vec![
            4,
            1024,
            8 << 10,
            16 << 10,
            32 << 10,
            64 << 10,
            256 << 10,
            MEBIBYTE,
            LONGEST,
        ];
    }
    Side::new(me, stream, options).measure(batches, &sizes);
    if let Some(mut child) = child {
        child.wait().expect("the second process");
    }
}

//! Half round trips between two pinned processes, beside those of a bare ring of cache lines in the same run.
//!
//! `cargo run --release -p weft-shm --example shm_latency [BATCHES [BYTES]...]`

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use weft_memory::Memory;
use weft_shm::{Shm, ShmEndpoint};
use weft_transport::{
    BulkDescriptor, Cookie, Directory, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink,
};

const LINES: usize = 64;

/// What the two processes share from before the fork: the bare rings and the cards.
#[repr(C, align(64))]
struct Common {
    lines: [[Line; LINES]; 2],
    arrived: [AtomicU64; 2],
    card_bytes: [AtomicU64; 2],
    cards: [std::cell::UnsafeCell<[u8; 256]>; 2],
}

#[repr(C, align(64))]
struct Line {
    sequence: AtomicU64,
    data: [AtomicU64; 7],
}

struct Cards(Vec<String>);

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        Ok(self.0[peer as usize].clone())
    }
}

struct Counts {
    packets: u64,
    offer: Option<BulkDescriptor>,
    sent: u64,
    received: u64,
    /// The endpoint needs a link.
    connects: bool,
    /// Where packets are copied to, as an engine would.
    buffer: Vec<u8>,
}

impl Sink for Counts {
    fn packet(&mut self, _: Peer, header: Header, payload: &[u8]) {
        self.packets += 1;
        self.buffer[..payload.len()].copy_from_slice(payload);
        if header.0[0] == 1 {
            let mut words = payload
                .chunks_exact(8)
                .map(|word| word.try_into().expect("8 bytes"));
            let offer = std::array::from_fn(|_| words.next().map_or(0, u64::from_ne_bytes));
            self.offer = Some(BulkDescriptor(offer));
        }
    }
    fn sent(&mut self, _: Cookie) {
        self.sent += 1;
    }
    fn received(&mut self, _: Cookie) {
        self.received += 1;
    }
    fn writable(&mut self, _: Peer) {}
    fn connect(&mut self, _: Peer) {
        self.connects = true;
    }
    fn lost(&mut self, _: Peer, lost: &Lost) {
        eprintln!("{lost}");
        std::process::exit(1);
    }
}

struct Side {
    me: Peer,
    fabric: Shm,
    endpoint: ShmEndpoint,
    counts: Counts,
    /// Messages received; the packet of the next may have come already.
    taken: u64,
    buffer: Vec<u8>,
}

impl Side {
    fn poll(&mut self) {
        self.endpoint.poll(&mut self.counts);
        if self.counts.connects {
            self.connect();
        }
    }

    #[cold]
    fn connect(&mut self) {
        self.counts.connects = false;
        self.fabric.connect(1 - self.me);
        self.endpoint.poll(&mut self.counts);
    }

    /// After a refusal: there is no room, or no link.
    fn retry(&mut self, refused: Refused) {
        match refused {
            Refused::Connecting => self.connect(),
            _ => self.poll(),
        }
    }

    fn send(&mut self, bytes: usize) {
        let peer = 1 - self.me;
        if bytes <= self.endpoint.eager_limit(peer) {
            let payload = &self.buffer[..bytes];
            let mut sent = self.endpoint.send(peer, Header([0, 0]), payload, true);
            while let Err(refused) = sent {
                self.retry(refused);
                let payload = &self.buffer[..bytes];
                sent = self.endpoint.send(peer, Header([0, 0]), payload, true);
            }
            return;
        }
        let sent = self.counts.sent + 1;
        let source = Memory::contiguous(self.buffer.as_mut_ptr(), bytes);
        let offer = loop {
            match self.endpoint.bulk_send(peer, source.clone(), 1) {
                Ok(offer) => break offer,
                Err(refused) => self.retry(refused),
            }
        };
        let words: Vec<u8> = offer.0.iter().flat_map(|word| word.to_ne_bytes()).collect();
        while self
            .endpoint
            .send(peer, Header([1, 0]), &words, false)
            .is_err()
        {
            self.poll();
        }
        while self.counts.sent < sent {
            self.poll();
        }
    }

    fn receive(&mut self, bytes: usize) {
        self.taken += 1;
        while self.counts.packets < self.taken {
            self.poll();
        }
        let Some(offer) = self.counts.offer.take() else {
            return;
        };
        let received = self.counts.received + 1;
        let target = Memory::contiguous(self.buffer.as_mut_ptr(), bytes);
        let from = 1 - self.me;
        while let Err(refused) = self
            .endpoint
            .bulk_receive(from, offer, bytes, target.clone(), 1)
        {
            assert_ne!(refused, Refused::Lost);
            self.retry(refused);
        }
        while self.counts.received < received {
            self.poll();
        }
    }

    /// Microseconds of half a round trip.
    fn ping_pong(&mut self, bytes: usize, rounds: u32) -> f64 {
        let begin = Instant::now();
        for _ in 0..rounds {
            if self.me == 0 {
                self.send(bytes);
                self.receive(bytes);
            } else {
                self.receive(bytes);
                self.send(bytes);
            }
        }
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(rounds) / 2.0
    }
}

impl Side {
    /// Microseconds a packet in a stream of `count` from rank 0, until rank 1 has them all.
    fn stream(&mut self, bytes: usize, count: u32) -> f64 {
        let begin = Instant::now();
        if self.me == 0 {
            for _ in 0..count {
                self.send(bytes);
            }
            self.receive(0);
        } else {
            for _ in 0..count {
                self.receive(bytes);
            }
            self.send(0);
        }
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(count)
    }
}

/// The same of the bare rings, from sequence number `from` on.
fn bare(common: &Common, me: usize, rounds: u64, from: u64) -> f64 {
    let put = |line: &Line, sequence| {
        for word in &line.data {
            word.store(sequence, Ordering::Relaxed);
        }
        line.sequence.store(sequence, Ordering::Release);
    };
    let take = |line: &Line, sequence| {
        while line.sequence.load(Ordering::Acquire) != sequence {}
        line.data
            .iter()
            .map(|word| word.load(Ordering::Relaxed))
            .sum::<u64>()
    };
    let begin = Instant::now();
    let mut sum = 0;
    for sequence in from..from + rounds {
        let [out, back] = [0, 1].map(|side| &common.lines[side][sequence as usize % LINES]);
        if me == 0 {
            put(out, sequence);
            sum += take(back, sequence);
        } else {
            sum += take(out, sequence);
            put(back, sequence);
        }
    }
    std::hint::black_box(sum);
    begin.elapsed().as_secs_f64() * 1e6 / rounds as f64 / 2.0
}

impl Common {
    fn meet(&self, me: usize) {
        let mine = self.arrived[me].fetch_add(1, Ordering::SeqCst) + 1;
        while self.arrived[1 - me].load(Ordering::SeqCst) < mine {
            std::thread::yield_now();
        }
    }

    fn exchange(&self, me: usize, card: &str) -> Cards {
        // SAFETY: each side writes its own card before it arrives at the meeting and reads the other's after.
        unsafe { (&mut (*self.cards[me].get()))[..card.len()].copy_from_slice(card.as_bytes()) };
        self.card_bytes[me].store(card.len() as u64, Ordering::SeqCst);
        self.meet(me);
        Cards(
            [0, 1]
                .map(|side| {
                    let bytes = self.card_bytes[side].load(Ordering::SeqCst) as usize;
                    // SAFETY: as above.
                    let card = unsafe { &(&(*self.cards[side].get()))[..bytes] };
                    String::from_utf8_lossy(card).into_owned()
                })
                .to_vec(),
        )
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
    let batches: usize = std::env::args()
        .nth(1)
        .and_then(|arg| arg.parse().ok())
        .unwrap_or(200);
    // SAFETY: a fresh shared mapping of zeros, which is a valid `Common`.
    let common: &Common = unsafe {
        let memory = libc::mmap(
            std::ptr::null_mut(),
            size_of::<Common>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(memory, libc::MAP_FAILED);
        &*memory.cast()
    };
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    let me = usize::from(child == 0);
    pin(me);
    measure(common, me, batches);
    if child > 0 {
        // SAFETY: waits for the own child.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    }
}

fn measure(common: &Common, me: usize, batches: usize) {
    let cards = Arc::new(std::sync::OnceLock::new());
    let fabric =
        Shm::new(me as Peer, &[0, 1], 1, Arc::new(Late(cards.clone()))).expect("shared memory");
    let _ = cards.set(common.exchange(me, &fabric.card()));
    let mut side = Side {
        me: me as Peer,
        endpoint: fabric.endpoint(0),
        fabric,
        counts: Counts {
            packets: 0,
            offer: None,
            sent: 0,
            received: 0,
            connects: false,
            buffer: vec![0; 1 << 16],
        },
        taken: 0,
        buffer: vec![me as u8; 4 << 20],
    };
    let mut sizes: Vec<usize> = std::env::args()
        .skip(2)
        .map(|arg| arg.parse().expect("a number of bytes"))
        .collect();
    if sizes.is_empty() {
        sizes = (0..20).map(|power| 8 << power).collect();
    }
    let mut sequence = 1;
    for bytes in sizes {
        let rounds = (1_000_000 / (bytes + 1000)).clamp(4, 500) as u32;
        side.ping_pong(bytes, rounds / 10 + 2);
        let mut floor = Vec::new();
        let mut ours = Vec::new();
        for _ in 0..batches {
            common.meet(me);
            floor.push(bare(common, me, 500, sequence));
            sequence += 500;
            common.meet(me);
            ours.push(side.ping_pong(bytes, rounds));
        }
        if me == 0 {
            report(bytes, floor, ours);
        }
    }
    for bytes in [0, 8, 40, 64, 1024] {
        let mut times: Vec<f64> = (0..batches)
            .map(|_| {
                common.meet(me);
                side.stream(bytes, 5000)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        if me == 0 {
            let (best, median) = (times[0], times[times.len() / 2]);
            println!("{bytes:>8} B  stream, a packet best {best:.3} us  median {median:.3} us");
        }
    }
    if me == 0 {
        println!("{:?}", side.endpoint.counters());
    }
    common.meet(me);
}

fn report(bytes: usize, mut floor: Vec<f64>, mut ours: Vec<f64>) {
    floor.sort_by(f64::total_cmp);
    ours.sort_by(f64::total_cmp);
    let (best, median) = (ours[0], ours[ours.len() / 2]);
    println!(
        "{bytes:>8} B  half round trip best {best:>8.3} us  median {median:>8.3} us  {:>7.0} MB/s  \
         line ring best {:.3} us  ratio of best {:.2}",
        bytes as f64 / best,
        floor[0],
        best / floor[0]
    );
}

/// Cards that become known after the fabric is made.
struct Late(Arc<std::sync::OnceLock<Cards>>);

impl Directory for Late {
    fn card(&self, peer: Peer) -> Result<String, String> {
        self.0.get().ok_or("no cards yet")?.card(peer)
    }
}

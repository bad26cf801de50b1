//! Shared memory with a peer that writes whatever it likes over its own segment, and one whose card says whatever it likes: the
//! other side neither dies nor hangs.
//!
//! The input is a list of steps: words of the peer's segment are written over, or both sides send, offer and go on.
#![no_main]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use libfuzzer_sys::fuzz_target;
use weft_fuzz::Input;
use weft_memory::Memory;
use weft_shm::{Options, Shm, ShmEndpoint};
use weft_transport::{
    BulkDescriptor, Cookie, Directory, Endpoint, Fabric, Header, Lost, Peer, Sink,
};

const LONG_BYTES: usize = 96 * 1024;

#[derive(Default)]
struct Cards(Mutex<HashMap<Peer, String>>);

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        self.0
            .lock()
            .unwrap()
            .get(&peer)
            .cloned()
            .ok_or_else(|| "none".to_owned())
    }
}

#[derive(Default)]
struct Log {
    descriptors: Vec<BulkDescriptor>,
}

impl Sink for Log {
    fn packet(&mut self, _: Peer, _: Header, payload: &[u8]) {
        if payload.len() == 32 {
            let mut words = payload
                .chunks_exact(8)
                .map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
            self.descriptors
                .push(BulkDescriptor(std::array::from_fn(|_| {
                    words.next().unwrap()
                })));
        }
    }
    fn sent(&mut self, _: Cookie) {}
    fn received(&mut self, _: Cookie) {}
    fn writable(&mut self, _: Peer) {}
    fn connect(&mut self, _: Peer) {}
    fn lost(&mut self, _: Peer, _: &Lost) {}
}

/// A mapping of a process's segment, found as peers find it: by its card.
struct Scribble {
    base: *mut u8,
    bytes: usize,
}

impl Scribble {
    fn of(card: &str) -> Option<Scribble> {
        let memfd: i32 = card.split(':').nth(3)?.parse().ok()?;
        let bytes = std::fs::metadata(format!("/proc/self/fd/{memfd}"))
            .ok()?
            .len() as usize;
        // SAFETY: a new shared mapping of this process's own memfd, of no more bytes than it has.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                memfd,
                0,
            )
        };
        (base != libc::MAP_FAILED).then_some(Scribble {
            base: base.cast(),
            bytes,
        })
    }

    fn write(&self, word: usize, value: u64) {
        let at = word % (self.bytes / 8) * 8;
        // SAFETY: `at` is inside the mapping and aligned; other processes' writes at any time are what this stands for.
        unsafe {
            self.base
                .add(at)
                .cast::<std::sync::atomic::AtomicU64>()
                .as_ref()
        }
        .unwrap()
        .store(value, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Drop for Scribble {
    fn drop(&mut self) {
        // SAFETY: made by `of`, and nothing else uses it.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

struct Side {
    fabric: Shm,
    endpoint: ShmEndpoint,
    log: Log,
}

impl Side {
    fn offer(&mut self, peer: Peer, memory: Memory, cookie: Cookie) {
        if let Ok(BulkDescriptor(words)) = self.endpoint.bulk_send(peer, memory, cookie) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let _ = self.endpoint.send(peer, Header([0; 2]), &bytes, false);
        }
    }
}

fn run(mut input: Input) -> Option<()> {
    // Copies by the kernel would go to addresses of this very process.
    let options = Options {
        deny_copies: true,
        ..Options::default()
    };
    let cards = Arc::new(Cards::default());
    let mut sides: Vec<Side> = (0..2)
        .map(|rank| {
            let fabric = Shm::with_options(rank, &[0, 1], 1, cards.clone(), options).unwrap();
            let endpoint = fabric.endpoint(0);
            Side {
                fabric,
                endpoint,
                log: Log::default(),
            }
        })
        .collect();
    let first = input.byte()?;
    for (rank, side) in sides.iter().enumerate() {
        let card = side.fabric.card();
        // The liar's card may say anything: what is found by it is not a segment, or nothing is.
        let said = match first {
            255 if rank == 1 => String::from_utf8_lossy(input.0).into_owned(),
            _ => card,
        };
        cards.0.lock().unwrap().insert(rank as Peer, said);
    }
    for (rank, side) in sides.iter().enumerate() {
        side.fabric.connect(1 - rank as Peer);
    }
    let mut buffers = [(); 4].map(|()| vec![7_u8; LONG_BYTES]);
    let memories = buffers
        .each_mut()
        .map(|buffer| Memory::contiguous(buffer.as_mut_ptr(), buffer.len()));
    let scribble = Scribble::of(&sides[1].fabric.card())?;
    for cookie in 0.. {
        let Some(step) = input.byte() else { break };
        let (who, what) = (usize::from(step >> 7), step & 127);
        match what {
            0..=31 => {
                let word = input.number(3) as usize;
                let value = match what % 4 {
                    0 => input.number(1),
                    1 => input.number(2).wrapping_sub(1 << 15),
                    2 => input.number(4),
                    _ => input.number(8),
                };
                scribble.write(word, value);
            }
            32..=63 => {
                let bytes = input.number(2) as usize % 9000;
                let payload = &vec![step; bytes][..];
                let _ = sides[who]
                    .endpoint
                    .send(1 - who as Peer, Header([1, 2]), payload, false);
            }
            64..=79 => sides[who].offer(1 - who as Peer, memories[who].clone(), cookie),
            80..=95 => {
                if let Some(descriptor) = sides[who].log.descriptors.pop() {
                    let _ = sides[who].endpoint.bulk_receive(
                        1 - who as Peer,
                        descriptor,
                        LONG_BYTES,
                        memories[2 + who].clone(),
                        cookie,
                    );
                }
            }
            96..=103 => {
                let descriptor = BulkDescriptor(std::array::from_fn(|_| input.number(8)));
                let _ = sides[0].endpoint.bulk_receive(
                    1,
                    descriptor,
                    LONG_BYTES,
                    memories[2].clone(),
                    cookie,
                );
            }
            104..=107 => {
                sides[who].endpoint.arm();
                sides[who].endpoint.disarm();
            }
            108..=110 => sides[who].endpoint.throttle(1 - who as Peer, what == 108),
            _ => {
                let Side { endpoint, log, .. } = &mut sides[who];
                endpoint.poll(log);
            }
        }
        let Side {
            endpoint,
            log,
            fabric,
        } = &mut sides[0];
        fabric.connect(1);
        endpoint.poll(log);
    }
    Some(())
}

fuzz_target!(|data: &[u8]| {
    run(Input(data));
});

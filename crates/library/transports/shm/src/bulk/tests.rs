use super::RING_BYTES;
use crate::endpoint::ShmEndpoint;
use crate::layout::LINK_BYTES;
use crate::shared::Options;
use crate::world::{Process, Random, memory, offer_bytes, offer_from, pair};
use std::sync::Arc;
use weft_memory::{Layout, Memory};
use weft_transport::{Endpoint, Header, Refused};

pub const RING_ONLY: Options = Options {
    deny_copies: true,
    always_copies: false,
    longest_sleep_ms: None,
};
/// What the library chooses.
pub const CHOSEN: Options = Options {
    deny_copies: false,
    ..RING_ONLY
};
const COPY_ALL: Options = Options {
    deny_copies: false,
    always_copies: true,
    longest_sleep_ms: None,
};
const SIZES: [usize; 12] = [
    1,
    100,
    4095,
    8192,
    8193,
    40_000,
    65_536,
    300_000,
    1_048_575,
    1_048_576,
    1_048_577,
    (5 << 20) + 77,
];

/// Offers `source` to the other of two under `cookie`.
pub fn offer(from: &mut Process, source: Memory, cookie: u64) {
    let to = 1 - from.rank;
    let send = |endpoint: &mut ShmEndpoint| endpoint.bulk_send(to, source.clone(), cookie);
    let offer = from.linked(to, send).unwrap();
    from.endpoint
        .send(to, Header([cookie, 0]), &offer_bytes(offer), false)
        .unwrap();
}

/// Accepts the next offer.
pub fn accept(at: &mut Process, bytes: usize, target: Memory) -> u64 {
    while at.log.packets.is_empty() {
        at.poll();
    }
    let (from, header, payload) = at.log.packets.pop_front().unwrap();
    let cookie = header.0[0];
    let offer = offer_from(&payload);
    let receive = |endpoint: &mut ShmEndpoint| {
        endpoint.bulk_receive(from, offer, bytes, target.clone(), cookie)
    };
    at.linked(from, receive).unwrap();
    cookie
}

pub fn finish(a: &mut Process, b: &mut Process, sent: usize, received: usize) {
    for _ in 0..100_000 {
        if a.log.sent.len() >= sent && b.log.received.len() >= received {
            return;
        }
        a.poll();
        b.poll();
    }
    panic!(
        "{} sent, {} received",
        a.log.sent.len(),
        b.log.received.len()
    );
}

fn all_sizes(options: Options) -> (Process, Process) {
    let (mut a, mut b) = pair(options);
    let mut random = Random(3);
    for (cookie, &bytes) in SIZES.iter().enumerate() {
        let mut source = random.bytes(bytes);
        let mut target = vec![0; bytes];
        offer(&mut a, memory(&mut source), cookie as u64);
        accept(&mut b, bytes, memory(&mut target));
        finish(&mut a, &mut b, cookie + 1, cookie + 1);
        assert!(source == target, "{bytes} bytes");
    }
    assert_eq!(a.log.sent, (0..SIZES.len() as u64).collect::<Vec<_>>());
    assert_eq!(a.log.sent, b.log.received);
    assert_eq!(a.pending(), "");
    (a, b)
}

#[test]
fn all_sizes_through_rings() {
    let (a, b) = all_sizes(RING_ONLY);
    assert_eq!(a.endpoint.counters().ring_transfers, SIZES.len() as u64);
    assert_eq!(b.endpoint.counters().copies, 0);
}

#[test]
fn all_sizes_by_copying() {
    let (a, b) = all_sizes(COPY_ALL);
    assert_eq!(a.endpoint.counters().ring_transfers, 0);
    assert_eq!(b.endpoint.counters().copy_transfers, SIZES.len() as u64);
    assert!(b.endpoint.counters().copies > 0);
}

/// One message after the other from `a` to `b`.
pub fn send_all(a: &mut Process, b: &mut Process, count: u64, bytes: usize) {
    let mut random = Random(bytes as u64);
    for cookie in 0..count {
        let (mut source, mut target) = (random.bytes(bytes), vec![0; bytes]);
        offer(a, memory(&mut source), cookie);
        accept(b, bytes, memory(&mut target));
        let (sent, received) = (a.log.sent.len() + 1, b.log.received.len() + 1);
        finish(a, b, sent, received);
        assert!(source == target);
    }
}

#[test]
fn a_short_target_takes_the_beginning() {
    for options in [RING_ONLY, COPY_ALL] {
        let (mut a, mut b) = pair(options);
        let mut random = Random(4);
        let mut number = 0;
        for (bytes, wanted) in [
            (1000, 0),
            (100_000, 1),
            (100_000, 99_999),
            (3 << 20, 1 << 20),
        ] {
            let mut source = random.bytes(bytes);
            let mut target = vec![0; wanted];
            offer(&mut a, memory(&mut source), number);
            accept(&mut b, bytes, memory(&mut target));
            number += 1;
            finish(&mut a, &mut b, number as usize, number as usize);
            assert!(source[..wanted] == target[..], "{wanted} of {bytes}");
        }
        assert_eq!(a.pending(), "");
    }
}

/// Every second byte.
struct Stride;

// SAFETY: touches bytes `0, 2, 4, ...` below twice the packed length, which is the span.
unsafe impl Layout for Stride {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        for (index, byte) in out.iter_mut().enumerate() {
            // SAFETY: in the span, by the contract.
            *byte = unsafe { *base.add(2 * (offset + index)) };
        }
    }
    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        for (index, byte) in data.iter().enumerate() {
            // SAFETY: in the span, by the contract.
            unsafe { *base.add(2 * (offset + index)) = *byte };
        }
    }
}

#[test]
fn layouts_on_either_side() {
    let strided = |bytes: &mut [u8]| Memory {
        base: bytes.as_mut_ptr(),
        bytes: bytes.len() / 2,
        layout: Some(Arc::new(Stride)),
    };
    for options in [RING_ONLY, COPY_ALL] {
        let (mut a, mut b) = pair(options);
        for (round, bytes) in [(0, 70_000), (1, 2 << 20)] {
            let mut packed = Random(5).bytes(bytes);
            let mut spread = vec![0; 2 * bytes];
            offer(&mut a, memory(&mut packed), 2 * round);
            accept(&mut b, bytes, strided(&mut spread));
            finish(
                &mut a,
                &mut b,
                2 * round as usize + 1,
                2 * round as usize + 1,
            );
            let mut back = vec![0; bytes];
            offer(&mut a, strided(&mut spread), 2 * round + 1);
            accept(&mut b, bytes, memory(&mut back));
            finish(
                &mut a,
                &mut b,
                2 * round as usize + 2,
                2 * round as usize + 2,
            );
            assert!(packed == back);
        }
    }
}

/// More offers than rings, accepted in the opposite order.
#[test]
fn many_offers_accepted_backwards() {
    for options in [RING_ONLY, COPY_ALL] {
        let (mut a, mut b) = pair(options);
        let mut random = Random(6);
        let mut sources: Vec<Vec<u8>> = (0..40).map(|_| random.bytes(700_000)).collect();
        let mut targets = vec![vec![0u8; 700_000]; 40];
        for (cookie, source) in sources.iter_mut().enumerate() {
            offer(&mut a, memory(source), cookie as u64);
        }
        for _ in 0..100 {
            a.poll();
            b.poll();
        }
        assert_eq!(b.log.packets.len(), 40);
        b.log.packets = b.log.packets.drain(..).rev().collect();
        for target in targets.iter_mut().rev() {
            accept(&mut b, 700_000, memory(target));
        }
        finish(&mut a, &mut b, 40, 40);
        assert!(sources == targets);
        assert_eq!(a.pending(), "");
    }
}

/// Where only one side may copy a ring serves.
#[test]
fn one_side_denied() {
    let cards = Arc::new(crate::world::Cards::default());
    for (first, second) in [(COPY_ALL, RING_ONLY), (RING_ONLY, COPY_ALL)] {
        let make = |rank, options| {
            let fabric =
                crate::Shm::with_options(rank, &[0, 1], 1, cards.clone(), options).unwrap();
            cards.0.lock().unwrap().insert(rank, fabric.card());
            let endpoint = weft_transport::Fabric::endpoint(&fabric, 0);
            Process {
                rank,
                fabric,
                endpoint,
                log: Default::default(),
            }
        };
        let (mut a, mut b) = (make(0, first), make(1, second));
        let mut source = Random(7).bytes(3 << 20);
        let mut target = vec![0; 3 << 20];
        offer(&mut a, memory(&mut source), 1);
        accept(&mut b, 3 << 20, memory(&mut target));
        finish(&mut a, &mut b, 1, 1);
        assert!(source == target);
        assert_eq!(b.endpoint.counters().copy_transfers, 0);
    }
}

/// The receiver copies while its sender does nothing at all, which then looks once.
#[test]
fn a_receiver_copies_without_its_sender() {
    let (mut a, mut b) = pair(COPY_ALL);
    let mut source = Random(8).bytes(4 << 20);
    let mut target = vec![0; 4 << 20];
    offer(&mut a, memory(&mut source), 1);
    accept(&mut b, 4 << 20, memory(&mut target));
    // There is something to do until all is there.
    while b.log.received.is_empty() {
        assert!(b.endpoint.arm());
        b.endpoint.disarm();
        assert!(b.poll());
    }
    assert!(source == target);
    assert_eq!(b.endpoint.counters().copies, 4);
    assert!(a.log.sent.is_empty());
    a.poll();
    assert_eq!(a.log.sent, [1]);
    assert_eq!((a.pending(), b.pending()), (String::new(), String::new()));
}

/// What the kernel does not copy, from the beginning or from the second call on, all comes through a ring.
#[test]
fn a_copy_that_the_kernel_refuses_becomes_a_transfer_through_a_ring() {
    const BYTES: usize = 3 << 20;
    for readable in [0, 1 << 20] {
        let (mut a, mut b) = pair(COPY_ALL);
        // SAFETY: new memory, which is this test's own.
        let source = unsafe {
            let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let source = libc::mmap(std::ptr::null_mut(), BYTES, access, anonymous, -1, 0);
            assert_ne!(source, libc::MAP_FAILED);
            std::slice::from_raw_parts_mut(source.cast::<u8>(), BYTES)
        };
        source.copy_from_slice(&Random(9).bytes(BYTES));
        let rest = source[readable..].as_mut_ptr();
        let protect = |access| {
            // SAFETY: pages of that memory, which nothing but the copies reads meanwhile.
            let protected = unsafe { libc::mprotect(rest.cast(), BYTES - readable, access) };
            assert_eq!(protected, 0);
        };
        let mut target = vec![0; BYTES];
        offer(&mut a, memory(source), 1);
        protect(libc::PROT_NONE);
        accept(&mut b, BYTES, memory(&mut target));
        for _ in 0..8 {
            b.poll();
        }
        assert_eq!(b.endpoint.counters().copies, (readable > 0) as u64);
        protect(libc::PROT_READ);
        finish(&mut a, &mut b, 1, 1);
        assert!(*source == target[..]);
        assert_eq!(a.endpoint.counters().ring_transfers, 1);
        assert_eq!((a.pending(), b.pending()), (String::new(), String::new()));
        // SAFETY: mapped above, and not used again.
        unsafe { libc::munmap(source.as_mut_ptr().cast(), BYTES) };
    }
}

/// A receive completes without a call of its sender's beside that which sends (MPI-5.0 §3.7.4), also where rings are
/// faster: a ring is full at once, and what is longer is copied.
#[test]
fn a_receiver_needs_no_further_call_of_its_sender() {
    let (mut a, mut b) = pair(CHOSEN);
    send_all(&mut a, &mut b, 20, RING_BYTES);
    for bytes in [20_000, 256 << 10, RING_BYTES, RING_BYTES + 1, 4 << 20] {
        let done = [a.log.sent.len() + 1, b.log.received.len() + 1];
        let mut source = Random(10).bytes(bytes);
        let mut target = vec![0; bytes];
        offer(&mut a, memory(&mut source), 1);
        accept(&mut b, bytes, memory(&mut target));
        for _ in 0..100 {
            b.poll();
        }
        assert_eq!(b.log.received.len(), done[1], "{bytes}");
        assert!(source == target);
        a.poll();
        assert_eq!(a.log.sent.len(), done[0], "{bytes}");
    }
}

#[test]
fn nonsense_offers_are_refused() {
    for (words, piece) in [
        ([9, 0, 0, 0], false),
        ([1, 3, 0, 0], true),
        ([1, 1 << 60, 0, 0], true),
        ([1, 0, 1 << 20, 0], false),
        ([3, 0, 0, 0], false),
        ([0; 4], false),
    ] {
        let (mut a, mut b) = pair(Options::default());
        a.linked(1, |endpoint| {
            endpoint.send(1, Header([0; 2]), b"connects", false)
        })
        .unwrap();
        b.poll();
        let mut target = vec![0; 1000];
        let mut receive = |endpoint: &mut ShmEndpoint| {
            let descriptor = weft_transport::BulkDescriptor(words);
            endpoint.bulk_receive(0, descriptor, 1000, memory(&mut target), 1)
        };
        if piece {
            assert_eq!(receive(&mut b.endpoint), Err(Refused::Connecting));
        }
        assert_eq!(b.linked(0, receive), Err(Refused::Lost), "{words:?}");
        b.poll();
        assert!(b.log.lost[&0].contains("rank 0"));
        a.poll();
        assert!(a.log.lost[&1].contains("given up"));
    }
}

/// Whatever a hostile peer writes into the shared words of a transfer, the other side neither panics nor touches
/// memory that is not the transfer's; it finishes or loses the peer.
#[test]
fn hostile_words() {
    for seed in 1..400u64 {
        let options = [RING_ONLY, COPY_ALL][seed as usize % 2];
        let (mut a, mut b) = pair(options);
        let mut random = Random(seed);
        let bytes = 1 + random.below(1_800_000) as usize;
        let mut source = vec![7; bytes];
        // The target stands between two guards.
        let mut target = vec![0u8; bytes + 2000];
        let inner = Memory::contiguous(target[1000..].as_mut_ptr(), bytes);
        offer(&mut a, memory(&mut source), 1);
        accept(&mut b, bytes, inner);
        let segments = [&a, &b].map(|side| side.fabric.card());
        let pieces: Vec<_> = segments
            .iter()
            .filter_map(|card| {
                let card = crate::card::Card::parse(card)?;
                let segment = crate::segment::Foreign::open(card.pid, card.memfd).ok()?;
                // The first page behind the base and one link: a ring's words.
                let base = a.fabric.shared().shape.base_bytes() as u64;
                segment.map(base + LINK_BYTES as u64, 4096).ok()
            })
            .collect();
        for _ in 0..30 {
            for piece in &pieces {
                let value = match random.below(4) {
                    0 => random.0,
                    1 => random.below(1 << 20),
                    2 => random.below(8) << 32 | random.below(8),
                    _ => continue,
                };
                let word = random.below(24) as usize;
                // SAFETY: in the piece, which both sides reach by atomics only.
                unsafe { piece.base().cast::<u64>().add(word).write_volatile(value) };
            }
            a.poll();
            b.poll();
        }
        assert!(
            target[..1000]
                .iter()
                .chain(&target[bytes + 1000..])
                .all(|&byte| byte == 0)
        );
    }
}

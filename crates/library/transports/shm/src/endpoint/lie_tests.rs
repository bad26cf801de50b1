//! A peer that lies in what both processes write and read: the connection ends and names it, nothing panics, no memory but a
//! transfer's is touched, and others notice nothing.

use std::collections::VecDeque;

use weft_memory::Memory;
use weft_sync::bulk::StreamCounts;
use weft_transport::{BulkDescriptor, Endpoint, Header, Peer, Refused};

use crate::base::GIVEN_UP;
use crate::card::Card;
use crate::layout::{BLOCKS, CONTROL, EAGER_BYTES, LINK_BYTES, PACKET, RING_CELLS};
use crate::segment::{Foreign, Mapping, PAGE};
use crate::shared::Options;
use crate::world::{Process, Random, memory, offer_bytes, offer_from, pair, world};

const COPIES: Options = Options {
    deny_copies: false,
    always_copies: true,
    longest_sleep_ms: None,
};
const RINGS: Options = Options {
    deny_copies: true,
    always_copies: false,
    longest_sleep_ms: None,
};

fn send(from: &mut Process, to: Peer, payload: &[u8]) -> Result<(), Refused> {
    from.linked(to, |endpoint| {
        endpoint.send(to, Header([7, 0]), payload, false)
    })
}

/// A piece of a process's segment.
fn piece(of: &Process, offset: usize, bytes: usize) -> Mapping {
    let card = Card::parse(&of.fabric.card()).unwrap();
    let segment = Foreign::open(card.pid, card.memfd).unwrap();
    segment.map(offset as u64, bytes).unwrap()
}

fn base_bytes(of: &Process) -> usize {
    of.fabric.shared().shape.base_bytes()
}

fn write(mapping: &Mapping, at: usize, value: u64) {
    assert!(at.is_multiple_of(8) && at < mapping.bytes());
    // SAFETY: in the mapping, and of memory that all sides reach by atomics or volatile reads only.
    unsafe { mapping.base().add(at).cast::<u64>().write_volatile(value) };
}

/// Has what `liar` did found out: by turns of the other.
fn found_out(honest: &mut Process, what: &str) {
    for _ in 0..300 {
        honest.poll();
    }
    let found = honest.log.lost.get(&1);
    let found = found.unwrap_or_else(|| panic!("{what}: not found out"));
    assert!(found.contains("rank 1 "), "{what}: {found}");
    assert_eq!(send(honest, 1, b"x"), Err(Refused::Lost), "{what}");
}

/// Where a ring of cells has its parts.
const HEADS: usize = 128;

/// The first cell's control word: lap, kind, place and length.
fn control(kind: u8, place: u8, length: u32) -> u64 {
    1 << 48 | u64::from(kind) << 40 | u64::from(place) << 32 | u64::from(length)
}

/// What a cell says of a message that is not there, or is none.
#[test]
fn lies_in_a_cell() {
    let long = EAGER_BYTES as u32 + 1;
    let [ours, unknown] = [1 + BLOCKS as u8, 1 + 2 * BLOCKS as u8];
    for (what, control, header, inline) in [
        ("a kind", control(2, 0, 0), [0; 2], 0),
        ("outside the ring", control(PACKET, 0, 50_000), [0; 2], 0),
        ("beyond the ring", control(PACKET, 0, 41), [0; 2], 1 << 30),
        (
            "a sum that overflows",
            control(PACKET, 0, u32::MAX),
            [0; 2],
            64,
        ),
        ("longer than packets", control(PACKET, 0, long), [0; 2], 0),
        ("an unknown block", control(PACKET, unknown, 100), [0; 2], 0),
        ("the last name", control(PACKET, u8::MAX, 100), [0; 2], 0),
        ("a block held here", control(PACKET, ours, 100), [0; 2], 0),
        ("a block too long", control(PACKET, 1, 1 << 17), [0; 2], 0),
        ("a packet too long", control(PACKET, 1, long), [0; 2], 0),
        ("no control message", control(CONTROL, 0, 32), [9, 0], 0),
        (
            "a short control message",
            control(CONTROL, 0, 31),
            [1, 0],
            0,
        ),
        (
            "a place beyond a ring",
            control(CONTROL, 0, 32),
            [2, 0],
            1 << 32,
        ),
    ] {
        let (mut honest, mut liar) = pair(Options::default());
        send(&mut liar, 0, b"connects").unwrap();
        send(&mut honest, 1, b"connects").unwrap();
        honest.poll();
        let link = piece(&liar, base_bytes(&liar), LINK_BYTES);
        let cell = HEADS + 64;
        write(&link, cell + 8, header[0]);
        write(&link, cell + 16, header[1]);
        write(&link, cell + 24, inline);
        // The place's second word, of the control message that names one.
        write(&link, cell + 32, inline);
        write(&link, cell, control);
        found_out(&mut honest, what);
        assert_eq!(honest.log.packets.len(), 1, "{what}");
    }
}

#[test]
fn lies_about_the_way() {
    for (what, offset) in [
        ("beyond the segment", 1 << 40),
        ("in the middle of a page", PAGE as u64 + 8),
        ("beyond all", u64::MAX - 4095),
        ("given up", GIVEN_UP),
    ] {
        let (mut honest, liar) = pair(Options::default());
        let there = liar.fabric.shared().peers.find(0).unwrap();
        let ring = there.base.ring_of(0, 1);
        ring.store(offset, std::sync::atomic::Ordering::SeqCst);
        there.base.notify(0, 1);
        found_out(&mut honest, what);
    }
}

/// A receiver that says it has taken what was never sent.
#[test]
fn lies_about_what_was_taken() {
    for consumed in [300u64, 1 << 31, u64::from(u32::MAX)] {
        let (mut honest, mut liar) = pair(Options::default());
        send(&mut honest, 1, b"x").unwrap();
        liar.poll();
        write(
            &piece(&honest, base_bytes(&honest), LINK_BYTES),
            0,
            consumed,
        );
        let mut sent = 1;
        while send(&mut honest, 1, b"x") == Ok(()) {
            sent += 1;
        }
        assert!(sent <= RING_CELLS + 1, "{consumed}");
        found_out(&mut honest, "cells");
    }
}

/// A transfer through a ring between the two that has just begun, and where its words lie.
struct Transfer {
    honest: Process,
    liar: Process,
    _memory: [Vec<u8>; 2],
    words: Mapping,
}

/// From the liar to the other, or the other way.
fn transfer(from_liar: bool, bytes: usize, target: usize) -> Transfer {
    let (mut honest, mut liar) = pair(RINGS);
    let mut data = [vec![1; bytes], vec![0; target]];
    {
        let (sender, receiver) = match from_liar {
            true => (&mut liar, &mut honest),
            false => (&mut honest, &mut liar),
        };
        let (from, to) = (sender.rank, receiver.rank);
        let offer = sender.linked(to, |endpoint| {
            endpoint.bulk_send(to, memory(&mut data[0]), 1)
        });
        send(sender, to, &offer_bytes(offer.unwrap())).unwrap();
        while receiver.log.packets.is_empty() {
            receiver.poll();
        }
        let offer = offer_from(&receiver.log.packets.pop_front().unwrap().2);
        let receive = |endpoint: &mut crate::endpoint::ShmEndpoint| {
            endpoint.bulk_receive(from, offer, bytes, memory(&mut data[1]), 2)
        };
        receiver.linked(from, receive).unwrap();
    }
    let owner = if from_liar { &liar } else { &honest };
    let at = base_bytes(owner) + LINK_BYTES;
    let words = piece(owner, at, PAGE);
    Transfer {
        honest,
        liar,
        _memory: data,
        words,
    }
}

#[test]
fn lies_in_the_words_of_transfers() {
    const BYTES: usize = 2 << 20;
    // Of a ring: produced, consumed.
    for (what, from_liar, at, value) in [
        ("more than offered", true, 0, BYTES as u64 + 1),
        ("more than a ring", true, 0, 1100 << 10),
        ("more than was sent", false, 64, 1 << 30),
        ("kept and not done", false, 64, StreamCounts::BORROWED),
    ] {
        let Transfer {
            mut honest,
            liar,
            _memory,
            words,
        } = transfer(from_liar, BYTES, BYTES);
        // The receiver's answer to a call, and the pages that the sender has to have mapped, before the lie.
        if !from_liar {
            for _ in 0..3 {
                honest.poll();
            }
        }
        write(&words, at, value);
        found_out(&mut honest, what);
        assert!(honest.log.received.is_empty() || from_liar, "{what}");
        drop(liar);
    }
}

/// A ring that was filled and that its receiver never gives back, or keeps unasked.
#[test]
fn lies_about_rings_that_were_filled() {
    for (what, consumed) in [("more than all", 100_001), ("nonsense", u64::MAX - 2)] {
        let Transfer {
            mut honest,
            liar,
            _memory,
            words,
        } = transfer(false, 100_000, 100_000);
        for _ in 0..10 {
            honest.poll();
        }
        assert_eq!(honest.log.sent, [1], "it has left");
        write(&words, 64, consumed);
        let mut more = vec![1; 100_000];
        let _ = honest.endpoint.bulk_send(1, memory(&mut more), 2);
        found_out(&mut honest, what);
        drop(liar);
    }
}

#[test]
fn descriptors_that_make_no_sense() {
    let mut random = Random(5);
    for _ in 0..300 {
        let (mut honest, mut liar) = pair(Options::default());
        send(&mut liar, 0, b"connects").unwrap();
        honest.poll();
        let words: [u64; 4] = std::array::from_fn(|index| match random.below(4) {
            0 if index > 0 => random.below(1 << 30) << random.below(34),
            1 if index > 0 => random.below(1 << 14) & !4095,
            _ => random.below(6),
        });
        let mut target = vec![0; 3000];
        let inner = Memory::contiguous(target[1000..].as_mut_ptr(), 1000);
        let receive = |endpoint: &mut crate::endpoint::ShmEndpoint| {
            endpoint.bulk_receive(1, BulkDescriptor(words), 1000, inner.clone(), 1)
        };
        let _ = honest.linked(1, receive);
        for _ in 0..10 {
            honest.poll();
            liar.poll();
        }
        let guards = target[..1000].iter().chain(&target[2000..]);
        assert!(guards.copied().all(|byte| byte == 0), "{words:?}");
    }
}

/// What was sent and has not come.
type Queue = VecDeque<Vec<u8>>;

/// One of three writes nonsense into everything that it shares with the first, at random moments of random traffic. What the
/// other two send each other comes, whole and in order, and neither is lost to the other.
#[test]
fn a_liar_among_three_disturbs_nobody() {
    for seed in 1..40 {
        let mut random = Random(seed);
        let options = [RINGS, COPIES, Options::default()][(seed % 3) as usize];
        let mut all = world(3, options);
        let mut oracle: [[Queue; 3]; 3] = Default::default();
        let mut transfers = Transfers::default();
        for step in 0..600 {
            let me = random.below(3) as usize;
            match random.below(6) {
                0 => {
                    let to = [[1, 2], [0, 2], [0, 1]][me][random.below(2) as usize];
                    let bytes = [30, 3000][random.below(2) as usize];
                    let payload = random.bytes(bytes);
                    match send(&mut all[me], to as Peer, &payload) {
                        Ok(()) => oracle[me][to].push_back(payload),
                        Err(Refused::Busy) => {}
                        Err(refused) => {
                            assert!(refused == Refused::Lost && (me == 1 || to == 1), "{seed}");
                        }
                    }
                }
                1 if step % 5 == 0 => transfers.begin(&mut all, &mut random),
                2 if step > 200 => lie(&all, &mut random),
                _ => {
                    all[me].poll();
                }
            }
            check(&mut all, &mut oracle);
            transfers.accept(&mut all);
        }
        for _ in 0..200 {
            for one in &mut all {
                one.poll();
            }
            check(&mut all, &mut oracle);
            transfers.accept(&mut all);
        }
        for (me, other) in [(0, 2), (2, 0)] {
            assert!(
                !all[me].log.lost.contains_key(&(other as Peer)),
                "seed {seed}"
            );
            assert!(oracle[me][other].is_empty(), "seed {seed}");
        }
        transfers.check(&all, seed);
        for one in [&all[0], &all[2]] {
            let lost = one.log.lost.get(&1);
            assert!(lost.is_none_or(|why| why.contains("rank 1")), "{lost:?}");
        }
    }
}

/// Writes something into what the second shares: its own segment, and what the first has made for it in its own.
fn lie(all: &[Process], random: &mut Random) {
    let base = base_bytes(&all[1]);
    let own = all[1].fabric.shared().segment.memfd();
    let path = format!("/proc/self/fd/{own}");
    let end = std::fs::metadata(path).unwrap().len() as usize;
    // The first ring of a process that it has made for the liar, if it was the first that it connected to.
    let for_liar = all[0].fabric.shared().peers.find(1).unwrap();
    let there = for_liar
        .base
        .ring_of(0, 0)
        .load(std::sync::atomic::Ordering::SeqCst);
    let pages = match random.below(3) {
        0 if there != 0 && there != GIVEN_UP => piece(&all[0], there as usize, PAGE),
        _ if end > base => {
            let pages = (end - base) / PAGE;
            piece(
                &all[1],
                base + random.below(pages as u64) as usize * PAGE,
                PAGE,
            )
        }
        _ => return,
    };
    for _ in 0..3 {
        let value = match random.below(4) {
            0 => random.0,
            1 => random.below(1 << 20),
            2 => 1 << 48 | random.below(3) << 40 | random.below(4) << 32 | random.below(1 << 16),
            _ => random.below(8) << 32 | random.below(8),
        };
        let word = random.below(64) as usize * 8;
        write(&pages, word, value);
    }
}

/// Takes what has come and compares it with what was sent, the liar's apart.
fn check(all: &mut [Process], oracle: &mut [[Queue; 3]; 3]) {
    for (me, one) in all.iter_mut().enumerate() {
        one.log.packets.retain(|(from, header, payload)| {
            let from = *from as usize;
            if header.0[0] != 7 {
                return from != 1 && me != 1;
            }
            let expected = oracle[from][me].pop_front();
            if from != 1 && me != 1 {
                assert_eq!(Some(payload), expected.as_ref());
            }
            false
        });
    }
}

/// Bulk transfers among all, those with the liar begun only.
#[derive(Default)]
struct Transfers {
    all: Vec<(usize, usize, Vec<u8>, Vec<u8>)>,
}

impl Transfers {
    fn begin(&mut self, all: &mut [Process], random: &mut Random) {
        let me = random.below(3) as usize;
        let to = (me + 1 + random.below(2) as usize) % 3;
        let bytes = 1 + random.below(700_000) as usize;
        let mut source = random.bytes(bytes);
        let number = self.all.len() as u64;
        let sent = all[me].linked(to as Peer, |endpoint| {
            let descriptor = endpoint.bulk_send(to as Peer, memory(&mut source), number)?;
            let payload = offer_bytes(descriptor);
            let header = Header([1000 + number, 0]);
            let sent = endpoint.send(to as Peer, header, &payload, false);
            if sent.is_err() {
                endpoint.bulk_cancel(to as Peer, number);
            }
            sent
        });
        let target = vec![0; bytes];
        match sent {
            Ok(()) => self.all.push((me, to, source, target)),
            // The transport may still look at it until it has told that the peer is lost.
            Err(_) => self.all.push((1, 1, source, target)),
        }
    }

    fn accept(&mut self, all: &mut [Process]) {
        for one in all {
            let offers: Vec<_> = one.log.packets.drain(..).collect();
            for (from, header, payload) in offers {
                let number = header.0[0] - 1000;
                let (_, _, source, target) = &mut self.all[number as usize];
                let bytes = source.len();
                let receive = |endpoint: &mut crate::endpoint::ShmEndpoint| {
                    let offer = offer_from(&payload);
                    endpoint.bulk_receive(from, offer, bytes, memory(target), number)
                };
                one.linked(from, receive).unwrap();
            }
        }
    }

    fn check(&self, all: &[Process], seed: u64) {
        for (number, (from, to, source, target)) in self.all.iter().enumerate() {
            if *from != 1 && *to != 1 {
                assert!(
                    all[*to].log.received.contains(&(number as u64)),
                    "seed {seed}"
                );
                assert!(source == target, "seed {seed}: transfer {number}");
            }
        }
    }
}

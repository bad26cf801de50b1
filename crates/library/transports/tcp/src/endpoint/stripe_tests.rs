//! Long messages over several interfaces: what arrives is what was sent, whichever connection carries it, and whichever fails.

use std::ops::Range;
use std::sync::Arc;

use weft_memory::{Layout, Memory};
use weft_transport::{Endpoint, Peer};

use crate::Traffic;
use crate::world::{
    Process, Random, linked_pair, memory, offer_bytes, offer_from, pair_with_interfaces, turn,
};

/// Sends `data` and has it received; `meanwhile` is called in each turn.
fn transfer(
    from: &mut Process,
    to: &mut Process,
    data: &mut [u8],
    mut meanwhile: impl FnMut(&mut [&mut Process]),
) {
    let mut got = vec![0; data.len()];
    let bytes = data.len();
    transfer_between(from, to, memory(data), memory(&mut got), &mut meanwhile);
    assert!(got == data, "{bytes} bytes");
}

fn transfer_between(
    from: &mut Process,
    to: &mut Process,
    source: Memory,
    target: Memory,
    meanwhile: &mut dyn FnMut(&mut [&mut Process]),
) {
    let (me, peer, bytes) = (rank_of(from), rank_of(to), source.bytes);
    let descriptor = from.endpoint.bulk_send(peer, source, 1).expect("a link");
    from.send(peer, 5, &offer_bytes(descriptor)).expect("room");
    turn(&mut [from, to], |all| !all[1].log.packets.is_empty());
    let descriptor = offer_from(&to.log.packets.pop_front().unwrap().2);
    to.endpoint
        .bulk_receive(me, descriptor, bytes, target, 2)
        .unwrap();
    turn(&mut [from, to], |all| {
        meanwhile(all);
        !all[0].log.sent.is_empty() && !all[1].log.received.is_empty()
    });
    (from.log.sent, to.log.received) = (Vec::new(), Vec::new());
}

fn rank_of(process: &Process) -> Peer {
    process.fabric.rank()
}

fn sent(process: &Process) -> Vec<u64> {
    let traffic: Vec<Traffic> = process.fabric.traffic();
    traffic.iter().map(|one| one.sent_bytes).collect()
}

/// Two processes between which there are `stripes` stripes, once a long message has had them made.
fn striped_pair(interfaces: [u32; 2], stripes: u64) -> (Process, Process) {
    let (mut a, mut b) = pair_with_interfaces(interfaces);
    let mut data = vec![1; 300_000];
    transfer(&mut a, &mut b, &mut data, |_| ());
    let stripes_of = |one: &Process| one.fabric.counters().stripes;
    turn(&mut [&mut a, &mut b], |all| {
        all.iter()
            .all(|one| stripes_of(one) == stripes && one.fabric.pending() == 0)
    });
    (a, b)
}

#[test]
fn long_messages_go_by_all_interfaces() {
    let (mut a, mut b) = striped_pair([3, 3], 2);
    let before = sent(&a);
    let mut random = Random(11);
    let mut data = random.bytes(40 << 20);
    transfer(&mut a, &mut b, &mut data, |_| ());
    let carried: Vec<u64> = sent(&a)
        .iter()
        .zip(before)
        .map(|(now, then)| now - then)
        .collect();
    assert!(carried.iter().all(|&bytes| bytes > 1 << 20), "{carried:?}");
    let all: u64 = carried.iter().sum();
    assert!((40 << 20..41 << 20).contains(&all), "{carried:?}");
    assert_eq!(a.fabric.counters().copied_bytes, 0);
    // The higher rank's too, and several at once from either side.
    for bytes in [1 << 20, (1 << 20) + 1, (2 << 20) - 3, 9_000_001] {
        let mut data = random.bytes(bytes);
        transfer(&mut b, &mut a, &mut data, |_| ());
        transfer(&mut a, &mut b, &mut data, |_| ());
    }
    assert!(a.log.lost.is_empty() && b.log.lost.is_empty());
}

/// Short messages, and all where one side has one interface, go by one connection.
#[test]
fn others_go_by_one() {
    let (mut a, mut b) = striped_pair([2, 2], 1);
    let before = sent(&a)[1];
    let mut data = vec![7; 1 << 20];
    for bytes in [0, 100, 20_000, 400_000, 1 << 20] {
        if bytes != 0 {
            transfer(&mut a, &mut b, &mut data[..bytes], |_| ());
        }
        a.send(1, 9, &[3; 1000]).unwrap();
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        b.log.packets.clear();
    }
    assert_eq!(sent(&a)[1], before);
    for interfaces in [[1, 2], [2, 1]] {
        let (mut a, mut b) = striped_pair(interfaces, 0);
        transfer(&mut a, &mut b, &mut vec![5; 5 << 20], |_| ());
        assert_eq!(a.fabric.counters().links, 2);
    }
}

/// A connection for stripes fails while they are under way: nothing is lost but the connection.
#[test]
fn what_a_failed_connection_had_goes_by_the_other() {
    for seed in 1..=12 {
        let (mut a, mut b) = striped_pair([2, 2], 1);
        let mut random = Random(seed);
        let mut data = random.bytes(24 << 20);
        let before = a.fabric.counters().sent_bytes;
        let cut_at = before + random.below(20 << 20);
        let who = random.below(2) as usize;
        let mut cuts = 0;
        transfer(&mut a, &mut b, &mut data, |all| {
            if cuts == 0 && all[0].fabric.counters().sent_bytes > cut_at {
                let peer = 1 - who as Peer;
                cuts = all[who].endpoint.cut_stripes(peer);
            }
        });
        assert_eq!(cuts, 1, "seed {seed}");
        turn(&mut [&mut a, &mut b], |all| {
            all.iter().all(|one| one.fabric.counters().stripes == 0)
        });
        assert_eq!(a.fabric.counters().stripes_lost, 1);
        assert_eq!(a.fabric.counters().links, 2);
        // And all goes on as if there were one interface.
        transfer(&mut a, &mut b, &mut data, |_| ());
        transfer(&mut b, &mut a, &mut data, |_| ());
        assert!(
            a.log.lost.is_empty() && b.log.lost.is_empty(),
            "seed {seed}"
        );
    }
}

/// Transfers both ways, several at once, while the connection fails.
#[test]
fn all_transfers_of_a_failed_connection_go_on() {
    for seed in 1..=6 {
        let (mut a, mut b) = striped_pair([3, 3], 2);
        let mut random = Random(seed);
        let mut sources: Vec<Vec<u8>> = (0..6)
            .map(|_| {
                let bytes = (1 << 20) + random.below(4 << 20) as usize;
                random.bytes(bytes)
            })
            .collect();
        let mut targets: Vec<Vec<u8>> = sources.iter().map(|one| vec![0; one.len()]).collect();
        let mut descriptors = Vec::new();
        for (number, source) in sources.iter_mut().enumerate() {
            let (from, to) = if number % 2 == 0 {
                (&mut a, &mut b)
            } else {
                (&mut b, &mut a)
            };
            let peer = rank_of(to);
            let descriptor = from.endpoint.bulk_send(peer, memory(source), number as u64);
            let bytes = offer_bytes(descriptor.unwrap());
            from.send(peer, 1, &bytes).unwrap();
            turn(&mut [from, to], |all| !all[1].log.packets.is_empty());
            descriptors.push(offer_from(&to.log.packets.pop_front().unwrap().2));
        }
        for (number, target) in targets.iter_mut().enumerate() {
            let to = if number % 2 == 0 { &mut b } else { &mut a };
            let (from, bytes) = (1 - rank_of(to), target.len());
            let taken = to.endpoint.bulk_receive(
                from,
                descriptors[number],
                bytes,
                memory(target),
                number as u64,
            );
            taken.unwrap();
        }
        let cut_at = a.fabric.counters().sent_bytes + random.below(4 << 20);
        let mut is_cut = false;
        turn(&mut [&mut a, &mut b], |all| {
            if !is_cut && all[0].fabric.counters().sent_bytes >= cut_at {
                is_cut = all[1].endpoint.cut_stripes(0) == 2;
            }
            let done = |one: &Process| one.log.sent.len() == 3 && one.log.received.len() == 3;
            all.iter().all(|one| done(one))
        });
        assert!(targets == sources, "seed {seed}");
        assert!(a.log.lost.is_empty() && b.log.lost.is_empty());
    }
}

/// Runs of `bytes` that begin `stride` apart.
#[derive(Clone, Copy)]
struct Strided {
    bytes: usize,
    stride: usize,
}

impl Strided {
    /// Where the packed bytes of a window lie, one run after the other.
    fn each(
        &self,
        window: Range<usize>,
        mut visit: impl FnMut(usize, Range<usize>) -> bool,
    ) -> bool {
        let mut begin = window.start;
        while begin < window.end {
            let end = window.end.min((begin / self.bytes + 1) * self.bytes);
            let at = begin / self.bytes * self.stride + begin % self.bytes;
            if !visit(at, begin..end) {
                return false;
            }
            begin = end;
        }
        true
    }

    fn memory(self, bytes: &mut [u8], packed: usize) -> Memory {
        assert!(packed.div_ceil(self.bytes) * self.stride <= bytes.len());
        Memory {
            base: bytes.as_mut_ptr(),
            bytes: packed,
            layout: Some(Arc::new(self)),
        }
    }
}

// SAFETY: touches the runs alone.
unsafe impl Layout for Strided {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        self.each(offset..offset + out.len(), |at, part| {
            let out = &mut out[part.start - offset..part.end - offset];
            // SAFETY: by this function's contract.
            let run = unsafe { std::slice::from_raw_parts(base.add(at), part.len()) };
            out.copy_from_slice(run);
            true
        });
    }

    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        self.each(offset..offset + data.len(), |at, part| {
            // SAFETY: by this function's contract.
            let run = unsafe { std::slice::from_raw_parts_mut(base.add(at), part.len()) };
            run.copy_from_slice(&data[part.start - offset..part.end - offset]);
            true
        });
    }

    fn run_bytes(&self) -> usize {
        self.bytes
    }

    fn runs(&self, window: Range<usize>, visit: &mut dyn FnMut(isize, usize) -> bool) -> bool {
        self.each(window, |at, part| visit(at as isize, part.len()))
    }
}

/// Bytes that were copied on their way, on either side, of `packed` that lie as told.
fn copied(
    pair: &mut (Process, Process),
    layouts: [Strided; 2],
    packed: usize,
    seed: u64,
) -> [u64; 2] {
    let span = |side: usize| packed.div_ceil(layouts[side].bytes) * layouts[side].stride;
    let mut source = Random(seed).bytes(span(0));
    let (unsent, mut target) = (source.clone(), vec![0xa5; span(1)]);
    let (a, b) = pair;
    let before = [&*a, &*b].map(|one| one.fabric.counters().copied_bytes);
    let from = layouts[0].memory(&mut source, packed);
    let to = layouts[1].memory(&mut target, packed);
    transfer_between(a, b, from, to, &mut |_| ());
    assert!(unsent == source, "what is sent is not written");
    let mut got = vec![0xa5; target.len()];
    let mut bytes = Vec::new();
    layouts[0].each(0..packed, |at, part| {
        bytes.extend_from_slice(&source[at..at + part.len()]);
        true
    });
    layouts[1].each(0..packed, |at, part| {
        got[at..at + part.len()].copy_from_slice(&bytes[part]);
        true
    });
    assert!(got == target, "{packed} bytes, seed {seed}");
    let after = [&*a, &*b].map(|one| one.fabric.counters().copied_bytes);
    [0, 1].map(|side| after[side] - before[side])
}

/// Long runs go straight from and to the program's memory, short ones are copied, and what lies between is not touched.
#[test]
fn long_runs_are_not_copied() {
    let of = |bytes, stride| Strided { bytes, stride };
    // What is read with a frame before it is copied from there.
    const WITH_FRAMES: u64 = 64 << 10;
    for mut pair in [linked_pair(), striped_pair([2, 2], 1)] {
        for (seed, packed) in [(1, 30_000), (2, 100_000), (3, 700_001), (4, 9_000_000)] {
            let (long, longer, short) = (of(600, 1000), of(5000, 5001), of(40, 64));
            let [sent, received] = copied(&mut pair, [long, longer], packed, seed);
            assert!(
                sent == 0 && received <= WITH_FRAMES,
                "{sent}, {received} of {packed}"
            );
            let [sent, received] = copied(&mut pair, [longer, long], packed, seed);
            assert!(
                sent == 0 && received <= WITH_FRAMES,
                "{sent}, {received} of {packed}"
            );
            let all = packed as u64;
            let [sent, received] = copied(&mut pair, [short, short], packed, seed);
            assert!(
                sent >= all && received == all,
                "{sent}, {received} of {packed}"
            );
        }
        assert!(pair.0.log.lost.is_empty() && pair.1.log.lost.is_empty());
    }
}

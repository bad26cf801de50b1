use std::collections::VecDeque;
use std::sync::Arc;

use weft_memory::{Layout, Memory};
use weft_transport::{Endpoint, Header, Peer, Refused};

use crate::frame::EAGER_BYTES;
use crate::world::{Process, Random, linked_pair, memory, offer_bytes, offer_from, turn, world};

#[test]
pub(super) fn every_length_arrives() {
    let (mut a, mut b) = linked_pair();
    let mut random = Random(1);
    for bytes in (0..100).chain([127, 1000, 8191, 8192, EAGER_BYTES - 1, EAGER_BYTES]) {
        let payload = random.bytes(bytes);
        while a.send(1, bytes as u64, &payload).is_err() {
            a.poll();
        }
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        let (from, header, got) = b.log.packets.pop_front().unwrap();
        assert_eq!((from, header.0), (0, [bytes as u64, !(bytes as u64)]));
        assert_eq!(got, payload);
    }
    assert!(!b.poll() && b.log.packets.is_empty());
}

#[test]
pub(super) fn send_with_writes_the_payload() {
    let (mut a, mut b) = linked_pair();
    for bytes in [0, 5, 40, 3000] {
        let header = Header([1, 2]);
        let fill = |out: &mut [u8]| out.fill(9);
        a.endpoint.send_with(1, header, bytes, false, fill).unwrap();
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        assert_eq!(b.log.packets.pop_front().unwrap().2, vec![9; bytes]);
    }
}

/// Opens a transfer and says so in a packet.
fn offer(from: &mut Process, to: Peer, data: &mut [u8], cookie: u64) {
    let source = memory(data);
    let offer = from.endpoint.bulk_send(to, source, cookie).unwrap();
    let header = Header([cookie, data.len() as u64]);
    from.endpoint
        .send(to, header, &offer_bytes(offer), false)
        .unwrap();
}

#[test]
pub(super) fn bulk_of_every_length_arrives() {
    let (mut a, mut b) = linked_pair();
    let mut random = Random(2);
    let lengths = [
        1,
        17_000,
        100_000,
        131_072,
        131_073,
        262_144,
        262_145,
        1 << 20,
        5_000_000,
    ];
    for (cookie, bytes) in lengths.into_iter().enumerate() {
        let mut data = random.bytes(bytes);
        let mut got = vec![0; bytes];
        offer(&mut a, 1, &mut data, cookie as u64);
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        let (_, header, payload) = b.log.packets.pop_front().unwrap();
        assert_eq!(header.0, [cookie as u64, bytes as u64]);
        let target = memory(&mut got);
        b.endpoint
            .bulk_receive(0, offer_from(&payload), bytes, target, 7)
            .unwrap();
        turn(&mut [&mut a, &mut b], |all| {
            all[0].log.sent == [cookie as u64] && all[1].log.received == [7]
        });
        assert!(got == data, "{bytes} bytes");
        (a.log.sent, b.log.received) = (Vec::new(), Vec::new());
    }
}

/// What was sent and has not come.
type Queue = VecDeque<(u64, Vec<u8>)>;

/// Random traffic among four, against queues.
#[test]
pub(super) fn random_traffic() {
    for seed in 1..6 {
        let mut random = Random(seed);
        let mut all = world(4);
        let mut oracle: Vec<Vec<Queue>> = vec![vec![VecDeque::new(); 4]; 4];
        let take = |me: usize, all: &mut [Process], oracle: &mut [Vec<Queue>]| {
            all[me].poll();
            while let Some((from, header, payload)) = all[me].log.packets.pop_front() {
                let expected = oracle[from as usize][me].pop_front().expect("was sent");
                assert_eq!((header.0[0], payload), expected);
            }
        };
        let (mut refused, mut accepted) = (0, 0);
        for number in 0..6000u64 {
            let me = random.below(4) as usize;
            if random.below(2 + 20 * (seed % 3)) == 0 {
                take(me, &mut all, &mut oracle);
                continue;
            }
            let to = ((me as u64 + 1 + random.below(3)) % 4) as usize;
            let limit = [EAGER_BYTES as u64 + 1, 60, 60, 60][random.below(4) as usize];
            let bytes = random.below(limit) as usize;
            let payload = random.bytes(bytes);
            match all[me].send(to as Peer, number, &payload) {
                Ok(()) => {
                    oracle[me][to].push_back((number, payload));
                    accepted += 1;
                }
                Err(Refused::Busy | Refused::Connecting) => refused += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(
            refused > 0 && accepted > 500,
            "{refused} refused, {accepted} not"
        );
        let begin = std::time::Instant::now();
        while oracle.iter().flatten().any(|queue| !queue.is_empty()) {
            (0..4).for_each(|me| take(me, &mut all, &mut oracle));
            assert!(begin.elapsed().as_secs() < 20);
        }
        assert!(all.iter().all(|one| one.log.lost.is_empty()));
    }
}

/// The transfer that the next packet names.
fn take(from: &mut Process, to: &mut Process) -> weft_transport::BulkDescriptor {
    turn(&mut [from, to], |all| !all[1].log.packets.is_empty());
    offer_from(&to.log.packets.pop_front().unwrap().2)
}

#[test]
pub(super) fn a_transfer_nobody_wants_yet_holds_up_no_other() {
    let (mut a, mut b) = linked_pair();
    let mut random = Random(3);
    for bytes in [50_000, 400_000, 3_000_000] {
        let mut data = [random.bytes(bytes), random.bytes(bytes)];
        let mut got = [vec![0; bytes], vec![0; bytes]];
        let mut offers = Vec::new();
        for (cookie, data) in data.iter_mut().enumerate() {
            offer(&mut a, 1, data, cookie as u64);
            offers.push(take(&mut a, &mut b));
        }
        for which in [1, 0] {
            let target = memory(&mut got[which]);
            b.endpoint
                .bulk_receive(0, offers[which], bytes, target, which as u64)
                .unwrap();
            turn(&mut [&mut a, &mut b], |all| {
                all[1].log.received == [which as u64]
            });
            b.log.received.clear();
        }
        turn(&mut [&mut a, &mut b], |all| all[0].log.sent.len() == 2);
        a.log.sent.clear();
        assert!(got == data, "{bytes} bytes");
    }
}

#[test]
pub(super) fn less_may_be_wanted_than_there_is() {
    let (mut a, mut b) = linked_pair();
    let mut random = Random(4);
    for (bytes, wanted) in [
        (50_000, 10),
        (50_000, 0),
        (400_000, 300_000),
        (400_000, 7),
        (2_000_000, 1_000_000),
    ] {
        let mut data = random.bytes(bytes);
        let mut got = vec![0; wanted + 1];
        offer(&mut a, 1, &mut data, 1);
        let descriptor = take(&mut a, &mut b);
        let target = memory(&mut got[..wanted]);
        b.endpoint
            .bulk_receive(0, descriptor, bytes, target, 2)
            .unwrap();
        turn(&mut [&mut a, &mut b], |all| {
            !all[0].log.sent.is_empty() && !all[1].log.received.is_empty()
        });
        (a.log.sent, b.log.received) = (Vec::new(), Vec::new());
        assert!(
            got[..wanted] == data[..wanted] && got[wanted] == 0,
            "{wanted} of {bytes} bytes"
        );
    }
}

#[test]
pub(super) fn transfers_can_be_taken_back() {
    let (mut a, mut b) = linked_pair();
    for round in 0..100 {
        let mut data = vec![1; 100_000];
        offer(&mut a, 1, &mut data, 5);
        // Before it has come, or after.
        let has_come = round % 2 == 0;
        if has_come {
            take(&mut a, &mut b);
        }
        a.endpoint.bulk_cancel(1, 5);
        drop(data);
        if !has_come {
            take(&mut a, &mut b);
        }
        assert!(a.log.sent.is_empty());
    }
    let (mut data, mut got) = (vec![8; 100_000], vec![0; 100_000]);
    offer(&mut a, 1, &mut data, 6);
    let descriptor = take(&mut a, &mut b);
    b.endpoint
        .bulk_receive(0, descriptor, 100_000, memory(&mut got), 7)
        .unwrap();
    turn(&mut [&mut a, &mut b], |all| {
        all[0].log.sent == [6] && all[1].log.received == [7]
    });
    assert!(got == data && b.log.lost.is_empty());
}

/// Every second byte of memory twice as long.
struct EverySecond;

// SAFETY: touches bytes 0, 2, 4 ... of the span, as many as are packed.
unsafe impl Layout for EverySecond {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        for (index, byte) in out.iter_mut().enumerate() {
            // SAFETY: by this function's contract.
            *byte = unsafe { *base.add(2 * (offset + index)) };
        }
    }
    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        for (index, byte) in data.iter().enumerate() {
            // SAFETY: by this function's contract.
            unsafe { *base.add(2 * (offset + index)) = *byte };
        }
    }
}

fn strided(bytes: &mut [u8]) -> Memory {
    Memory {
        base: bytes.as_mut_ptr(),
        bytes: bytes.len() / 2,
        layout: Some(Arc::new(EverySecond)),
    }
}

/// What does not lie together at one end or the other travels in frames, also where less is wanted, or nothing.
#[test]
pub(super) fn scattered_memory_is_sent_and_received() {
    let (mut a, mut b) = linked_pair();
    let mut random = Random(5);
    for bytes in [20_000, 100_000, 1_000_000] {
        for (from_scattered, to_scattered) in [(true, true), (true, false), (false, true)] {
            for wanted in [bytes, bytes / 3, 0] {
                let content = random.bytes(bytes);
                let mut data = match from_scattered {
                    true => content.iter().flat_map(|&byte| [byte, 0xee]).collect(),
                    false => content.clone(),
                };
                let mut got = vec![0; if to_scattered { 2 * wanted } else { wanted }];
                let source = match from_scattered {
                    true => strided(&mut data),
                    false => memory(&mut data),
                };
                let descriptor = a.endpoint.bulk_send(1, source, 1).unwrap();
                let target = match to_scattered {
                    true => strided(&mut got),
                    false => memory(&mut got),
                };
                b.endpoint
                    .bulk_receive(0, descriptor, bytes, target, 2)
                    .unwrap();
                turn(&mut [&mut a, &mut b], |all| {
                    all[0].log.sent == [1] && all[1].log.received == [2]
                });
                (a.log.sent, b.log.received) = (Vec::new(), Vec::new());
                let step = if to_scattered { 2 } else { 1 };
                let came = got.iter().step_by(step);
                assert!(
                    came.eq(content[..wanted].iter()),
                    "{wanted} of {bytes} bytes"
                );
            }
        }
    }
}

#[test]
pub(super) fn what_an_unready_receiver_holds_has_a_bound() {
    let (mut a, mut b) = linked_pair();
    let payload = vec![9; EAGER_BYTES];
    let (mut sent, mut refused) = (0u64, 0);
    while refused < 1000 {
        match a.send(1, sent, &payload) {
            Ok(()) => (sent, refused) = (sent + 1, 0),
            Err(Refused::Busy) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
        a.poll();
        a.log.writable.clear();
    }
    // The receiver's buffers, and what one sender may have under way beside.
    let longest = b.fabric.pools().all().last().unwrap();
    assert_eq!(sent, u64::from(longest.count + longest.credits));
    let mut next = 0;
    turn(&mut [&mut a, &mut b], |all| {
        for (_, header, _) in all[1].log.packets.drain(..) {
            assert_eq!(header.0[0], next);
            next += 1;
        }
        next == sent && !all[0].log.writable.is_empty()
    });
}

#[test]
fn throttled_packets_are_refused_until_the_peer_resumes() {
    let (mut a, mut b) = linked_pair();
    for on in [true, false] {
        b.endpoint.throttle(0, on);
        for _ in 0..1000 {
            a.poll();
            b.poll();
        }
        let header = Header([1, 1]);
        let expected = if on { Err(Refused::Throttled) } else { Ok(()) };
        assert_eq!(a.endpoint.send(1, header, &[], true), expected);
        assert_eq!(a.endpoint.send(1, header, &[], false), Ok(()));
    }
    turn(&mut [&mut a, &mut b], |all| all[1].log.packets.len() == 3);
}

//! Pools of several sizes, and peers that have other ones.

use std::collections::VecDeque;

use weft_transport::{Endpoint, Fabric, Peer, Refused};

use crate::frame::{EAGER_BYTES, HEAD_BYTES};
use crate::options::Options;
use crate::world::{Process, Random, memory, options, over_xrc, turn, world_with, world_with_each};

fn with_pools(pools: &str) -> Options {
    Options {
        pools: Some(pools.parse().unwrap()),
        ..options()
    }
}

/// Two processes with such pools, and a link.
fn linked(pools: [&str; 2]) -> (Process, Process) {
    let mut both = world_with_each(&pools.map(with_pools)).all;
    let (mut b, mut a) = (both.pop().unwrap(), both.pop().unwrap());
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
    // What tells of the link may fill a small pool for a moment.
    turn(&mut [&mut a, &mut b], |all| all[0].send(1, 0, &[]).is_ok());
    turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
    b.log.packets.clear();
    (a, b)
}

/// Sends as many packets of that length as are taken, and has what was sent before be known.
fn fill(from: &mut Process, to: Peer, bytes: usize) -> usize {
    let (mut sent, mut refused) = (0, 0);
    while refused < 200 {
        match from.send(to, 0, &vec![7; bytes]) {
            Ok(()) => (sent, refused) = (sent + 1, 0),
            Err(Refused::Busy) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
        from.poll();
    }
    sent
}

/// Who sleeps is woken by the first message that comes, and fills its pools up before they are empty: it needs no event of a receive queue
/// that runs low.
#[test]
fn a_sleeper_is_woken_before_its_pools_are_empty() {
    const MESSAGES: usize = 300;
    let all: fn(&str) = |pools| {
        let (mut a, mut b) = linked([pools; 2]);
        while b.poll() {}
        let (mut came, mut woken) = (0, 0);
        while came < MESSAGES {
            let ticket = b.fabric.prepare_sleep();
            if !b.endpoint.arm() {
                turn(&mut [&mut a], |all| all[0].send(1, 0, &[7; 5]).is_ok());
                fill(&mut a, 1, 5);
                b.fabric.sleep(ticket, Some(250));
                woken += b.fabric.signalled() & 1;
            }
            b.endpoint.disarm();
            while b.poll() {}
            came += b.log.packets.drain(..).count();
        }
        assert!(woken > 0, "{pools}: no message has woken it");
    };
    all("S,256,8,4,2:S,16512,4");
    all("P,256,8:P,16512,4");
    over_xrc(|| all("X,256,8,4,2:X,16512,4"));
}

#[test]
fn a_queue_pair_and_a_shared_receive_queue_for_each_pool() {
    let four = "S,128,32:S,1k,32:S,4k,16:S,16512,16";
    for (pools, pairs, queues) in [
        (["S,16512,64"; 2], 1, [1, 1]),
        ([four; 2], 4, [4, 4]),
        (["S,256,32:S,2k,16", four], 4, [2, 4]),
        ([four, "S,4k,16"], 4, [4, 1]),
        (["P,256,32,16,4:S,16512,16"; 2], 2, [1, 1]),
        (["P,256,32:P,16512,16"; 2], 2, [0, 0]),
    ] {
        let (a, b) = linked(pools);
        for (process, queues, pools) in [(&a, queues[0], pools[0]), (&b, queues[1], pools[1])] {
            let counters = process.fabric.counters();
            assert_eq!(
                (counters.links, counters.queue_pairs),
                (1, pairs),
                "{pools}"
            );
            assert_eq!(counters.shared_receive_queues, queues, "{pools}");
            let pools: weft_pools::Pools = pools.parse().unwrap();
            let bytes = pools
                .all()
                .iter()
                .map(|pool| pool.buffer_bytes())
                .sum::<u64>();
            assert_eq!(counters.buffer_bytes, bytes);
        }
    }
}

/// Buffers for data of a pool of type P, and for credits of the peer's.
#[test]
fn peers_may_have_other_pools_than_buffers_are_posted_for() {
    for (pools, buffers, bytes) in [
        // Of 32 and 16 credits, 8 and 4 may be in messages of credits alone.
        (
            ["P,256,32,16,4", "P,128,16,8,4"],
            [32 + 4, 16 + 8],
            [36 * 256, 24 * 128],
        ),
        (
            ["P,256,32,16,4", "S,512,16"],
            [32, 16],
            [32 * 256, 16 * 512],
        ),
        // There is no pool of the second's where the credits for that of 2 KiB come.
        (
            ["S,256,8:P,2k,32,16,4", "S,512,16"],
            [8 + 32, 16 + 8],
            [8 * 256 + 32 * 2048, 16 * 512 + 8 * 64],
        ),
    ] {
        let (a, b) = linked(pools);
        for (process, buffers, bytes) in [(&a, buffers[0], bytes[0]), (&b, buffers[1], bytes[1])] {
            let counters = process.fabric.counters();
            let counted = (counters.buffers, counters.buffer_bytes);
            assert_eq!(counted, (buffers, bytes), "{pools:?}");
        }
    }
}

/// A pool of type P takes what it has buffers for, and nothing is under way without one.
#[test]
fn no_more_is_sent_than_there_are_credits() {
    let (mut a, mut b) = linked(["S,64,8", "P,256,40,20,9:P,2k,12,6,3:S,16512,16"]);
    for (bytes, count) in [
        (256 - HEAD_BYTES, 40),
        (256 - HEAD_BYTES + 1, 12),
        (0, 0),
        (2048 - HEAD_BYTES, 0),
    ] {
        let room = fill(&mut a, 1, bytes);
        // The link's first frames have taken some, and may have been given back.
        assert!(room <= count && room + 8 >= count, "{bytes} bytes: {room}");
    }
    turn(&mut [&mut a, &mut b], |all| {
        all[1].log.packets.len() >= 52 - 8
    });
    // All are given back.
    assert!(fill(&mut a, 1, 0) > 8);
}

/// Credits go with frames that go anyway: a ping-pong takes no further request, where fewer are posted again at once than may be owed.
#[test]
fn credits_travel_with_frames() {
    const ROUNDS: u64 = 500;
    let (mut a, mut b) = linked(["P,256,16,12,8"; 2]);
    let before = [&a, &b].map(|process| process.fabric.counters().requests);
    for number in 0..ROUNDS {
        turn(&mut [&mut a, &mut b], |all| {
            all[0].send(1, number, &[]).is_ok()
        });
        turn(&mut [&mut a, &mut b], |all| {
            all[1].log.packets.pop_front().is_some()
        });
        turn(&mut [&mut a, &mut b], |all| {
            all[1].send(0, number, &[]).is_ok()
        });
        turn(&mut [&mut a, &mut b], |all| {
            all[0].log.packets.pop_front().is_some()
        });
    }
    for (process, before) in [a, b].iter().zip(before) {
        let requests = process.fabric.counters().requests - before;
        assert!(requests <= ROUNDS + ROUNDS / 50, "{requests} requests");
    }
}

/// Credits that went by a queue pair by which only the peer sends are done, so that a process may leave.
#[test]
fn who_has_given_credits_back_leaves_at_once() {
    let (mut a, mut b) = linked(["P,256,8:P,2k,8", "S,16512,64"]);
    for number in 0..30 {
        turn(&mut [&mut a, &mut b], |all| {
            all[1].send(0, number, &[7; 1000]).is_ok()
        });
    }
    turn(&mut [&mut a, &mut b], |all| all[0].log.packets.len() == 30);
    let begin = std::time::Instant::now();
    drop(a);
    assert!(begin.elapsed().as_millis() < 500);
    assert!(b.log.lost.is_empty());
}

#[test]
fn a_peer_that_gives_too_many_credits_is_lost() {
    let (mut a, mut b) = linked(["P,256,16"; 2]);
    b.endpoint.give(0, 17);
    turn(&mut [&mut a, &mut b], |all| !all[0].log.lost.is_empty());
    let why = &a.log.lost[&1];
    assert!(
        why.contains("it sent more credits than its pool has buffers"),
        "{why}"
    );
}

/// Each pool has a window of its own, so that of each length as many are taken as the smallest pool that fits admits.
#[test]
fn a_frame_goes_into_the_smallest_buffer_that_holds_it() {
    let (mut a, mut b) = linked(["S,64,8", "S,256,40,20,9:S,2k,40,20,7:S,16512,40,20,5"]);
    for (bytes, window) in [
        (256 - HEAD_BYTES, 9),
        (0, 0),
        (256 - HEAD_BYTES + 1, 7),
        (2048 - HEAD_BYTES, 0),
        (2048 - HEAD_BYTES + 1, 5),
        (EAGER_BYTES, 0),
    ] {
        // The receiver takes nothing; completions tell of what is in its buffers alone.
        let room = fill(&mut a, 1, bytes);
        assert!(room >= window, "{bytes} bytes: {room} of {window}");
        assert!(room <= 40 + window, "{bytes} bytes: {room}");
    }
    let sent = 3 * 40;
    turn(&mut [&mut a, &mut b], |all| {
        all[1].log.packets.len() >= sent
    });
}

/// Lengths of all pools mixed, between processes whose pools differ, some too small for a packet, and some of one buffer: all comes,
/// whole, in order.
#[test]
fn mixed_lengths_arrive_in_order() {
    let all = [
        "S,64,1",
        "S,64,2,0,1:S,80,1:S,256,4",
        "S,256,64:S,2k,32:S,16512,16",
        "S,128,8:S,1k,4:S,4k,2",
        "P,64,1",
        "P,64,2,0,1:P,80,1:S,256,4",
        "P,256,64:P,2k,32,16,17:P,16512,16,1,1",
        "S,128,8:P,1k,4,3,4:S,4k,2:P,8k,3",
    ];
    for (seed, mine) in all.iter().enumerate() {
        for theirs in all {
            let (mut a, mut b) = linked([mine, theirs]);
            let mut random = Random(seed as u64 + 1);
            let mut expected = [VecDeque::new(), VecDeque::new()];
            let begin = std::time::Instant::now();
            let mut number = 0;
            // A pool of one buffer takes as many as the other side makes room for, at a pace of its own.
            while number < 500 || expected.iter().map(VecDeque::len).sum::<usize>() <= 5 {
                number += 1;
                let seconds = begin.elapsed().as_secs();
                assert!(seconds < 20, "{expected:?} sent, {mine} and {theirs}");
                let from = random.below(2) as usize;
                let limit = [40, 300, 3000, EAGER_BYTES as u64 + 1][random.below(4) as usize];
                let bytes = random.below(limit) as usize;
                let payload = random.bytes(bytes);
                let both = [&mut a, &mut b];
                match both[from].send(1 - from as Peer, number, &payload) {
                    Ok(()) => expected[1 - from].push_back((number, payload)),
                    Err(Refused::Busy | Refused::Connecting) => {
                        both[from].poll();
                    }
                    Err(other) => panic!("{other:?}"),
                }
                let one = &mut *both[random.below(2) as usize];
                match random.below(8) {
                    0 | 1 => _ = one.poll(),
                    // Without a flush the turn goes on, and packets that are sent in it are gathered.
                    2 => _ = one.endpoint.poll(&mut one.log),
                    _ => {}
                }
            }
            turn(&mut [&mut a, &mut b], |all| {
                all[0].log.packets.len() >= expected[0].len()
                    && all[1].log.packets.len() >= expected[1].len()
            });
            for (process, expected) in [(a, &expected[0]), (b, &expected[1])] {
                let came = process.log.packets.into_iter();
                let came: VecDeque<(u64, Vec<u8>)> = came
                    .map(|(_, header, payload)| (header.0[0], payload))
                    .collect();
                assert!(came == *expected, "{mine} and {theirs}");
                assert!(process.log.lost.is_empty());
            }
        }
    }
}

/// Frames of data are cut to the peer's buffers.
#[test]
fn data_in_frames_fit_the_peer_s_buffers() {
    let (mut a, mut b) = linked(["S,64,4", "S,100,3"]);
    let mut data = Random(5).bytes(5000);
    let source = weft_memory::Memory {
        layout: Some(std::sync::Arc::new(crate::world::Scattered)),
        ..memory(&mut data)
    };
    let mut got = vec![0; 5000];
    let descriptor = a.endpoint.bulk_send(1, source, 1).unwrap();
    b.endpoint
        .bulk_receive(0, descriptor, 5000, memory(&mut got), 2)
        .unwrap();
    turn(&mut [&mut a, &mut b], |all| {
        all[0].log.sent == [1] && all[1].log.received == [2]
    });
    assert!(got == data);
}

/// Many senders, one receiver that looks now and then, buffers for few: nothing is lost, nobody's queue pair fails, and no more is held
/// than the buffers.
#[test]
fn a_flood_of_an_unready_receiver_waits_with_its_senders() {
    for (pools, buffers) in [
        ("S,64,8,4,2:S,512,4,2,1", 12),
        // 12 and 6 for each of the senders.
        ("P,64,8,4,2:P,512,4,2,2", 5 * 18),
        ("P,64,8,4,2:S,512,4,2,1", 5 * 12 + 4),
    ] {
        flood(pools, buffers);
    }
}

fn flood(pools: &str, buffers: u64) {
    const SENDERS: u32 = 5;
    const EACH: u64 = 4000;
    let mut all = world_with(SENDERS + 1, &with_pools(pools)).all;
    let mut receiver = all.remove(0);
    let mut next = vec![0; SENDERS as usize];
    let mut came = vec![0; SENDERS as usize];
    let mut random = Random(9);
    let begin = std::time::Instant::now();
    while came.iter().any(|&count| count < EACH) {
        for (place, sender) in all.iter_mut().enumerate() {
            while next[place] < EACH {
                let bytes = random.below(100) as usize;
                match sender.send(0, next[place], &vec![1; bytes]) {
                    Ok(()) => next[place] += 1,
                    Err(Refused::Busy | Refused::Connecting) => break,
                    Err(other) => panic!("{other:?}"),
                }
            }
            sender.poll();
        }
        if random.below(8) == 0 {
            receiver.poll();
        }
        for (from, header, _) in receiver.log.packets.drain(..) {
            let from = from as usize - 1;
            assert_eq!(header.0[0], came[from]);
            came[from] += 1;
        }
        assert!(begin.elapsed().as_secs() < 60, "{came:?}");
    }
    assert_eq!(receiver.fabric.counters().buffers, buffers);
    let lost = all.iter().all(|one| one.log.lost.is_empty());
    assert!(lost && receiver.log.lost.is_empty());
}

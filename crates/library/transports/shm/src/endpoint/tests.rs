use super::*;
use crate::layout::{BLOCK_BYTES, RING_CELLS, SHORT_BLOCK_BYTES};
use crate::shared::Options;
use crate::world::{Process, Random, host, pair, world};
use std::collections::VecDeque;
use weft_transport::{Fabric, Near};

/// Nothing but a wake-up ends a sleep: one that is lost costs more than any busy machine does.
const LONG_SLEEPS: Options = Options {
    deny_copies: false,
    always_copies: false,
    longest_sleep_ms: Some(60_000),
};
const AWAKENED: Duration = Duration::from_secs(30);

fn send(from: &mut Process, to: Peer, tag: u64, payload: &[u8]) -> Result<(), Refused> {
    from.linked(to, |endpoint| {
        endpoint.send(to, Header([tag, !tag]), payload, true)
    })
}

#[test]
fn every_length_arrives() {
    let (mut a, mut b) = pair(Options::default());
    let mut random = Random(1);
    for bytes in (0..100).chain([
        127,
        128,
        129,
        1000,
        4095,
        4096,
        EAGER_BYTES - 1,
        EAGER_BYTES,
    ]) {
        let payload = random.bytes(bytes);
        send(&mut a, 1, bytes as u64, &payload).unwrap();
        assert!(b.poll());
        let (from, header, got) = b.log.packets.pop_front().unwrap();
        assert_eq!((from, header.0), (0, [bytes as u64, !(bytes as u64)]));
        assert_eq!(got, payload);
    }
    assert!(!b.poll());
}

/// A long message that nobody expects after it can wait in the ring until somebody does.
#[test]
fn long_messages_come_one_a_turn_while_nothing_is_expected() {
    let (mut a, mut b) = pair(Options::default());
    send(&mut a, 1, 0, b"connects").unwrap();
    b.poll();
    b.log.packets.clear();
    for (bytes, expects_nothing, turns) in [
        (41, true, 3),
        (9000, true, 3),
        (9000, false, 1),
        (40, true, 1),
    ] {
        for tag in 0..3 {
            send(&mut a, 1, tag, &vec![7; bytes]).unwrap();
        }
        b.log.expects_nothing = expects_nothing;
        let polls = (0..).take_while(|_| b.poll()).count();
        assert_eq!(polls, turns, "{bytes} bytes");
        let tags = b.log.packets.drain(..).map(|(_, header, _)| header.0[0]);
        assert!(tags.eq(0..3));
    }
}

#[test]
fn send_with_writes_in_place() {
    let (mut a, mut b) = pair(Options::default());
    for bytes in [0, 5, 40, 41, 3000] {
        a.linked(1, |endpoint| {
            endpoint.send_with(1, Header([1, 2]), bytes, false, |out| out.fill(9))
        })
        .unwrap();
        b.poll();
        assert_eq!(b.log.packets.pop_front().unwrap().2, vec![9; bytes]);
    }
}

/// What was sent and has not come.
type Queue = VecDeque<(u64, Vec<u8>)>;

/// Random traffic among four, through rings and blocks, against queues.
#[test]
fn random_traffic() {
    for seed in 1..12 {
        let mut random = Random(seed);
        let mut all = world(4, Options::default());
        let mut oracle: Vec<Vec<Queue>> = vec![vec![VecDeque::new(); 4]; 4];
        let mut refused = 0;
        for number in 0..6000u64 {
            let me = random.below(4) as usize;
            if random.below(2 + 20 * (seed % 3)) == 0 {
                all[me].poll();
                while let Some((from, header, payload)) = all[me].log.packets.pop_front() {
                    let expected = oracle[from as usize][me].pop_front().expect("was sent");
                    assert_eq!((header.0[0], payload), expected);
                }
                continue;
            }
            let to = ((me as u64 + 1 + random.below(3)) % 4) as usize;
            let limit = if random.below(4) == 0 {
                EAGER_BYTES as u64 + 1
            } else {
                60
            };
            let bytes = random.below(limit) as usize;
            let payload = random.bytes(bytes);
            match send(&mut all[me], to as Peer, number, &payload) {
                Ok(()) => oracle[me][to].push_back((number, payload)),
                Err(Refused::Busy) => refused += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
        for _ in 0..300 {
            for me in 0..4 {
                all[me].poll();
                while let Some((from, header, payload)) = all[me].log.packets.pop_front() {
                    let expected = oracle[from as usize][me].pop_front().expect("was sent");
                    assert_eq!((header.0[0], payload), expected);
                }
            }
        }
        assert!(oracle.iter().flatten().all(VecDeque::is_empty));
        assert!(
            refused > 0 || seed % 3 == 0,
            "rings are filled when turns are rare"
        );
    }
}

/// Answers go back in the block of the question; one way, all but the first few go through the ring.
#[test]
fn blocks_go_to_and_fro() {
    let (mut a, mut b) = pair(Options::default());
    let mut random = Random(2);
    for bytes in [41, 4096, 4097, EAGER_BYTES, 100] {
        for _ in 0..3 {
            let payload = random.bytes(bytes);
            send(&mut a, 1, 0, &payload).unwrap();
            b.poll();
            assert_eq!(b.log.packets.pop_front().unwrap().2, payload);
            send(&mut b, 0, 0, &payload).unwrap();
            a.poll();
            assert_eq!(a.log.packets.pop_front().unwrap().2, payload);
        }
    }
    let long = (BLOCK_BYTES - SHORT_BLOCK_BYTES) as u64;
    assert_eq!(a.endpoint.counters().block_bytes, long);
    assert_eq!(b.endpoint.counters().block_bytes, 0);
    let payload = random.bytes(EAGER_BYTES);
    let mut fits = 0;
    while send(&mut a, 1, 0, &payload).is_ok() {
        fits += 1;
    }
    assert_eq!(
        fits,
        2 + 2,
        "one in a further block, since blocks came back"
    );
    let further = BLOCK_BYTES as u64;
    assert_eq!(a.endpoint.counters().block_bytes, long + further);
    while b.poll() {}
    assert!(b.log.packets.drain(..).all(|packet| packet.2 == payload));
}

#[test]
fn busy_then_writable() {
    let (mut a, mut b) = pair(Options::default());
    let mut sent = 0;
    while send(&mut a, 1, sent, b"x").is_ok() {
        sent += 1;
    }
    assert_eq!(sent, u64::from(RING_CELLS));
    assert!(!a.poll() && a.log.writable.is_empty());
    assert!(!a.endpoint.arm());
    while b.poll() {}
    assert!(a.fabric.signalled() != 0, "a sleeping sender is rung");
    assert!(a.endpoint.arm());
    a.endpoint.disarm();
    assert!(a.poll());
    assert_eq!(a.log.writable, [1]);
    send(&mut a, 1, 0, b"x").unwrap();
    assert_eq!(b.log.packets.len() as u64, sent);
    assert!(b.log.announced > 0);
}

#[test]
fn throttle_refuses_payload_only() {
    let (mut a, mut b) = pair(Options::default());
    // Before there is a connection, and after.
    b.endpoint.throttle(0, true);
    send(&mut a, 1, 0, b"connects").unwrap();
    b.poll();
    assert_eq!(send(&mut a, 1, 1, b"x"), Err(Refused::Throttled));
    a.endpoint
        .send(1, Header([2, 2]), b"control", false)
        .unwrap();
    b.endpoint.throttle(0, false);
    send(&mut a, 1, 3, b"x").unwrap();
    b.poll();
    assert_eq!(b.log.packets.len(), 3);
}

#[test]
fn a_watched_ring_needs_no_doorbell() {
    let (mut a, mut b) = pair(Options::default());
    for number in 0..1000 {
        send(&mut a, 1, number, b"ping").unwrap();
        b.poll();
        send(&mut b, 0, number, b"pong").unwrap();
        a.poll();
    }
    assert_eq!(a.endpoint.counters().notifications_sent, 1);
    assert_eq!(b.endpoint.counters().notifications_sent, 1);
}

#[test]
fn armed_is_rung_and_woken() {
    let (mut a, mut b) = pair(LONG_SLEEPS);
    send(&mut a, 1, 0, b"connects").unwrap();
    b.poll();
    let ticket = b.fabric.prepare_sleep();
    assert!(!b.endpoint.arm());
    send(&mut a, 1, 1, b"x").unwrap();
    let begin = Instant::now();
    b.fabric.sleep(ticket, None);
    assert!(begin.elapsed() < AWAKENED);
    b.endpoint.disarm();
    assert!(b.poll());
    assert_eq!(b.log.packets.len(), 2);
    // What came before arming is seen by arming.
    send(&mut a, 1, 2, b"x").unwrap();
    assert!(b.endpoint.arm());
    b.endpoint.disarm();
}

/// While one thread sleeps, another may poll, and so heat rings; they are rung all the same.
#[test]
fn heated_while_another_sleeps() {
    let (mut a, mut b) = pair(Options::default());
    b.fabric.prepare_sleep();
    assert!(!b.endpoint.arm());
    for number in 1..=5 {
        send(&mut a, 1, number, b"x").unwrap();
        assert!(b.fabric.signalled() != 0);
        b.poll();
        assert_eq!(b.log.packets.len() as u64, number);
    }
    b.endpoint.disarm();
    send(&mut a, 1, 6, b"x").unwrap();
    assert_eq!(b.fabric.signalled(), 0);
}

/// What another thread begins while one sleeps ends the sleep.
#[test]
fn beginnings_disturb_a_sleeper() {
    let (mut a, mut b) = pair(LONG_SLEEPS);
    let mut source = vec![1; 100_000];
    send(&mut a, 1, 0, b"connects").unwrap();
    b.poll();
    let ticket = a.fabric.prepare_sleep();
    assert!(!a.endpoint.arm());
    let memory = crate::world::memory(&mut source);
    let offer = a.endpoint.bulk_send(1, memory.clone(), 1).unwrap();
    let begin = Instant::now();
    a.fabric.sleep(ticket, None);
    assert!(begin.elapsed() < AWAKENED);
    a.endpoint.disarm();
    a.endpoint.send(1, Header([0; 2]), b"", false).unwrap();
    b.poll();
    let ticket = b.fabric.prepare_sleep();
    assert!(!b.endpoint.arm());
    let mut target = vec![0; 100_000];
    let target = crate::world::memory(&mut target);
    let receive =
        |endpoint: &mut ShmEndpoint| endpoint.bulk_receive(0, offer, 100_000, target.clone(), 1);
    b.linked(0, receive).unwrap();
    let begin = Instant::now();
    b.fabric.sleep(ticket, None);
    assert!(begin.elapsed() < AWAKENED);
}

/// With 64 idle peers connected, a turn looks at few rings.
#[test]
fn idle_peers_cost_nothing() {
    let mut all = world(65, Options::default());
    let (first, others) = all.split_first_mut().unwrap();
    for other in &mut *others {
        send(other, 0, 1, b"once").unwrap();
    }
    while first.log.packets.len() < 64 {
        first.poll();
    }
    for _ in 0..100_000 {
        first.poll();
    }
    assert_eq!(first.endpoint.counters().hot_rings, 1);
    // And each is heard again.
    for other in others {
        send(other, 0, 2, b"again").unwrap();
    }
    first.poll();
    assert_eq!(first.log.packets.len(), 128);
}

#[test]
fn a_connection_costs_its_ring() {
    let (mut a, mut b) = pair(Options::default());
    send(&mut a, 1, 1, &[0; 4000]).unwrap();
    b.poll();
    assert_eq!(a.endpoint.counters().link_bytes, 64 << 10);
    assert_eq!(b.endpoint.counters().link_bytes, 0);
    assert_eq!(
        (a.endpoint.counters().links, b.endpoint.counters().links),
        (1, 0)
    );
    assert_eq!(a.endpoint.counters().bulk_bytes, 0);
}

#[test]
fn lanes_are_apart() {
    let (a, mut b) = pair(Options::default());
    let mut lane = a.fabric.endpoint(1);
    let mut send = || lane.send(1, Header([7, 7]), b"other lane", false);
    assert_eq!(send(), Err(Refused::Connecting));
    a.fabric.connect(1);
    assert_eq!(send(), Err(Refused::Connecting), "it is there after a turn");
    let mut log = crate::world::Log::default();
    lane.poll(&mut log);
    assert_eq!(log.writable, [1]);
    lane.send(1, Header([7, 7]), b"other lane", false).unwrap();
    assert!(!b.poll());
    assert_eq!(b.fabric.signalled(), 2);
    let mut there = b.fabric.endpoint(1);
    there.poll(&mut b.log);
    assert_eq!(b.log.connect, [0]);
    b.fabric.connect(0);
    there.poll(&mut b.log);
    assert_eq!(b.log.packets.len(), 1);
    assert_eq!(b.fabric.signalled(), 0);
}

#[test]
fn what_was_taken_up_outlives_its_sender() {
    let (mut a, mut b) = pair(Options::default());
    assert_eq!(a.pending(), "");
    send(&mut a, 1, 1, b"x").unwrap();
    assert!(a.pending().contains("rank 1"));
    b.poll();
    assert_eq!(a.pending(), "");
    drop(a);
    assert_eq!(b.log.packets.len(), 1);
}

#[test]
fn a_peer_without_card_is_lost_once() {
    let cards = Arc::new(crate::world::Cards::default());
    let fabric = crate::Shm::new(0, &[0, 1, 2], 1, cards.clone()).unwrap();
    cards
        .0
        .lock()
        .unwrap()
        .insert(2, "shm1:1:1:1:nonsense".to_owned());
    let mut endpoint = fabric.endpoint(0);
    let mut log = crate::world::Log::default();
    let send = |endpoint: &mut ShmEndpoint, peer| endpoint.send(peer, Header([0; 2]), b"", false);
    for peer in [1, 2] {
        assert_eq!(send(&mut endpoint, peer), Err(Refused::Connecting));
        assert_eq!(send(&mut endpoint, peer), Err(Refused::Connecting));
        fabric.connect(peer);
    }
    endpoint.poll(&mut log);
    endpoint.poll(&mut log);
    for peer in [1, 2] {
        assert_eq!(send(&mut endpoint, peer), Err(Refused::Lost));
    }
    assert!(log.writable.is_empty());
    assert!(log.lost[&1].contains("rank 1") && log.lost[&1].contains("no card"));
    assert!(log.lost[&2].contains("nonsense"));
}

#[test]
fn both_sides_learn_that_there_is_no_memory_for_a_connection() {
    let (mut a, mut b) = pair(Options::default());
    // Room for more cannot be had where the descriptor is gone.
    a.fabric.shared().segment.close();
    assert_eq!(send(&mut a, 1, 1, b"x"), Err(Refused::Lost));
    a.poll();
    b.poll();
    assert!(a.log.lost[&1].contains("no memory for a connection to it"));
    assert!(b.log.lost[&0].contains("given up the connection to this process"));
    assert_eq!(send(&mut b, 0, 1, b"x"), Err(Refused::Lost));
}

/// Ranks that are anywhere in the job, in memory for as many as there are on the host.
#[test]
fn scattered_ranks_reach_each_other() {
    let ranks = [3, 17, 100_004];
    let mut all = host(ranks.to_vec(), Options::default());
    let base_bytes = |one: &Process| one.fabric.shared().shape.base_bytes();
    let run = world(3, Options::default());
    assert_eq!(base_bytes(&all[0]), base_bytes(&run[0]));
    for (from, &sender) in ranks.iter().enumerate() {
        for (to, &receiver) in ranks.iter().enumerate().filter(|&(to, _)| to != from) {
            for bytes in [8, 2000, EAGER_BYTES] {
                let payload = Random(bytes as u64).bytes(bytes);
                send(&mut all[from], receiver, 1, &payload).unwrap();
                assert!(all[to].poll());
                let (peer, _, got) = all[to].log.packets.pop_front().unwrap();
                assert!(peer == sender && got == payload);
            }
        }
    }
    // The one in the middle ends the last: those two lose each other, under their own names.
    all[1].endpoint.end(100_004, &Lost("by will".into()));
    for _ in 0..3 {
        for one in &mut all {
            one.poll();
        }
    }
    assert_eq!(all[1].log.lost[&100_004], "by will");
    assert!(all[2].log.lost[&17].contains("rank 17 is lost"));
    assert!(all[0].log.lost.is_empty());
    assert_eq!(send(&mut all[2], 17, 1, b"x"), Err(Refused::Lost));
    send(&mut all[2], 3, 1, b"x").unwrap();
    assert!(all[0].poll());
}

/// As many ranks of one host, first or last in a job of many hosts.
#[test]
fn a_host_far_back_in_the_job_costs_no_more() {
    for first in [0, 99_936] {
        let mut all = host((first..first + 64).collect(), Options::default());
        let bytes = all[0].fabric.shared().shape.base_bytes();
        assert!(bytes <= 8192, "{bytes}");
        send(&mut all[63], first, 1, b"x").unwrap();
        assert!(all[0].poll());
        assert_eq!(all[0].log.packets[0].0, first + 63);
    }
}

#[test]
fn a_list_of_ranks_without_the_own_is_refused() {
    let cards = Arc::new(crate::world::Cards::default());
    for (ranks, why) in [(&[1, 2][..], "rank 0 is not among"), (&[1, 0], "ascending")] {
        let made = crate::Shm::new(0, ranks, 1, cards.clone());
        let error = made.map(drop).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_rank_of_another_host_is_left_to_others() {
    for ranks in [&[4, 5][..], &[4, 9]] {
        let mut one = host(ranks.to_vec(), Options::default()).swap_remove(0);
        for stranger in [0, 6, 100_000] {
            assert!(!one.endpoint.reaches(stranger) && !one.fabric.reaches(stranger));
            let long = [0; EAGER_BYTES + 1];
            for payload in [&[][..], &[1; 100], &long] {
                let sent = one.endpoint.send(stranger, Header([0; 2]), payload, false);
                assert_eq!(sent, Err(Refused::Elsewhere));
            }
        }
        one.poll();
        assert!(one.log.lost.is_empty() && one.log.connect.is_empty());
    }
}

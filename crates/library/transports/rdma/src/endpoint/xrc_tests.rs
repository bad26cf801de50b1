//! Over XRC: the tests of other links again, and what is true of hosts.

use std::collections::VecDeque;

use weft_pools::{Account, Job, Pools};
use weft_transport::{Endpoint, Lost, Peer, Refused};

use super::{ending_tests, tests};
use crate::link::UNHEARD_BYTES;
use crate::options::Options;
use crate::world::{
    Process, Random, linked_pair, memory, offer_bytes, offer_from, options, over_xrc, turn,
    world_with_each,
};

#[test]
fn what_is_true_of_other_links_is_true_here() {
    let endings: [fn(); 3] = [
        ending_tests::lies_end_the_peer_that_tells_them,
        ending_tests::a_death_before_any_contact_is_found,
        ending_tests::a_neighbour_tells_of_a_death,
    ];
    for test in tests::OF_EVERY_LINK.into_iter().chain(endings) {
        over_xrc(test);
    }
    over_xrc(|| {
        let (a, b) = linked_pair();
        let counters = [a.fabric.counters(), b.fabric.counters()];
        assert!(
            counters.iter().all(|one| one.queue_pairs == 0),
            "{counters:?}"
        );
    });
}

/// Hosts of so many processes each, with those pools.
fn hosts(hosts: u32, ranks: u32, pools: &str) -> Vec<Process> {
    let of = |rank: u32| Options {
        pools: Some(pools.parse().unwrap()),
        first_of_host: Some(rank / ranks * ranks),
        ..options()
    };
    let all: Vec<Options> = (0..hosts * ranks).map(of).collect();
    world_with_each(&all).all
}

fn turn_all(all: &mut [Process], done: impl FnMut(&mut [&mut Process]) -> bool) {
    turn(&mut all.iter_mut().collect::<Vec<_>>(), done);
}

/// Has each of `from` send one packet to each of `to`.
fn connect(all: &mut [Process], pairs: &[(usize, usize)]) {
    for &(from, to) in pairs {
        let sent = |all: &mut [&mut Process]| all[from].send(to as Peer, 5, b"first").is_ok();
        turn_all(all, sent);
        turn_all(all, |all| !all[to].log.packets.is_empty());
        let (peer, _, payload) = all[to].log.packets.pop_front().unwrap();
        assert_eq!((peer as usize, &payload[..]), (from, &b"first"[..]));
    }
}

/// Queue pairs, receive queues and buffers of each host are those of its account, once all have talked to all of other hosts.
#[test]
fn a_job_has_what_its_account_says() {
    for pools in [
        "X,256,16:X,16512,8",
        "S,256,16:X,16512,8",
        "S,256,16:S,16512,8",
        "X,16512,8",
        "P,256,16,8,4:X,16512,8",
        "P,256,16,7,8:P,2k,4:P,16512,8",
        "P,256,16:S,2k,4:X,16512,8",
    ] {
        for (nodes, ranks) in [(2, 1), (2, 3), (3, 2)] {
            let mut all = hosts(nodes, ranks, pools);
            let everybody = 0..(nodes * ranks) as usize;
            let others =
                |&(from, to): &(usize, usize)| from / ranks as usize != to / ranks as usize;
            let pairs: Vec<(usize, usize)> = everybody
                .clone()
                .flat_map(|from| everybody.clone().map(move |to| (from, to)))
                .filter(others)
                .collect();
            connect(&mut all, &pairs);
            let parsed: Pools = pools.parse().unwrap();
            let job = Job {
                nodes: nodes.into(),
                ranks_a_node: ranks.into(),
                nodes_without_xrc: 0,
            };
            let account = Account::of_node(&parsed, &job, true);
            for node in all.chunks(ranks as usize) {
                let counters = node.iter().map(|process| process.fabric.counters());
                let mut counted = Account::default();
                for of in counters {
                    counted.connected_queue_pairs += of.queue_pairs;
                    counted.send_queue_pairs += of.send_queue_pairs;
                    // The adapter has one for each sender, to which all of the host refer.
                    counted.receive_queue_pairs += of.receive_queue_pairs;
                    counted.shared_receive_queues += of.shared_receive_queues;
                    counted.buffers += of.buffers;
                    counted.buffer_bytes += of.buffer_bytes;
                }
                counted.receive_queue_pairs /= u64::from(ranks);
                assert_eq!(counted, account, "{pools}, {nodes} x {ranks}");
            }
        }
    }
}

#[test]
fn both_sides_may_connect_at_once() {
    for _ in 0..10 {
        let mut all = hosts(2, 2, "X,256,16:X,16512,8");
        for (from, to) in [(0, 2), (2, 0), (1, 3), (0, 3), (3, 0)] {
            assert_eq!(all[from].send(to, 0, &[]), Err(Refused::Connecting));
        }
        turn_all(&mut all, |all| {
            let counts = [2, 1, 1, 1];
            (0..4).all(|rank| all[rank].log.writable.len() == counts[rank])
        });
        connect(&mut all, &[(0, 2), (2, 0), (1, 3), (0, 3), (3, 0)]);
        assert!(all.iter().all(|one| one.log.lost.is_empty()));
    }
}

/// The process that made the receive queue pair of its host, and the one whose file names the domain, may leave.
#[test]
fn who_made_a_queue_pair_may_leave() {
    let mut all = hosts(2, 3, "X,256,16:X,16512,8");
    connect(&mut all, &[(0, 3), (0, 4), (5, 0)]);
    let maker = all.remove(3);
    drop(maker);
    // The ranks behind it have moved: 4 and 5 are at 3 and 4.
    for number in 0..100 {
        for (to, at) in [(4, 3), (5, 4)] {
            turn_all(&mut all, |all| all[0].send(to, number, b"on").is_ok());
            turn_all(&mut all, |all| !all[at].log.packets.is_empty());
            all[at].log.packets.clear();
        }
    }
    assert!(all[0].log.lost.is_empty());
}

/// A process of a host dies while much is under way to it and to another one there, by one queue pair: that one gets all, once and in
/// order.
#[test]
fn who_dies_takes_nothing_of_its_neighbours_with_it() {
    for seed in 1..8 {
        let mut random = Random(seed);
        let mut all = hosts(2, 3, "X,128,16:X,16512,8");
        connect(&mut all, &[(0, 3), (0, 4), (0, 5)]);
        all[0].endpoint.expect(3, false).unwrap();
        let mut expected = [VecDeque::new(), VecDeque::new()];
        let mut victim = None;
        for number in 0..400 {
            let to = 3 + random.below(3) as Peer;
            let limit = [60, 3000][random.below(2) as usize];
            let bytes = random.below(limit) as usize;
            let payload = random.bytes(bytes);
            if all[0].send(to, number, &payload).is_ok() && to > 3 {
                expected[to as usize - 4].push_back((number, payload));
            }
            if number == 200 {
                let mut dies = all.remove(3);
                dies.endpoint.die();
                drop(dies);
                victim = Some(number);
            }
            if random.below(3) == 0 {
                let who = random.below(all.len() as u64) as usize;
                all[who].poll();
            }
        }
        assert!(victim.is_some());
        turn_all(&mut all, |all| !all[0].log.lost.is_empty());
        turn_all(&mut all, |all| {
            all[3].log.packets.len() >= expected[0].len()
                && all[4].log.packets.len() >= expected[1].len()
        });
        for (process, expected) in all[3..].iter_mut().zip(&expected) {
            let came = process.log.packets.drain(..);
            let came: VecDeque<(u64, Vec<u8>)> = came
                .map(|(_, header, payload)| (header.0[0], payload))
                .collect();
            assert!(came == *expected, "seed {seed}");
            assert!(process.log.lost.is_empty());
        }
        let lost: Vec<Peer> = all[0].log.lost.keys().copied().collect();
        assert_eq!(lost, [3], "{:?}", all[0].log.lost);
        assert!(all[0].log.lost[&3].contains("its process has ended"));
    }
}

/// What is read from a peer that is given up is read no more, and what is read from its neighbour comes whole.
#[test]
fn reads_of_a_peer_that_is_given_up_end() {
    let mut all = hosts(2, 2, "X,256,16:X,16512,8");
    connect(&mut all, &[(0, 2), (0, 3), (2, 0), (3, 0)]);
    let mut data = [vec![1; 3 << 20], vec![2; 3 << 20]];
    let mut got = [vec![0; 3 << 20], vec![0; 3 << 20]];
    for (place, data) in data.iter_mut().enumerate() {
        let sender = &mut all[2 + place].endpoint;
        let offer = sender.bulk_send(0, memory(data), 9).unwrap();
        let header = weft_transport::Header([0, 0]);
        sender.send(0, header, &offer_bytes(offer), false).unwrap();
    }
    turn_all(&mut all, |all| all[0].log.packets.len() == 2);
    for (from, _, payload) in all[0].log.packets.drain(..).collect::<Vec<_>>() {
        let place = from as usize - 2;
        let target = memory(&mut got[place]);
        all[0]
            .endpoint
            .bulk_receive(from, offer_from(&payload), 3 << 20, target, from.into())
            .unwrap();
    }
    all[0]
        .endpoint
        .end(2, &Lost("rank 2 is no longer wanted".into()));
    turn_all(&mut all, |all| {
        all[0].log.received == [3] && all[3].log.sent == [9]
    });
    let before = got[0].clone();
    for _ in 0..100 {
        for process in &mut all {
            process.poll();
        }
    }
    assert!(got[0] == before, "memory that the transport had to let go");
    assert!(got[1] == data[1]);
}

/// Whatever of the datagrams is lost, what was sent comes once.
#[test]
fn a_link_takes_a_request_and_an_answer() {
    let mut all = hosts(2, 1, "X,256,16:X,16512,8");
    let sent = |all: &[Process]| [0, 1].map(|rank| all[rank].fabric.counters().datagrams);
    assert_eq!(sent(&all), [0, 0]);
    assert_eq!(all[0].send(1, 0, &[]), Err(Refused::Connecting));
    turn_all(&mut all, |all| all[0].send(1, 0, &[]).is_ok());
    // A request is repeated while it is not answered.
    let [asked, answered] = sent(&all);
    assert!(
        asked >= 1 && (1..=asked).contains(&answered),
        "{asked} and {answered}"
    );
}

#[test]
fn datagrams_may_be_lost() {
    let mut lost = 0;
    for seed in 1..12 {
        let mut random = Random(seed);
        let mut all = hosts(2, 2, "X,256,16:X,16512,8");
        for to in [2, 3] {
            assert_eq!(all[0].send(to, 0, &[]), Err(Refused::Connecting));
        }
        assert_eq!(all[2].send(0, 0, &[]), Err(Refused::Connecting));
        let mut left = 6;
        turn_all(&mut all, |all| {
            if left > 0 && random.below(2) == 0 {
                let dropped = all[random.below(4) as usize].fabric.lose_datagrams();
                lost += dropped;
                left -= dropped.min(left);
            }
            all[0].log.writable.len() == 2 && all[2].log.writable.len() == 1
        });
        connect(&mut all, &[(0, 2), (0, 3), (2, 0)]);
        let counters = all[0].fabric.counters();
        assert_eq!(
            (counters.send_queue_pairs, counters.receive_queue_pairs),
            (1, 1)
        );
        assert!(all.iter().all(|one| one.log.lost.is_empty()));
    }
    assert!(lost > 10, "{lost}");
}

/// A process that cannot share its host's domain is reached as a host of its own; one without XRC by queue pairs of its own.
#[test]
fn who_shares_nothing_is_reached_all_the_same() {
    let of = |first| Options {
        first_of_host: first,
        ..options()
    };
    // Rank 2 says that its host's file is rank 0's, which has none: that is of another host.
    let all = [Some(1), Some(1), Some(0), None].map(of);
    let mut all = world_with_each(&all).all;
    let pairs = [
        (1, 2),
        (2, 1),
        (1, 3),
        (3, 1),
        (2, 3),
        (3, 2),
        (1, 0),
        (0, 1),
    ];
    connect(&mut all, &pairs);
    let counters: Vec<_> = all.iter().map(|one| one.fabric.counters()).collect();
    assert_eq!(
        counters[1].send_queue_pairs, 2,
        "to rank 2, and to its own host"
    );
    assert_eq!(counters[3].send_queue_pairs, 0);
    assert!(counters[3].queue_pairs > 0);
}

/// Who only sends is throttled all the same: the way back is made for it.
#[test]
fn who_only_sends_is_throttled() {
    let mut all = hosts(2, 1, "X,256,16:X,16512,8");
    connect(&mut all, &[(0, 1)]);
    all[1].endpoint.throttle(0, true);
    turn_all(&mut all, |all| {
        all[0].send(1, 0, &[]) == Err(Refused::Throttled)
    });
    all[1].endpoint.throttle(0, false);
    turn_all(&mut all, |all| all[0].send(1, 0, &[]).is_ok());
}

/// A peer that has said nothing may have no way yet to say that it is too much: it is sent so much and no more, until something comes from it.
#[test]
fn a_peer_that_says_nothing_is_not_flooded() {
    let mut all = hosts(2, 1, "X,256,16:X,16512,8");
    connect(&mut all, &[(0, 1)]);
    let payload = vec![1; 16_000];
    let mut sent = 0;
    while sent < 2 * UNHEARD_BYTES {
        match all[0].send(1, 0, &payload) {
            Ok(()) => sent += payload.len(),
            Err(Refused::Throttled) => break,
            Err(_) => all.iter_mut().for_each(|process| _ = process.poll()),
        }
    }
    assert!(sent.abs_diff(UNHEARD_BYTES) <= payload.len(), "{sent}");
    turn_all(&mut all, |all| all[1].send(0, 0, b"heard").is_ok());
    turn_all(&mut all, |all| all[0].send(1, 0, &payload).is_ok());
}

/// Credits go back by the queue pair of their pool, although the receiver has no way to the sender's host.
#[test]
fn who_is_only_sent_to_gives_credits_back() {
    let mut all = hosts(2, 1, "P,256,8:X,16512,8");
    connect(&mut all, &[(0, 1)]);
    for number in 0..100 {
        turn_all(&mut all, |all| all[0].send(1, number, b"short").is_ok());
    }
    turn_all(&mut all, |all| all[1].log.packets.len() == 100);
    let counters = all[1].fabric.counters();
    assert_eq!((counters.send_queue_pairs, counters.queue_pairs), (0, 1));
}

/// What a process has sent arrives although it leaves, and although a process of the same host has gone before.
#[test]
fn what_was_sent_before_leaving_arrives() {
    for _ in 0..5 {
        let mut all = hosts(2, 2, "X,256,16:X,16512,8");
        connect(&mut all, &[(0, 2), (0, 3)]);
        let dies = all.remove(2);
        drop(dies);
        let payload = vec![3; 9000];
        for number in 0..8 {
            turn_all(&mut all[..1], |all| {
                all[0].send(3, number, &payload).is_ok()
            });
        }
        let leaves = all.remove(0);
        let left = std::thread::spawn(move || drop(leaves));
        turn_all(&mut all, |all| all[1].log.packets.len() == 8);
        left.join().unwrap();
        let numbers = all[1].log.packets.iter().map(|packet| packet.1.0[0]);
        assert!(numbers.eq(0..8));
    }
}

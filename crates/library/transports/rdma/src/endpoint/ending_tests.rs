use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_contract::World;
use weft_credentials::Key;
use weft_transport::{BulkDescriptor, Endpoint, Fabric, Header, Lost, Refused};

use crate::Rdma;
use crate::card::Card;
use crate::options::Options;
use crate::presence::Entry;
use crate::world::{
    Log, Process, Random, linked_pair, memory, options, pair, turn, world_with, world_with_each,
};

const GONE: &str = "rank 1 is lost: its process has ended, or its host has not answered for 1 s";

/// Ends a process's connections as the kernel does when it dies.
fn die(mut process: Process) {
    process.endpoint.die();
}

#[test]
fn a_death_is_told_after_what_was_sent_before() {
    let (mut a, mut b) = linked_pair();
    a.endpoint.expect(1, false).unwrap();
    b.send(0, 5, b"last").unwrap();
    die(b);
    turn(&mut [&mut a], |all| !all[0].log.lost.is_empty());
    assert_eq!(a.log.packets.pop_front().unwrap().2, b"last");
    assert_eq!(a.log.lost[&1], GONE);
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Lost));
}

#[test]
fn all_lanes_lose_a_peer() {
    let (mut a, mut b) = linked_pair();
    let (mut second, mut log) = (a.fabric.endpoint(1), Log::default());
    b.endpoint.expect(0, false).unwrap();
    a.endpoint.end(1, &Lost("rank 1 sends nonsense".into()));
    a.poll();
    second.poll(&mut log);
    assert_eq!(a.log.lost[&1], "rank 1 sends nonsense");
    assert_eq!(log.lost[&1], "rank 1 sends nonsense");
    assert_eq!(
        second.send(1, Header([0, 0]), &[], true),
        Err(Refused::Lost)
    );
    turn(&mut [&mut b], |all| !all[0].log.lost.is_empty());
    assert!(
        b.log.lost[&0].contains("its process has ended"),
        "{}",
        b.log.lost[&0]
    );
    // It is not taken back.
    assert_eq!(b.send(0, 0, &[]), Err(Refused::Lost));
}

#[test]
pub(super) fn lies_end_the_peer_that_tells_them() {
    let descriptors: [[u64; 4]; 5] = [
        [1, 99, 0, 0],
        [1, 100, 101, 0],
        [1, 100, 0, 2],
        [u64::MAX, 1 << 40, 1 << 39, 1],
        [0, 100, u64::MAX, 0],
    ];
    for words in descriptors {
        let (_a, mut b) = linked_pair();
        let mut got = vec![0; 100];
        let descriptor = BulkDescriptor(words);
        let taken = b
            .endpoint
            .bulk_receive(0, descriptor, 100, memory(&mut got), 1);
        assert_eq!(taken, Err(Refused::Lost), "{words:?}");
        b.poll();
        assert!(
            b.log.lost[&0].contains("it sent a descriptor"),
            "{}",
            b.log.lost[&0]
        );
    }
}

/// What a card says of a process that has ended.
pub(super) fn ended() -> Entry {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    Entry {
        process: child.id(),
        ..Entry::own().unwrap()
    }
}

/// Has a process die before anybody has talked to it.
pub(super) fn dies_unknown(world: &mut World<Rdma>, rank: u32) {
    drop(world.all.remove(rank as usize));
    let mut cards = world.cards.0.lock().unwrap();
    let card = Card::parse(&cards[&rank]).unwrap();
    let card = Card {
        entry: Some(ended()),
        ..card
    };
    cards.insert(rank, card.to_string());
}

/// A process that died before any contact is lost to one that sends to it, and to one that waits for it; one that computes is not.
#[test]
pub(super) fn a_death_before_any_contact_is_found() {
    for waits in [false, true] {
        let mut world = world_with(3, &options());
        dies_unknown(&mut world, 1);
        let (a, computes) = (&mut world.all[0], 2);
        let asks = match waits {
            true => a.try_to(1, |endpoint| endpoint.expect(1, false)),
            false => a.send(1, 0, &[]),
        };
        assert_eq!(asks, Err(Refused::Connecting));
        assert_eq!(a.send(computes, 0, &[]), Err(Refused::Connecting));
        let begin = Instant::now();
        turn(&mut [a], |all| !all[0].log.lost.is_empty());
        let a = &mut world.all[0];
        assert_eq!(a.log.lost[&1], "rank 1 is lost: its process has ended");
        while begin.elapsed() < Duration::from_secs(4) {
            a.poll();
        }
        assert_eq!(a.log.lost.len(), 1, "{:?}", a.log.lost);
        assert_eq!(a.send(1, 0, &[]), Err(Refused::Lost));
    }
}

/// Who cannot ask the kernel after a process asks a process of its host.
#[test]
pub(super) fn a_neighbour_tells_of_a_death() {
    let of = |rank: u32| Options {
        is_elsewhere: rank == 0,
        host_of: Arc::new(|peer| if peer == 0 { vec![0] } else { vec![1, 2] }),
        ..options()
    };
    let mut world = world_with_each(&[0, 1, 2].map(of));
    dies_unknown(&mut world, 1);
    assert_eq!(world.all[0].send(1, 0, &[]), Err(Refused::Connecting));
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(4) {
        world.all[0].poll();
    }
    assert!(world.all[0].log.lost.is_empty(), "its neighbour computes");
    let mut both: Vec<&mut Process> = world.all.iter_mut().collect();
    turn(&mut both, |all| !all[0].log.lost.is_empty());
    let lost = &world.all[0].log.lost;
    assert_eq!(lost[&1], "rank 1 is lost: its process has ended");
}

/// Whatever of the handshake is lost, also where both ask at once, there is one link in the end.
#[test]
fn datagrams_may_be_lost() {
    let mut lost = 0;
    for seed in 1..20 {
        let mut random = Random(seed);
        let (mut a, mut b) = pair();
        assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
        if seed % 2 == 0 {
            assert_eq!(b.send(0, 0, &[]), Err(Refused::Connecting));
        }
        let mut left = 6;
        turn(&mut [&mut a, &mut b], |all| {
            if left > 0 && random.below(2) == 0 {
                let dropped = all[random.below(2) as usize].fabric.lose_datagrams();
                lost += dropped;
                left -= dropped.min(left);
            }
            !all[0].log.writable.is_empty()
        });
        a.send(1, 1, b"through").unwrap();
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        let links = [&a, &b].map(|one| one.fabric.counters().links);
        assert_eq!(links, [1, 1], "seed {seed}");
        assert!(a.log.lost.is_empty() && b.log.lost.is_empty());
    }
    assert!(lost > 20, "{lost}");
}

/// Who has heard a request repeats it, before it is answered and after: nothing is made for it that the one request would not have had.
#[test]
fn requests_that_are_repeated_hold_nothing() {
    let mut world = world_with(3, &options());
    let [a, b, c] = &mut world.all[..] else {
        unreachable!()
    };
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
    let heard = loop {
        a.poll();
        if let Some(request) = b.fabric.overhear().pop() {
            break request;
        }
    };
    let repeat = |b: &mut Process| {
        for _ in 0..300 {
            b.fabric.hear(&heard);
            b.poll();
        }
        (b.fabric.counters().links, b.fabric.counters().queue_pairs)
    };
    let before = repeat(b);
    assert_eq!(before.0, 1);
    turn(&mut [a, b], |all| all[0].log.writable == [1]);
    assert_eq!(repeat(b), before);
    assert_eq!(c.send(1, 0, &[]), Err(Refused::Connecting));
    turn(&mut [b, c], |all| all[1].log.writable == [1]);
    a.send(1, 1, b"through").unwrap();
    turn(&mut [a, b], |all| !all[1].log.packets.is_empty());
    assert!(b.log.lost.is_empty(), "{:?}", b.log.lost);
}

/// A process of another job, and one that does not know the key, are told nothing and get nothing.
#[test]
fn strangers_are_not_answered() {
    let (_, mut b) = pair();
    let other_job = Options {
        job: "other".to_owned(),
        ..options()
    };
    let card = Card::parse(&b.fabric.card()).unwrap();
    let without_key = Card {
        key: Key::new([1; 16]),
        ..card.clone()
    };
    for (options, card) in [(other_job, card), (options(), without_key)] {
        let world = world_with(2, &options);
        world.cards.0.lock().unwrap().insert(1, card.to_string());
        let mut stranger = world.all.into_iter().next().unwrap();
        assert_eq!(stranger.send(1, 0, &[]), Err(Refused::Connecting));
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(100) {
            stranger.poll();
            b.poll();
        }
        assert!(stranger.log.writable.is_empty() && stranger.fabric.pending() == 1);
        assert_eq!((b.fabric.counters().lanes, b.fabric.pending()), (0, 0));
    }
}

#[test]
fn frames_that_are_none_end_the_peer_that_sends_them() {
    use crate::frame::FrameKind;
    let cases = [
        (FrameKind::Taken, [77, 0], "the end of a transfer"),
        (FrameKind::Stream, [1, 1 << 40], "a wish for data"),
        (FrameKind::Data, [5, 0], "data that nobody has asked for"),
        (FrameKind::Packets, [5, 0], "a frame of the wrong length"),
    ];
    for (kind, words, what) in cases {
        let (mut a, mut b) = linked_pair();
        a.endpoint.say(1, kind, words);
        turn(&mut [&mut a, &mut b], |all| !all[1].log.lost.is_empty());
        let why = &b.log.lost[&0];
        assert!(
            why.starts_with("rank 0 is lost: it sent ") && why.contains(what),
            "{why}"
        );
    }
}

/// A descriptor that leads to memory which its sender has not given: the adapter finds out.
#[test]
fn memory_that_is_not_given_is_not_read() {
    let (mut a, mut b) = linked_pair();
    let (mut data, mut got) = (vec![1; 100_000], vec![0; 100_000]);
    let mut offer = a.endpoint.bulk_send(1, memory(&mut data), 1).unwrap();
    offer.0[1] += 1;
    let taken = b
        .endpoint
        .bulk_receive(0, offer, 100_000, memory(&mut got), 2);
    assert_eq!(taken, Ok(()));
    turn(&mut [&mut a, &mut b], |all| !all[1].log.lost.is_empty());
    let why = &b.log.lost[&0];
    assert!(why.contains("does not give the memory"), "{why}");
    assert!(b.log.received.is_empty() && got.iter().all(|&byte| byte == 0));
}

#[test]
fn the_descriptor_wakes_a_sleeper() {
    let (mut a, mut b) = linked_pair();
    while b.poll() {}
    let sleeps = |b: &mut Process, wake: &mut dyn FnMut(&Process)| {
        while b.poll() {}
        let ticket = b.fabric.prepare_sleep();
        assert!(!b.endpoint.arm(), "nothing is there yet");
        wake(b);
        let begin = Instant::now();
        b.fabric.sleep(ticket, Some(200));
        b.endpoint.disarm();
        begin.elapsed()
    };
    // A frame, another thread of the process, and a peer that asks for a link, each end it; nothing else does.
    assert!(sleeps(&mut b, &mut |_| ()) >= Duration::from_millis(190));
    sleeps(&mut b, &mut |_| a.send(1, 0, b"wakes").unwrap());
    assert_eq!(b.fabric.signalled() & 1, 1);
    turn(&mut [&mut b], |all| !all[0].log.packets.is_empty());
    sleeps(&mut b, &mut |b| b.fabric.wake());
    let mut second = a.fabric.endpoint(1);
    let mut ask = |_: &Process| {
        assert_eq!(
            second.send(1, Header([0; 2]), &[], false),
            Err(Refused::Connecting)
        );
        a.fabric.connect(1);
    };
    sleeps(&mut b, &mut ask);
    assert_ne!(b.fabric.signalled() >> 2, 0, "somebody asks for a link");
}

//! Ending a peer: at once on this lane, in the next turn on the others, and at the peer's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use weft_transport::{BulkDescriptor, Directory, Endpoint, Fabric, Header, Lost, Peer, Refused};

use crate::endpoint::ShmEndpoint;
use crate::fabric::Shm;
use crate::layout::LINK_BYTES;
use crate::segment::PAGE;
use crate::shared::Options;
use crate::world::{Cards, Log, Process, Random, memory, offer_bytes, offer_from, pair, world};

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

fn send(from: &mut Process, to: Peer, tag: u64) -> Result<(), Refused> {
    from.linked(to, |endpoint| {
        endpoint.send(to, Header([tag, 0]), b"text", false)
    })
}

fn begin_transfer(from: &mut Process, to: &mut Process, source: &mut [u8], target: &mut [u8]) {
    let (sender, receiver, bytes) = (from.rank, to.rank, source.len());
    let offer = from.linked(receiver, |endpoint| {
        endpoint.bulk_send(receiver, memory(source), 1)
    });
    let payload = offer_bytes(offer.unwrap());
    from.endpoint
        .send(receiver, Header([0; 2]), &payload, false)
        .unwrap();
    while to.log.packets.is_empty() {
        to.poll();
    }
    let offer = offer_from(&to.log.packets.pop_front().unwrap().2);
    to.linked(sender, |endpoint| {
        endpoint.bulk_receive(sender, offer, bytes, memory(target), 2)
    })
    .unwrap();
}

fn nonsense(peer: Peer) -> Lost {
    Lost(format!("rank {peer} sends nonsense").into())
}

#[test]
fn a_peer_is_ended_on_all_lanes_of_both_processes() {
    let mut all = world(3, Options::default());
    let lanes: Vec<ShmEndpoint> = all[..2].iter().map(|one| one.fabric.endpoint(1)).collect();
    let mut lanes: Vec<(ShmEndpoint, Log)> = lanes
        .into_iter()
        .map(|lane| (lane, Log::default()))
        .collect();
    for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 0)] {
        send(&mut all[from], to as Peer, 1).unwrap();
    }
    all.iter_mut().for_each(|one| while one.poll() {});
    // The first says so twice: one reason counts.
    all[0].endpoint.end(1, &nonsense(1));
    all[0].endpoint.end(1, &Lost("another".into()));
    assert_eq!(send(&mut all[0], 1, 2), Err(Refused::Lost));
    let descriptor = BulkDescriptor::default();
    let refused = all[0]
        .endpoint
        .bulk_receive(1, descriptor, 0, memory(&mut []), 1);
    assert_eq!(refused, Err(Refused::Lost));
    assert_eq!(all[0].endpoint.expect(1, false), Err(Refused::Lost));
    // What it sends meanwhile is not taken.
    all[0].log.packets.clear();
    send(&mut all[1], 0, 3).unwrap();
    for _ in 0..10 {
        for one in &mut all {
            one.poll();
        }
        for (lane, log) in &mut lanes {
            lane.poll(log);
        }
    }
    assert!(all[0].log.packets.is_empty());
    assert_eq!(all[0].log.lost[&1], "rank 1 sends nonsense");
    assert_eq!(lanes[0].1.lost[&1], "rank 1 sends nonsense");
    for lost in [&all[1].log.lost, &lanes[1].1.lost] {
        assert!(lost[&0].contains("rank 0") && lost[&0].contains("given up"));
    }
    assert_eq!(send(&mut all[1], 0, 4), Err(Refused::Lost));
    // A third process has nothing to do with it.
    assert!(all[2].log.lost.is_empty() && all[0].log.lost.len() == 1);
    send(&mut all[0], 2, 5).unwrap();
    assert!(all[2].poll());
}

#[test]
fn a_lane_made_later_is_told_too() {
    let (mut a, _b) = pair(Options::default());
    a.endpoint.end(1, &nonsense(1));
    let mut lane = a.fabric.endpoint(1);
    let mut log = Log::default();
    lane.poll(&mut log);
    assert_eq!(log.lost[&1], "rank 1 sends nonsense");
    assert_eq!(lane.send(1, Header([0; 2]), b"", false), Err(Refused::Lost));
    lane.poll(&mut log);
}

/// However far a transfer is, once one side has ended the other neither memory is touched, and nothing is reported.
#[test]
fn transfers_stop_where_they_are() {
    for (seed, options) in (1..60).zip([COPIES, RINGS].into_iter().cycle()) {
        let mut random = Random(seed);
        let (mut a, mut b) = pair(options);
        let bytes = 1 + random.below(3 << 20) as usize;
        let (mut source, mut target) = (vec![1; bytes], vec![0; bytes]);
        begin_transfer(&mut a, &mut b, &mut source, &mut target);
        for _ in 0..random.below(4) {
            match random.below(2) {
                0 => a.poll(),
                _ => b.poll(),
            };
        }
        let done = (a.log.sent.len(), b.log.received.len());
        match random.below(2) {
            0 => a.endpoint.end(1, &nonsense(1)),
            _ => b.endpoint.end(0, &nonsense(0)),
        }
        let ender = match a.endpoint.expect(1, false) {
            Err(Refused::Lost) => 0,
            _ => 1,
        };
        // The memory of the side that has ended is used for something else.
        match ender {
            0 => source.fill(2),
            _ => target.fill(3),
        }
        for _ in 0..30 {
            a.poll();
            b.poll();
        }
        assert_eq!((a.log.lost.len(), b.log.lost.len()), (1, 1));
        match ender {
            0 => assert_eq!(a.log.sent.len(), done.0),
            _ => assert!(b.log.received.len() == done.1 && target.iter().all(|&byte| byte == 3)),
        }
        // What was reported had come before the end.
        if !b.log.received.is_empty() && ender == 0 {
            assert!(target.iter().all(|&byte| byte == 1));
        }
        assert_eq!(a.pending() + &b.pending(), "");
    }
}

/// A sender's memory may be anything once it has given the connection up, which its receiver may not have noticed.
#[test]
fn what_is_copied_from_a_sender_that_has_ended_is_not_received() {
    let (mut a, mut b) = pair(COPIES);
    // More than one call of the kernel copies.
    let (mut source, mut target) = (vec![1; 3 << 20], vec![0; 3 << 20]);
    begin_transfer(&mut a, &mut b, &mut source, &mut target);
    a.endpoint.end(1, &nonsense(1));
    source.fill(2);
    b.fabric.shared().base.take_notifiers(0, |_| ());
    for _ in 0..20 {
        b.poll();
    }
    assert!(b.log.received.is_empty());
    assert!(b.log.lost[&0].contains("given up"));
}

/// A peer that lives may go on using the rings that it has: they go to nobody else, and back to the system when it knows.
#[test]
fn rings_of_an_ended_peer_are_given_to_nobody() {
    let mut all = world(3, RINGS);
    let mut sources = vec![vec![1; 100_000]; 9];
    let mut places = Vec::new();
    for source in &mut sources {
        let offer = all[0].linked(1, |endpoint| endpoint.bulk_send(1, memory(source), 1));
        places.push(offer.unwrap().0[1]);
    }
    send(&mut all[0], 1, 0).unwrap();
    all[1].poll();
    let held = all[0].endpoint.counters().bulk_bytes;
    all[0].endpoint.end(1, &nonsense(1));
    let counters = all[0].endpoint.counters();
    assert_eq!(counters.quarantined_bytes, held + LINK_BYTES as u64);
    assert_eq!(counters.bulk_bytes, 0);
    let offer = all[0].linked(2, |endpoint| {
        endpoint.bulk_send(2, memory(&mut sources[0]), 2)
    });
    assert!(
        !places.contains(&offer.unwrap().0[1]),
        "a ring of two peers"
    );
    let mut wait_for = |rank: usize, quarantined: bool| {
        let begin = Instant::now();
        while (all[0].endpoint.counters().quarantined_bytes > 0) != quarantined {
            assert!(begin.elapsed().as_secs() < 20);
            all[0].endpoint.arm();
            all[0].endpoint.disarm();
            std::thread::sleep(Duration::from_millis(50));
        }
        all[rank].poll();
    };
    // Long after, the peer has still not looked.
    wait_for(0, true);
    std::thread::sleep(Duration::from_millis(300));
    wait_for(1, true);
    wait_for(0, false);
}

/// However many peers are lost, what waits for them to notice has a bound.
#[test]
fn quarantine_is_bounded() {
    let mut all = world(30, RINGS);
    let (first, others) = all.split_first_mut().unwrap();
    let mut source = vec![1; 100_000];
    for peer in 1..=others.len() as Peer {
        for cookie in 0..7 {
            let offer = first.linked(peer, |endpoint| {
                endpoint.bulk_send(peer, memory(&mut source), cookie)
            });
            offer.unwrap();
        }
        first.endpoint.end(peer, &nonsense(peer));
        assert!(
            first.endpoint.counters().quarantined_bytes
                < 64 * (PAGE as u64 + crate::bulk::RING_BYTES as u64) + 1
        );
    }
}

/// Cards, and how often they were asked for.
struct Counting {
    cards: Cards,
    asked: AtomicU32,
}

impl Directory for Counting {
    fn card(&self, peer: Peer) -> Result<String, String> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.cards.card(peer)
    }
}

/// The launcher is asked, and memory mapped, when the engine connects, in no call of an endpoint.
#[test]
fn nothing_slow_is_done_by_an_endpoint() {
    let directory = Arc::new(Counting {
        cards: Cards::default(),
        asked: AtomicU32::new(0),
    });
    let asked = || directory.asked.load(Ordering::SeqCst);
    let fabrics = [0, 1].map(|rank| {
        let fabric = Shm::new(rank, &[0, 1], 1, directory.clone()).unwrap();
        directory
            .cards
            .0
            .lock()
            .unwrap()
            .insert(rank, fabric.card());
        fabric
    });
    let [mut a, mut b] = [0, 1].map(|rank| fabrics[rank].endpoint(0));
    let [mut at_a, mut at_b] = [Log::default(), Log::default()];
    let packet = |endpoint: &mut ShmEndpoint| endpoint.send(1, Header([0; 2]), b"x", false);
    assert_eq!(packet(&mut a), Err(Refused::Connecting));
    assert_eq!(a.expect(1, false), Err(Refused::Connecting));
    let bulk = a.bulk_send(1, memory(&mut [1; 100]), 1);
    assert_eq!(bulk, Err(Refused::Connecting));
    a.poll(&mut at_a);
    assert!(at_a.writable.is_empty() && asked() == 0);
    fabrics[0].connect(1);
    assert_eq!(asked(), 1);
    a.poll(&mut at_a);
    assert_eq!(at_a.writable, [1]);
    packet(&mut a).unwrap();
    assert_eq!(a.expect(1, false), Ok(()));
    assert!(b.poll(&mut at_b));
    assert_eq!((at_b.connect.as_slice(), asked()), ([0].as_slice(), 1));
    let mut text = String::new();
    a.describe(&mut text).unwrap();
    assert!(
        text.contains("not yet taken up"),
        "the ring is mapped: {text}"
    );
    fabrics[1].connect(0);
    assert!(b.arm(), "a lane does not sleep over what was made for it");
    b.disarm();
    b.poll(&mut at_b);
    assert_eq!((at_b.packets.len(), asked()), (1, 2));
}

/// A thread that connects for one lane leaves no other waiting, and threads that connect at once make one link each.
#[test]
fn lanes_and_threads_connect_at_once() {
    let (a, mut b) = pair(Options::default());
    let fabric = &a.fabric;
    std::thread::scope(|scope| {
        for lane in 0..2 {
            scope.spawn(move || {
                let mut endpoint = fabric.endpoint(lane);
                let mut log = Log::default();
                let begin = Instant::now();
                while endpoint.send(1, Header([0; 2]), b"x", false) != Ok(()) {
                    assert!(begin.elapsed().as_secs() < 20);
                    fabric.connect(1);
                    endpoint.poll(&mut log);
                }
                assert_eq!(log.writable, [1]);
            });
        }
    });
    b.poll();
    assert_eq!(b.log.packets.len(), 1);
}

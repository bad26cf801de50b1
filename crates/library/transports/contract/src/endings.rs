//! How links begin, and what is told when they end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_transport::{Endpoint, Header, Lost, Refused};

use crate::process::{Cards, Process, Tested, linked_pair, pair, turn};
use crate::transfers::{memory, offer_bytes};

pub fn a_peer_without_a_card_is_lost<F: Tested>() {
    let cards = Arc::new(Cards::default());
    cards.put(2, "another: none".to_owned());
    let mut process = Process::new(F::tested(0, 3, cards));
    for peer in [1, 2] {
        assert_eq!(process.send(peer, 0, &[]), Err(Refused::Connecting));
        process.poll();
    }
    assert_eq!(process.log.lost[&1], "rank 1 is lost: it has no card");
    let why = &process.log.lost[&2];
    assert!(why.contains("its card is none of"), "{why}");
    assert!(why.ends_with(": another: none"), "{why}");
}

pub fn both_may_connect_at_once<F: Tested>() {
    for _ in 0..30 {
        let (mut a, mut b) = pair::<F>();
        assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
        assert_eq!(b.send(0, 0, &[]), Err(Refused::Connecting));
        turn(&mut [&mut a, &mut b], |all| {
            all.iter().all(|one| !one.log.writable.is_empty())
        });
        a.send(1, 1, b"from a").unwrap();
        b.send(0, 2, b"from b").unwrap();
        turn(&mut [&mut a, &mut b], |all| {
            all.iter().all(|one| !one.log.packets.is_empty())
        });
        turn(&mut [&mut a, &mut b], |all| {
            all.iter().all(|one| one.fabric.under_way() == 0)
        });
        for (process, peer) in [(&mut a, 1), (&mut b, 0)] {
            assert_eq!(
                (&process.log.writable[..], process.log.packets.len()),
                (&[peer][..], 1)
            );
            assert_eq!(process.fabric.links(), 1);
            assert!(process.log.lost.is_empty());
        }
    }
}

/// A process that computes answers nobody; whoever connects to it goes on, and what it sends waits.
pub fn connecting_waits_for_no_process<F: Tested>() {
    let (mut a, mut b) = pair::<F>();
    let begin = Instant::now();
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
    assert!(begin.elapsed() < Duration::from_secs(20));
    for _ in 0..100 {
        a.poll();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(a.log.writable.is_empty() && a.log.lost.is_empty());
    assert!(a.pending().contains("to rank 1 is being made"));
    turn(&mut [&mut a, &mut b], |all| all[0].log.writable == [1]);
}

pub fn a_goodbye_is_no_death<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    b.send(0, 5, b"last").unwrap();
    drop(b);
    for _ in 0..200 {
        a.poll();
    }
    assert_eq!(a.log.packets.pop_front().unwrap().2, b"last");
    assert!(a.log.lost.is_empty());
    // To whoever wants something of it, it is lost.
    assert_eq!(a.endpoint.expect(1, false), Err(Refused::Lost));
    a.poll();
    assert_eq!(a.log.lost[&1], "rank 1 is lost: its process has finished");
}

pub fn what_a_lost_peer_has_to_do_with_is_not_told<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    let (mut data, mut got) = (vec![1; 3 << 20], vec![0; 3 << 20]);
    let offer = a.endpoint.bulk_send(1, memory(&mut data), 9).unwrap();
    a.endpoint
        .send(1, Header([0, 0]), &offer_bytes(offer), false)
        .unwrap();
    turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
    let target = memory(&mut got);
    b.endpoint
        .bulk_receive(0, offer, data.len(), target, 4)
        .unwrap();
    a.endpoint.expect(1, false).unwrap();
    b.endpoint
        .end(0, &Lost("rank 0 is no longer wanted".into()));
    turn(&mut [&mut a, &mut b], |all| {
        all.iter().all(|one| !one.log.lost.is_empty())
    });
    let before = got.clone();
    for _ in 0..100 {
        a.poll();
        b.poll();
    }
    assert!(a.log.sent.is_empty() && b.log.received.is_empty());
    assert!(got == before, "memory that the transport had to let go");
}

//! Memory of rings: how much they have, and when.

use super::RING_BYTES;
use super::tests::{CHOSEN, RING_ONLY, accept, finish, offer, send_all};
use crate::segment::PAGE;
use crate::world::{Process, Random, memory, pair};
use weft_transport::{Endpoint, Header};

#[test]
fn rings_have_memory_for_two_of_what_comes() {
    let (mut a, mut b) = pair(RING_ONLY);
    let held = |a: &Process| a.endpoint.counters().bulk_bytes as usize;
    send_all(&mut a, &mut b, 10, 20_000);
    assert_eq!(held(&a), PAGE + 40_960);
    send_all(&mut a, &mut b, 10, 120_000);
    assert_eq!(held(&a), PAGE + 241_664);
    send_all(&mut a, &mut b, 10, 20_000);
    assert_eq!(held(&a), PAGE + 241_664);
    send_all(&mut a, &mut b, 1, 3 << 20);
    assert_eq!(held(&a), PAGE + RING_BYTES);
}

#[test]
fn the_first_long_messages_grow_no_ring() {
    for bytes in [30_000, 300_000] {
        let (mut a, mut b) = pair(CHOSEN);
        send_all(&mut a, &mut b, 8, bytes);
        assert_eq!(b.endpoint.counters().copy_transfers, 8);
        assert_eq!(a.endpoint.counters().bulk_bytes, 0);
        send_all(&mut a, &mut b, 12, bytes);
        assert!(a.endpoint.counters().ring_transfers > 0, "{bytes}");
    }
}

#[test]
fn a_retracted_offer_frees_its_ring() {
    let (mut a, mut b) = pair(RING_ONLY);
    let mut source = Random(9).bytes(100_000);
    for cookie in 0..50 {
        a.linked(1, |endpoint| {
            endpoint.bulk_send(1, memory(&mut source), cookie)
        })
        .unwrap();
        a.poll();
        a.endpoint.bulk_cancel(1, cookie);
    }
    a.endpoint.send(1, Header([0; 2]), b"", false).unwrap();
    b.poll();
    b.log.packets.clear();
    assert_eq!(a.pending(), "");
    assert!(a.endpoint.counters().bulk_bytes <= (PAGE + RING_BYTES) as u64);
    let mut target = vec![0; 100_000];
    offer(&mut a, memory(&mut source), 77);
    accept(&mut b, 100_000, memory(&mut target));
    let sent = a.log.sent.len() + 1;
    finish(&mut a, &mut b, sent, 1);
    assert!(source == target);
}

/// Rings that were not used for a while cost nothing, and serve again.
#[test]
fn idle_rings_are_given_back() {
    let (mut a, mut b) = pair(RING_ONLY);
    for round in 0..2 {
        let mut source = Random(11 + round).bytes(2 << 20);
        let mut target = vec![0; 2 << 20];
        offer(&mut a, memory(&mut source), round);
        accept(&mut b, 2 << 20, memory(&mut target));
        finish(&mut a, &mut b, round as usize + 1, round as usize + 1);
        assert!(source == target);
        assert!(a.endpoint.counters().bulk_bytes > 0);
        let begin = std::time::Instant::now();
        while a.endpoint.counters().bulk_bytes > 0 {
            assert!(begin.elapsed().as_secs() < 20);
            a.endpoint.arm();
            a.endpoint.disarm();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

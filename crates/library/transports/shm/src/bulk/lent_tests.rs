//! Rings that receivers borrow to answer in.

use super::byte_ring::{RING_BYTES, RING_MAPPED};
use super::tests::{RING_ONLY, accept, finish, offer};
use crate::world::{Process, Random, memory, pair};
use weft_transport::{BulkDescriptor, Endpoint, Header};

const BYTES: usize = 700_000;

/// `bytes` from `from` to `to`, of which the first `wanted` are received.
fn transfer(from: &mut Process, to: &mut Process, bytes: usize, wanted: usize) {
    let mut source = Random(bytes as u64 + 1).bytes(bytes);
    let mut target = vec![0; wanted];
    offer(from, memory(&mut source), 1);
    accept(to, bytes, memory(&mut target));
    let (sent, received) = (from.log.sent.len() + 1, to.log.received.len() + 1);
    finish(from, to, sent, received);
    assert!(source[..wanted] == target[..], "{wanted} of {bytes}");
    assert_eq!(from.pending() + &to.pending(), "");
}

/// Two processes of which the second has just borrowed a ring of the first.
fn keeper() -> (Process, Process) {
    let (mut a, mut b) = pair(RING_ONLY);
    transfer(&mut b, &mut a, BYTES, BYTES);
    transfer(&mut a, &mut b, BYTES, BYTES);
    assert_eq!(b.endpoint.counters().borrowed_transfers, 0);
    (a, b)
}

#[test]
fn answers_go_through_the_ring_of_the_question() {
    let (mut a, mut b) = keeper();
    for round in 1..10 {
        let bytes = BYTES - 1000 * round;
        transfer(&mut b, &mut a, bytes, bytes);
        assert_eq!(b.endpoint.counters().borrowed_transfers, round as u64);
        transfer(&mut a, &mut b, bytes, bytes);
    }
    assert_eq!(a.endpoint.counters().borrowed_transfers, 0);
    for side in [&a, &b] {
        assert_eq!(side.endpoint.counters().bulk_bytes, RING_MAPPED as u64);
    }
}

/// There may be no memory behind it.
#[test]
fn what_is_longer_than_the_question_goes_through_an_own_ring() {
    let (mut a, mut b) = keeper();
    transfer(&mut b, &mut a, BYTES + 1, BYTES + 1);
    assert_eq!(b.endpoint.counters().borrowed_transfers, 0);
    // A whole ring has memory everywhere.
    transfer(&mut a, &mut b, RING_BYTES, RING_BYTES);
    transfer(&mut b, &mut a, 3 * RING_BYTES, 3 * RING_BYTES);
    assert_eq!(b.endpoint.counters().borrowed_transfers, 1);
}

#[test]
fn one_way_nothing_is_borrowed() {
    let (mut a, mut b) = pair(RING_ONLY);
    for _ in 0..20 {
        transfer(&mut a, &mut b, BYTES, BYTES);
    }
    transfer(&mut b, &mut a, BYTES, BYTES);
    assert_eq!(b.endpoint.counters().borrowed_transfers, 0);
    assert_eq!(a.endpoint.counters().bulk_bytes, RING_MAPPED as u64);
}

#[test]
fn a_short_target_empties_its_own_ring() {
    let (mut a, mut b) = keeper();
    for (round, wanted) in [0, 1, BYTES / 2, BYTES - 1].into_iter().enumerate() {
        transfer(&mut b, &mut a, BYTES, wanted);
        assert_eq!(b.endpoint.counters().borrowed_transfers, round as u64 + 1);
        transfer(&mut a, &mut b, BYTES, BYTES);
    }
    assert_eq!(a.endpoint.counters().bulk_bytes, RING_MAPPED as u64);
}

/// What is taken back before it was accepted leaves the ring borrowed, however far it was filled.
#[test]
fn a_cancelled_answer_keeps_its_ring() {
    let (mut a, mut b) = keeper();
    for (round, bytes) in [BYTES, 1000].into_iter().enumerate() {
        let mut source = vec![1; bytes];
        b.endpoint.bulk_send(0, memory(&mut source), 9).unwrap();
        b.poll();
        b.endpoint.bulk_cancel(0, 9);
        b.poll();
        assert_eq!(b.endpoint.counters().borrowed_transfers, round as u64 + 1);
    }
    transfer(&mut b, &mut a, BYTES, BYTES);
    assert_eq!(b.endpoint.counters().borrowed_transfers, 3);
}

#[test]
fn idle_rings_go_back() {
    let (mut a, mut b) = keeper();
    let begin = std::time::Instant::now();
    while a.endpoint.counters().bulk_bytes + b.endpoint.counters().bulk_bytes > 0 {
        assert!(begin.elapsed().as_secs() < 20);
        for side in [&mut a, &mut b] {
            side.endpoint.arm();
            side.endpoint.disarm();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    transfer(&mut b, &mut a, BYTES, BYTES);
    assert_eq!(b.endpoint.counters().borrowed_transfers, 0);
    assert_eq!(a.endpoint.counters().bulk_bytes, 0);
}

/// A peer cannot send through a ring that it has not borrowed.
#[test]
fn what_was_not_borrowed_is_refused() {
    let (mut a, mut b) = pair(RING_ONLY);
    let bytes = 2 * RING_BYTES;
    let mut source = vec![1; bytes];
    let BulkDescriptor([_, offset, begin, _]) = a
        .linked(1, |endpoint| endpoint.bulk_send(1, memory(&mut source), 1))
        .unwrap();
    let mut target = vec![0; bytes];
    b.linked(0, |endpoint| endpoint.send(0, Header([0; 2]), b"", false))
        .unwrap();
    a.poll();
    let back = BulkDescriptor([3, offset, begin & u64::from(u32::MAX), 0]);
    let accepted = a
        .endpoint
        .bulk_receive(1, back, bytes, memory(&mut target), 2);
    assert!(accepted.is_err(), "it is still being filled");
    a.poll();
    assert!(a.log.lost[&1].contains("did not borrow"));
}

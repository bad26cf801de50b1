//! Rings that are full before their receivers are told.

use super::byte_ring::RING_BYTES;
use super::control::Descriptor;
use super::tests::{RING_ONLY, accept, finish, offer};
use crate::world::{Process, Random, memory, offer_from, pair};
use weft_transport::{BulkDescriptor, Endpoint};

/// Both send each other `bytes` at the same time. Whether each one's message was in the ring when it was offered.
fn exchange(a: &mut Process, b: &mut Process, bytes: usize) -> [bool; 2] {
    let mut sources = [1, 2].map(|seed| Random(seed).bytes(bytes));
    let mut targets = [vec![0; bytes], vec![0; bytes]];
    let done = [a.log.sent.len() + 1, b.log.sent.len() + 1];
    let received = [a.log.received.len() + 1, b.log.received.len() + 1];
    offer(a, memory(&mut sources[0]), 1);
    offer(b, memory(&mut sources[1]), 2);
    let filled = [&mut *b, &mut *a].map(|at| {
        while at.log.packets.is_empty() {
            at.poll();
        }
        let (_, _, payload) = at.log.packets.front().unwrap();
        let (offered, _) = Descriptor::parse(offer_from(payload)).unwrap();
        offered.is_filled()
    });
    accept(a, bytes, memory(&mut targets[0]));
    accept(b, bytes, memory(&mut targets[1]));
    finish(a, b, done[0], received[1]);
    finish(b, a, done[1], received[0]);
    assert!(
        sources[0] == targets[1] && sources[1] == targets[0],
        "{bytes}"
    );
    assert_eq!(a.pending() + &b.pending(), "");
    filled
}

#[test]
fn what_both_send_at_once_is_in_the_ring_before_it_is_offered() {
    let (mut a, mut b) = pair(RING_ONLY);
    assert_eq!(exchange(&mut a, &mut b, 40_000), [false; 2]);
    for bytes in [40_000, 30_000, 64 << 10, 20_000, 65_001] {
        let is_short = bytes <= 64 << 10;
        assert_eq!(exchange(&mut a, &mut b, bytes), [is_short; 2], "{bytes}");
    }
    // Rings are used again as ever.
    for round in 0..100 {
        let bytes = 17_000 + 601 * round;
        exchange(&mut a, &mut b, bytes);
    }
}

/// The source is free at once, so an offer that is cancelled then is not reported as sent.
#[test]
fn a_filled_offer_can_be_cancelled() {
    let (mut a, mut b) = pair(RING_ONLY);
    exchange(&mut a, &mut b, 40_000);
    let sent = a.log.sent.len();
    let mut source = vec![1; 40_000];
    a.endpoint.bulk_send(1, memory(&mut source), 77).unwrap();
    a.endpoint.bulk_cancel(1, 77);
    for _ in 0..100 {
        a.poll();
    }
    assert_eq!(a.log.sent.len(), sent);
    for _ in 0..20 {
        exchange(&mut a, &mut b, 40_000);
    }
}

#[test]
fn more_than_a_ring_is_not_believed_to_lie_in_it() {
    let (mut a, mut b) = pair(RING_ONLY);
    exchange(&mut a, &mut b, 40_000);
    let mut source = vec![1; 40_000];
    let BulkDescriptor(words) = a.endpoint.bulk_send(1, memory(&mut source), 3).unwrap();
    let bytes = RING_BYTES + 1;
    let mut target = vec![0; bytes];
    let accepted = b
        .endpoint
        .bulk_receive(0, BulkDescriptor(words), bytes, memory(&mut target), 4);
    assert!(accepted.is_err());
    b.poll();
    assert!(b.log.lost[&0].contains("more than it can"));
}

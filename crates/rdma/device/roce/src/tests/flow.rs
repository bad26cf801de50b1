//! How much is in flight, in which order, and how often it is acknowledged.

use super::pair::{ADDRESSES, Pair, QPNS, Settings, local, pattern, read, send, work, write};
use super::side::{KEY, SHARED};
use crate::host::*;
use crate::packet::{Header, Opcode, PacketOperation, Route, Service, Syndrome, View};
use crate::{Batch, Injection, Operation, RequesterConfig, ResponderConfig, UDP_PORT, Work};

const SECOND: u64 = 1_000_000_000;

fn with_rnr(rnr_retry: u8, min_rnr_timer: u8) -> Settings {
    let base = Settings::default();
    Settings {
        requester: RequesterConfig {
            rnr_retry,
            ..base.requester
        },
        responder: ResponderConfig {
            min_rnr_timer,
            ..base.responder
        },
        ..base
    }
}

#[test]
fn receiver_not_ready_is_retried_as_often_as_agreed() {
    for rnr_retry in [0, 1, 6] {
        // Timer 16 is 2.56 ms.
        let mut pair = Pair::new(with_rnr(rnr_retry, 16));
        pair.post(0, work(0, write(SHARED), local(0, 1000)));
        pair.post(0, work(1, send(), local(0, 1000)));
        let start = pair.now;
        pair.run(SECOND);
        let done: Vec<_> = pair.sides[0].sends_done.iter().map(|d| d.status).collect();
        assert_eq!(done, [Status::Success, Status::RnrRetryExceeded]);
        assert_eq!(pair.now - start, u64::from(rnr_retry) * 2_560_000);
        assert!(pair.sides[1].faults.is_empty());
    }
}

#[test]
fn receiver_not_ready_without_end() {
    let mut pair = Pair::new(with_rnr(7, 1));
    pattern(&mut pair.sides[0], 0, 3000, 9);
    pair.post(0, work(0, send(), local(0, 3000)));
    pair.run(SECOND);
    assert!(pair.sides[0].sends_done.is_empty());
    pair.sides[1].post_receive(5, 100, 3000);
    pair.run(1_000_000);
    assert_eq!(pair.sides[0].sends_done.len(), 1);
    assert_eq!(pair.sides[1].bytes(100, 3000), pair.sides[0].bytes(0, 3000));
}

#[test]
fn immediate_data_waits_for_a_receive_request_behind_its_payload() {
    let mut pair = Pair::new(with_rnr(7, 1));
    pattern(&mut pair.sides[0], 0, 1000, 9);
    let operation = Operation::Write {
        address: SHARED,
        rkey: KEY,
        immediate: Some(77),
    };
    pair.post(0, work(0, operation, local(0, 1000)));
    pair.run(10_000_000);
    assert!(pair.sides[0].sends_done.is_empty());
    // All but the last packet is there; 768 bytes are three packets.
    assert_eq!(
        pair.sides[1].bytes(SHARED, 768),
        pair.sides[0].bytes(0, 768)
    );
    assert_eq!(pair.sides[1].bytes(SHARED + 768, 1), [0xbb]);
    pair.sides[1].post_receive(5, 0, 0);
    pair.run(1_000_000);
    let (_, done) = pair.sides[1].receives_done[0];
    assert_eq!((done.bytes, done.immediate), (1000, Immediate::Data(77)));
    assert_eq!(
        pair.sides[1].bytes(SHARED, 1000),
        pair.sides[0].bytes(0, 1000)
    );
}

#[test]
fn a_fence_waits_for_reads() {
    // Without a fence a WRITE may be executed before the memory of a READ before it is looked at.
    let mut pair = Pair::new(Settings::default());
    pattern(&mut pair.sides[1], SHARED, 3_000, 1);
    pattern(&mut pair.sides[0], 500_000, 3_000, 2);
    let expected = pair.sides[1].bytes(SHARED, 3_000).to_vec();
    pair.post(0, work(0, read(SHARED), local(0, 3_000)));
    let fenced = Work {
        fence: true,
        ..work(1, write(SHARED), local(500_000, 3_000))
    };
    pair.post(0, fenced);
    pair.run(SECOND);
    assert_eq!(pair.sides[0].sends_done.len(), 2);
    assert_eq!(pair.sides[0].bytes(0, 3_000), expected);
    assert_eq!(
        pair.sides[1].bytes(SHARED, 3_000),
        pair.sides[0].bytes(500_000, 3_000)
    );
}

#[test]
fn the_window_bounds_what_one_burst_brings() {
    let mut pair = Pair::new(Settings::default());
    pair.post(0, work(0, write(SHARED), local(0, 900_000)));
    pair.post(0, work(1, read(SHARED), local(0, 900_000)));
    pair.run(SECOND);
    assert_eq!(pair.sides[0].sends_done.len(), 2);
    assert!(pair.largest_burst <= 256, "{}", pair.largest_burst);
    assert!(pair.largest_burst > 32, "the window grows");
}

#[test]
fn a_request_asks_for_as_much_of_a_read_as_the_window_suggests() {
    let mut pair = Pair::new(Settings::default());
    let packets = 512;
    let bytes = packets * Settings::default().mtu;
    // The window has 32 packets first, 256 later.
    for (token, chunk) in [(0, 32), (1, 64)] {
        let before = pair.sent[0];
        pair.post(0, work(token, read(SHARED), local(0, bytes)));
        pair.run(SECOND);
        assert_eq!(pair.sides[0].sends_done.len(), token as usize + 1);
        assert_eq!(pair.sent[0] - before, (packets / chunk) as usize);
    }
}

#[test]
fn acknowledgements_are_coalesced() {
    let mut pair = Pair::new(Settings::default());
    for token in 0..1000 {
        pair.post(0, work(token, write(SHARED), local(0, 8)));
    }
    pair.run(SECOND);
    assert_eq!(pair.sides[0].sends_done.len(), 1000);
    assert_eq!(pair.sent[0], 1000);
    assert!(pair.sent[1] < 50, "{} acknowledgements", pair.sent[1]);
}

#[test]
fn what_arrived_is_not_sent_again_when_its_acknowledgement_was_lost() {
    let mut pair = Pair::new(Settings::default());
    for token in 0..20 {
        pair.post(0, work(token, write(SHARED), local(0, 8)));
    }
    // The requests get through, the answers do not.
    while pair.turn_one_way() {}
    pair.run(SECOND);
    assert_eq!(pair.sides[0].sends_done.len(), 20);
    assert!(pair.sent[0] <= 24, "{} packets", pair.sent[0]);
}

#[test]
fn atomics_are_executed_once_however_often_they_arrive() {
    for seed in 0..20 {
        let mut pair = Pair::new(Settings {
            injection: Injection {
                loss: 0.3,
                duplicate: 0.3,
                reorder: 0.3,
                seed,
                ..Injection::default()
            },
            ..Settings::default()
        });
        pair.sides[1].memory[SHARED as usize..][..8].fill(0);
        for token in 0..30 {
            let operation = Operation::Atomic {
                address: SHARED,
                rkey: KEY,
                atomic: Atomic::FetchAdd { add: 1 },
            };
            pair.post(0, work(token, operation, local(token * 8, 8)));
        }
        pair.run(600 * SECOND);
        assert_eq!(pair.sides[1].bytes(SHARED, 8), 30u64.to_ne_bytes());
        for token in 0..30u64 {
            assert_eq!(pair.sides[0].bytes(token * 8, 8), token.to_ne_bytes());
        }
    }
}

#[test]
fn xrc_requests_name_their_shared_receive_queue() {
    let mut pair = Pair::new(Settings {
        service: Service::ExtendedReliable,
        ..Settings::default()
    });
    pair.sides[1].post_receive(5, 0, 100);
    let request = Work {
        xrc_srq: 0x02_0042,
        ..work(0, send(), local(0, 100))
    };
    pair.post(0, request);
    pair.run(SECOND);
    assert_eq!(pair.sides[0].sends_done[0].status, Status::Success);
    assert_eq!(pair.sides[1].srq, Some(0x02_0042));
}

#[test]
fn xrc_requests_of_no_bytes_ask_for_their_shared_receive_queue() {
    for kind in [write(SHARED), read(SHARED)] {
        let mut pair = Pair::new(Settings {
            service: Service::ExtendedReliable,
            ..Settings::default()
        });
        pair.sides[1].missing = Some(7);
        for (token, xrc_srq) in [(0, 6), (1, 7)] {
            let request = Work {
                xrc_srq,
                ..work(token, kind, local(0, 0))
            };
            pair.post(0, request);
            pair.run(SECOND);
        }
        let ends = pair.sides[0].sends_done.iter().map(|done| done.status);
        let expected = [Status::Success, Status::RemoteInvalidRequest];
        assert_eq!(ends.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn attributes_can_be_changed_and_asked_for() {
    let mut pair = Pair::new(Settings::default());
    let [first, other] = Settings::default().psn;
    assert_eq!(pair.connections[0].next_psn(), Some(first));
    assert_eq!(pair.connections[0].expected_psn(), Some(other));
    pair.post(0, work(0, write(SHARED), local(0, 256 * 20)));
    pair.run(SECOND);
    let next = (first + 20) & 0xff_ffff;
    assert_eq!(pair.connections[0].next_psn(), Some(next));
    assert_eq!(pair.connections[1].expected_psn(), Some(next));
    pair.connections[1].responder_config().unwrap().write = false;
    pair.post(0, work(1, write(SHARED), local(0, 8)));
    pair.run(SECOND);
    let last = pair.sides[0].sends_done[1].status;
    assert_eq!(last, Status::RemoteInvalidRequest);
}

#[test]
fn a_sequence_error_behind_receiver_not_ready_costs_no_retry() {
    // Some responders tell of both: of the request that found no room, and of those sent behind it.
    let mut pair = Pair::new(with_rnr(7, 1));
    let [psn, _] = Settings::default().psn;
    let opcode = Opcode::new(Service::Reliable, PacketOperation::Acknowledge).unwrap();
    pair.post(0, work(0, send(), local(0, 1000)));
    for _ in 0..30 {
        let (connection, side) = (&mut pair.connections[0], &mut pair.sides[0]);
        let mut lost = Batch::new();
        connection.transmit(pair.now, &mut lost, side);
        assert!(!lost.is_empty());
        for syndrome in [Syndrome::ReceiverNotReady(1), Syndrome::SequenceError] {
            connection.transmit(pair.now, &mut lost, side);
            let mut header = Header::new(opcode, 0xffff, QPNS[0], psn);
            header.aeth.syndrome = syndrome.byte();
            let mut batch = Batch::new();
            batch.push_bare(
                &Route {
                    source: ADDRESSES[1],
                    destination: ADDRESSES[0],
                    source_port: UDP_PORT,
                    destination_port: UDP_PORT,
                },
                &header,
            );
            let (_, bytes) = batch.iter().next().unwrap();
            let view = View::parse(bytes).unwrap();
            connection.receive(pair.now, ADDRESSES[1], &view, side);
            pair.now += 20_000;
            connection.expire(pair.now, side);
        }
    }
    pair.sides[1].post_receive(5, 0, 1000);
    pair.run(SECOND);
    assert_eq!(pair.sides[0].sends_done[0].status, Status::Success);
}

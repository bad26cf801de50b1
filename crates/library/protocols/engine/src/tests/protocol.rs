//! Single exchanges: every protocol, both orders, truncation, cancelling, detaching, matched probes.

use weft_transport::loopback::Network;

use super::{CONTEXT, engines, route, settle};
use crate::{Failure, RequestId, UNEXPECTED_BYTES, Wanted};

const LIMIT: usize = 1000;
/// Empty, inline, stored, the eager limit's neighbours, sent as an RTS.
const SIZES: [usize; 9] = [0, 1, 40, 41, 500, LIMIT - 8, LIMIT, LIMIT + 1, 5000];

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 7 + bytes) as u8).collect()
}

#[test]
fn every_size_both_orders_to_a_peer_and_to_itself() {
    for (seed, &bytes) in SIZES.iter().enumerate() {
        for synchronous in [false, true] {
            for posted_first in [false, true] {
                for to in [0, 1] {
                    let network = Network::new(seed as u64, 4, LIMIT);
                    let pair = engines(&network, 2);
                    let mut data = pattern(bytes);
                    let mut got = vec![0; bytes + 3];
                    let receiver = &pair[to as usize];
                    let early = posted_first.then(|| receiver.receive_from(0, 5, &mut got));
                    let send = pair[0].send_to(to, 5, &mut data, synchronous);
                    let receive = early.unwrap_or_else(|| {
                        (0..20).for_each(|_| {
                            receiver.progress();
                        });
                        assert!(
                            !synchronous || !pair[0].is_complete(send),
                            "not matched yet"
                        );
                        receiver.receive_from(0, 5, &mut got)
                    });
                    let status = settle(&pair, to as usize, receive);
                    settle(&pair, 0, send);
                    assert_eq!(
                        (status.source, status.tag, status.bytes),
                        (0, 5, bytes as u64)
                    );
                    assert_eq!(status.failure, None);
                    assert_eq!(
                        got[..bytes],
                        data[..],
                        "{bytes} {synchronous} {posted_first} {to}"
                    );
                    assert_eq!(network.open_transfers(), 0);
                }
            }
        }
    }
}

#[test]
fn longer_messages_are_truncated() {
    for &bytes in &SIZES[1..] {
        for posted_first in [false, true] {
            let network = Network::new(3, 4, LIMIT);
            let pair = engines(&network, 2);
            let mut data = pattern(bytes);
            let mut got = vec![0; bytes - 1];
            let early = posted_first.then(|| pair[1].receive_from(-1, -1, &mut got));
            let send = pair[0].send_to(1, 9, &mut data, false);
            pair[1].progress();
            let receive = early.unwrap_or_else(|| pair[1].receive_from(-1, -1, &mut got));
            let status = settle(&pair, 1, receive);
            settle(&pair, 0, send);
            assert_eq!(
                (status.failure, status.bytes),
                (Some(Failure::Truncated), bytes as u64 - 1)
            );
            assert_eq!(got[..], data[..bytes - 1]);
        }
    }
}

/// In place of a message, posted receive or not, over a full way, and to oneself: in order, and only its own receive fails.
#[test]
fn a_failure_comes_in_the_place_of_a_message() {
    for (to, posted_first) in [(0, false), (0, true), (1, false), (1, true)] {
        let network = Network::new(13, 2, LIMIT);
        let pair = engines(&network, 2);
        let mut data: Vec<[u8; 3]> = (0..40).map(|i| [i; 3]).collect();
        let mut got = vec![[0xffu8; 3]; data.len()];
        let mut receive = |i: usize| pair[to as usize].receive_from(0, 7, &mut got[i]);
        let early: Vec<_> = (0..40).filter(|_| posted_first).map(&mut receive).collect();
        let is_failure = |i: usize| i % 5 == 4;
        let mut send = |i: usize| match is_failure(i) {
            false => pair[0].send_to(to, 7, &mut data[i], false),
            true => {
                let number = 200 + i as u8;
                pair[0].send_failure(route(to, 0, 7), number).unwrap()
            }
        };
        let sends: Vec<_> = (0..40).map(&mut send).collect();
        let receives = match posted_first {
            true => early,
            false => (0..40).map(&mut receive).collect(),
        };
        for (i, &id) in receives.iter().enumerate() {
            let status = settle(&pair, to as usize, id);
            let number = Failure::Operation(200 + i as u8);
            let expected = is_failure(i).then_some(number);
            assert_eq!(
                (status.failure, status.source, status.tag),
                (expected, 0, 7)
            );
        }
        for send in sends {
            assert_eq!(settle(&pair, 0, send).failure, None);
        }
        for (i, got) in got.iter().enumerate() {
            assert_eq!(
                *got,
                if is_failure(i) {
                    [0xff; 3]
                } else {
                    [i as u8; 3]
                }
            );
        }
    }
}

#[test]
fn order_is_kept_while_the_way_is_full() {
    let network = Network::new(11, 2, LIMIT);
    let pair = engines(&network, 2);
    let count = 300;
    let size = |i: usize| [1, 30, 300, 2000][i % 4];
    let mut data: Vec<Vec<u8>> = (0..count).map(|i| vec![i as u8; size(i)]).collect();
    let sends: Vec<RequestId> = data
        .iter_mut()
        .map(|bytes| pair[0].send_to(1, 1, bytes, false))
        .collect();
    for i in 0..count {
        let mut got = vec![0; 2000];
        let id = pair[1].receive_from(0, -1, &mut got);
        let status = settle(&pair, 1, id);
        assert_eq!(
            (status.bytes as usize, got[0]),
            (size(i), i as u8),
            "message {i}"
        );
    }
    for send in sends {
        settle(&pair, 0, send);
    }
}

#[test]
fn a_flood_is_throttled_and_arrives() {
    let network = Network::new(5, 64, LIMIT);
    let pair = engines(&network, 2);
    let bytes = LIMIT - 8;
    let count = UNEXPECTED_BYTES as usize / bytes + 500;
    let mut data = vec![7; bytes];
    let mut sends = Vec::new();
    for _ in 0..count {
        sends.push(pair[0].send_to(1, 1, &mut data, false));
        pair[1].progress();
    }
    (0..2000).for_each(|_| {
        pair[0].progress();
        pair[1].progress();
    });
    let lane = pair[1].lane(0).enter_soon();
    let (stored, messages) = lane.core.throttle.totals();
    drop(lane);
    assert_eq!(messages, count as u64, "all envelopes are here");
    assert!(
        stored <= UNEXPECTED_BYTES + 100 * LIMIT as u64,
        "{stored} B stored"
    );
    assert!(sends.iter().any(|&id| !pair[0].is_complete(id)));
    for _ in 0..count {
        let mut got = vec![0; bytes];
        let id = pair[1].receive_from(0, 1, &mut got);
        let status = settle(&pair, 1, id);
        assert_eq!((status.bytes as usize, got[bytes - 1]), (bytes, 7));
    }
    for send in sends {
        settle(&pair, 0, send);
    }
}

#[test]
fn receives_are_cancelled_unless_matched() {
    let network = Network::new(1, 8, LIMIT);
    let pair = engines(&network, 2);
    let mut got = [0; 8];
    let lonely = pair[1].receive_from(0, 1, &mut got);
    pair[1].cancel(lonely);
    assert!(settle(&pair, 1, lonely).cancelled);
    let matched = pair[1].receive_from(0, 1, &mut got);
    let send = pair[0].send_to(1, 1, &mut [3; 8], false);
    assert!(!settle(&pair, 1, matched).cancelled);
    pair[1].cancel(matched);
    settle(&pair, 0, send);
    assert_eq!(got, [3; 8]);
}

#[test]
fn announced_sends_are_cancelled_unless_matched() {
    for (bytes, synchronous) in [(8, true), (5000, false), (5000, true)] {
        for to in [0, 1] {
            let network = Network::new(2, 8, LIMIT);
            let pair = engines(&network, 2);
            let mut data = pattern(bytes);
            let send = pair[0].send_to(to, 1, &mut data, synchronous);
            (0..10).for_each(|_| {
                pair[1].progress();
            });
            pair[0].cancel(send);
            assert!(
                settle(&pair, 0, send).cancelled,
                "{bytes} {synchronous} {to}"
            );
            assert_eq!(network.open_transfers(), 0);
            let wanted = Wanted {
                lane: 0,
                peer: 0,
                context: CONTEXT,
                source: -1,
                tag: -1,
            };
            assert!(
                pair[to as usize].probe(wanted).unwrap().is_none(),
                "the receiver forgot it"
            );

            let mut got = vec![0; bytes];
            let receive = pair[to as usize].receive_from(0, 1, &mut got);
            let send = pair[0].send_to(to, 1, &mut data, synchronous);
            (0..10).for_each(|_| {
                pair[1].progress();
            });
            pair[0].cancel(send);
            assert!(!settle(&pair, 0, send).cancelled);
            settle(&pair, to as usize, receive);
            assert_eq!(got, data);
        }
    }
}

#[test]
fn queued_sends_are_cancelled() {
    let network = Network::new(2, 1, LIMIT);
    let pair = engines(&network, 2);
    let mut data: Vec<Vec<u8>> = [4, 5, 3000, 6].map(|bytes| vec![bytes as u8; bytes]).into();
    let sends: Vec<RequestId> = data
        .iter_mut()
        .map(|d| pair[0].send_to(1, 0, d, false))
        .collect();
    pair[0].cancel(sends[1]);
    pair[0].cancel(sends[2]);
    assert!(settle(&pair, 0, sends[1]).cancelled && settle(&pair, 0, sends[2]).cancelled);
    for expected in [4, 6] {
        let mut got = [0; 10];
        let id = pair[1].receive_from(0, 0, &mut got);
        assert_eq!(settle(&pair, 1, id).bytes, expected);
    }
    assert_eq!(network.open_transfers(), 0);
}

#[test]
fn detached_requests_are_recycled() {
    let network = Network::new(2, 2, LIMIT);
    let pair = engines(&network, 2);
    let mut data = pattern(5000);
    let send = pair[0].send_to(1, 1, &mut data, false);
    pair[0].detach(send);
    assert!(pair[0].exists(send), "still under way");
    let mut got = vec![0; 5000];
    let receive = pair[1].receive_from(0, 1, &mut got);
    settle(&pair, 1, receive);
    (0..20).for_each(|_| {
        pair[0].progress();
    });
    assert!(!pair[0].exists(send));
    assert_eq!(got, data);
    pair[0].drain();
}

#[test]
fn extracted_messages_are_received_once() {
    for &bytes in &SIZES {
        let network = Network::new(9, 4, LIMIT);
        let pair = engines(&network, 2);
        let mut data = pattern(bytes);
        let send = pair[0].send_to(1, 4, &mut data, false);
        let wanted = Wanted {
            lane: 0,
            peer: 0,
            context: CONTEXT,
            source: 0,
            tag: -1,
        };
        let (message, status) = pair[1].extract_blocking(wanted).unwrap();
        assert_eq!((status.tag, status.bytes), (4, bytes as u64));
        assert!(pair[1].is_extracted(message) && pair[1].probe(wanted).unwrap().is_none());
        let mut got = vec![0; bytes];
        let request = pair[1].receive_extracted(message, super::memory(&mut got));
        assert!(!pair[1].is_extracted(message));
        settle(&pair, 1, request);
        settle(&pair, 0, send);
        assert_eq!(got, data);
    }
}

#[test]
fn nonsense_ends_the_connection_not_the_process() {
    use weft_transport::{Endpoint, Fabric, Header};
    let network = Network::new(1, 8, LIMIT);
    let pair = engines(&network, 2);
    let mut got = [0; 8];
    let receive = pair[1].receive_from(0, 1, &mut got);
    let mut raw = network.fabric(0, 2).endpoint(0);
    raw.send(1, Header([0xee, 0]), &[1, 2, 3], false).unwrap();
    assert_eq!(settle(&pair, 1, receive).failure, Some(Failure::PeerLost));
    for kind in 2..=10 {
        let network = Network::new(1, 8, LIMIT);
        let pair = engines(&network, 2);
        let receive = pair[1].receive_from(0, 1, &mut got);
        let mut raw = network.fabric(0, 2).endpoint(0);
        raw.send(1, Header([kind, 0]), &[1, 2, 3], false).unwrap();
        assert_eq!(
            settle(&pair, 1, receive).failure,
            Some(Failure::PeerLost),
            "kind {kind}"
        );
    }
}

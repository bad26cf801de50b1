//! Receives among very many unexpected messages: some wait to be posted together, and nothing else may notice.

use weft_transport::loopback::Network;

use super::{CONTEXT, Traced, engines, settle};
use crate::{Engine, RequestId, Wanted};

/// More than matching keeps in the cache.
const MESSAGES: u32 = 3000;

/// Two engines; the second has got `MESSAGES` messages of tags from 0 on, each with its tag in it.
fn flooded() -> Vec<Engine<Traced>> {
    let network = Network::new(1, 16, 200);
    let pair = engines(&network, 2);
    for tag in 0..MESSAGES {
        let mut data = tag.to_le_bytes();
        let id = pair[0].send_to(1, tag, &mut data, false);
        settle(&pair, 0, id);
    }
    while pair[1].counts().unexpected_now < u64::from(MESSAGES) {
        pair[1].progress();
    }
    pair
}

fn wanted(tag: i32) -> Wanted {
    Wanted {
        lane: 0,
        peer: 0,
        context: CONTEXT,
        source: 0,
        tag,
    }
}

fn receive(engine: &Engine<Traced>, tag: i32) -> (RequestId, Box<[u8; 4]>) {
    let mut got = Box::new([0xff; 4]);
    (engine.receive_from(0, tag, &mut *got), got)
}

#[test]
fn each_receive_gets_its_message_in_any_order() {
    let pair = flooded();
    // 2999 has no divisor in common with 3000.
    let tags: Vec<u32> = (0..MESSAGES).map(|n| n * 2999 % MESSAGES).collect();
    let receives: Vec<_> = tags
        .iter()
        .map(|&tag| receive(&pair[1], tag as i32))
        .collect();
    for (tag, (id, got)) in tags.into_iter().zip(receives) {
        let status = settle(&pair, 1, id);
        assert_eq!(
            (status.tag as u32, u32::from_le_bytes(*got), status.bytes),
            (tag, tag, 4)
        );
    }
    assert_eq!(pair[1].counts().unexpected_now, 0);
}

#[test]
fn wildcards_among_them_take_the_oldest_that_is_left() {
    let pair = flooded();
    let receives: Vec<_> = [-1, 1, -1, 0, -1, 5, -1]
        .map(|tag| receive(&pair[1], tag))
        .into();
    // Tag 0 is gone when it is asked for by name: that receive waits.
    let waits = receives[3].0;
    let tags: Vec<i32> = receives
        .iter()
        .filter(|(id, _)| *id != waits)
        .map(|&(id, _)| settle(&pair, 1, id).tag)
        .collect();
    assert_eq!(tags, [0, 1, 2, 3, 5, 4]);
    assert!(!pair[1].is_complete(waits));
    let mut data = [9, 0, 0, 0];
    let send = pair[0].send_to(1, 0, &mut data, false);
    settle(&pair, 1, waits);
    settle(&pair, 0, send);
    assert_eq!(*receives[3].1, data);
}

#[test]
fn a_probe_does_not_see_what_an_earlier_receive_takes() {
    let pair = flooded();
    let (id, _got) = receive(&pair[1], 7);
    assert!(pair[1].probe(wanted(7)).unwrap().is_none());
    assert!(pair[1].probe(wanted(8)).unwrap().is_some());
    settle(&pair, 1, id);
}

#[test]
fn an_arrival_finds_a_receive_that_was_put_off() {
    let pair = flooded();
    let tag = MESSAGES as i32;
    let (id, got) = receive(&pair[1], tag);
    let mut own = [1, 2, 3, 4];
    // A message to itself goes through matching at once.
    let (any, from_self) = {
        let mut got = Box::new([0; 4]);
        (pair[1].receive_from(1, tag, &mut *got), got)
    };
    let send = pair[1].send_to(1, tag as u32, &mut own, false);
    assert!(pair[1].is_complete(any));
    settle(&pair, 1, any);
    settle(&pair, 1, send);
    assert_eq!(*from_self, own);
    let mut data = [5, 6, 7, 8];
    let send = pair[0].send_to(1, tag as u32, &mut data, false);
    settle(&pair, 1, id);
    settle(&pair, 0, send);
    assert_eq!(*got, data);
}

#[test]
fn a_receive_that_was_put_off_can_be_cancelled() {
    let pair = flooded();
    let (matched, got) = receive(&pair[1], 3);
    let (waits, _got) = receive(&pair[1], MESSAGES as i32);
    pair[1].cancel(matched);
    pair[1].cancel(waits);
    assert!(!settle(&pair, 1, matched).cancelled);
    assert_eq!(u32::from_le_bytes(*got), 3);
    assert!(settle(&pair, 1, waits).cancelled);
}

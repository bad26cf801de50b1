//! Enquiries: one process waits, the other makes progress and answers by the tag.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use weft_transport::loopback::Network;
use weft_transport::{Endpoint, Fabric, Header};
use weft_wire::{Body, ENQUIRY_BYTES, Packet, PacketKind};

use super::{CONTEXT, Traced, engines, memory};
use crate::{Awaited, Engine, Enquiry, Failure, Outgoing, RequestId, Status};

/// Messages of this tag come no more, those of others may.
const OVER: u32 = 7;
const OPEN: u32 = 8;
const NUMBER: u8 = 99;
const WORDS: [u64; 2] = [3, u64::MAX];

fn answer(enquiry: &Enquiry) -> Option<u8> {
    ASKED.lock().unwrap().push(*enquiry);
    (enquiry.tag == OVER).then_some(NUMBER)
}

static ASKED: Mutex<Vec<Enquiry>> = Mutex::new(Vec::new());

/// What was asked of the messages with a length's last byte as first word; tests run side by side.
fn asked(words: [u64; 2]) -> Vec<Enquiry> {
    let all = ASKED.lock().unwrap();
    all.iter()
        .copied()
        .filter(|enquiry| enquiry.words == words)
        .collect()
}

/// The status of what process 0 has started and waits for, while process 1 does this and makes progress.
fn waited(
    start: impl FnOnce(&Engine<Traced>) -> RequestId + Send,
    words: [u64; 2],
    mut meanwhile: impl FnMut(&Engine<Traced>),
) -> Status {
    let network = Network::new(5, 64, 1000);
    let engines = answering(&network);
    let (me, other) = (&engines[0], &engines[1]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let id = start(me);
            me.wait_enquiring(id, || words);
            is_over.store(true, Ordering::Relaxed);
            me.finish(id)
        });
        while !is_over.load(Ordering::Relaxed) {
            other.progress();
            meanwhile(other);
            std::thread::yield_now();
        }
        waiter.join().unwrap()
    })
}

#[test]
fn a_receive_whose_message_does_not_come_fails() {
    let mut bytes = [0; 8];
    let start = |engine: &Engine<Traced>| engine.receive_from(1, OVER as i32, &mut bytes);
    let status = waited(start, WORDS, |_| ());
    assert_eq!(status.failure, Some(Failure::Operation(NUMBER)));
    let enquiry = Enquiry {
        peer: 0,
        context: CONTEXT,
        source: 1,
        tag: OVER,
        is_of_sender: false,
        words: WORDS,
    };
    assert_eq!(asked(WORDS), [enquiry]);
}

/// Until it comes: the sender asks again and is not answered.
#[test]
fn a_message_that_may_come_is_waited_for() {
    let words = [4, 4];
    let (mut bytes, mut sent) = ([0; 8], [6; 8]);
    let mut is_sent = false;
    let start = |engine: &Engine<Traced>| engine.receive_from(1, OPEN as i32, &mut bytes);
    let status = waited(start, words, |other| {
        if asked(words).len() == 2 && !is_sent {
            is_sent = true;
            assert_eq!(other.send_to(0, OPEN, &mut sent, false), RequestId::DONE);
        }
    });
    assert_eq!((status.failure, status.bytes), (None, 8));
    assert_eq!(bytes, [6; 8]);
}

fn answering(network: &Arc<Network>) -> Vec<Engine<Traced>> {
    let engines = engines(network, 2).into_iter();
    engines.map(|engine| engine.with_answer(answer)).collect()
}

/// What a receive's sender says of it finds the receive over: be it that there is room for the message at once, or
/// that it waits. Nothing stays of the answer, and the next receive of the same envelope is not told.
#[test]
fn a_message_that_was_sent_is_had_first_and_the_answer_meets_nothing() {
    for (ahead, words) in [(0, [5, 5]), (6, [10, 10])] {
        let network = Network::new(6, 4, 1000);
        let engines = answering(&network);
        let (mut bytes, mut more, mut sent) = ([0; 8], [0; 8], [6; 8]);
        let id = engines[0].receive_from(1, OVER as i32, &mut bytes);
        engines[0].enquire_about(id, words);
        let mut others = vec![[7; 8]; ahead];
        for other in &mut others {
            engines[1].send_to(0, OPEN, other, false);
        }
        let send = engines[1].send_to(0, OVER, &mut sent, false);
        while asked(words).is_empty() {
            engines[1].progress();
        }
        let status = super::settle(&engines, 0, id);
        assert_eq!((status.failure, bytes), (None, [6; 8]));
        super::settle(&engines, 1, send);
        let next = engines[0].receive_from(1, OVER as i32, &mut more);
        for _ in 0..100 {
            engines.iter().for_each(|engine| _ = engine.progress());
        }
        assert!(!engines[0].is_complete(next), "{}", engines[0].report());
        engines[0].cancel(next);
        engines[0].finish(next);
        let state = engines[0].lane(0).enter_soon();
        assert_eq!(state.core.matching.unexpected_len(), ahead);
        assert!(state.core.outbound.is_empty());
    }
}

/// A wait for something else than a message has no receive that an answer could fail, and no answer.
#[test]
fn what_is_asked_for_no_receive_is_not_answered() {
    let words = [11, 11];
    let network = Network::new(6, 64, 1000);
    let engines = answering(&network);
    let mut bytes = [0; 8];
    let id = engines[0].receive_from(1, OVER as i32, &mut bytes);
    engines[0].enquire(&super::route(1, 1, OVER as i32), words);
    while asked(words).is_empty() {
        engines[1].progress();
    }
    for _ in 0..100 {
        engines[0].progress();
    }
    assert!(!engines[0].is_complete(id));
    engines[0].cancel(id);
    engines[0].finish(id);
    let state = engines[0].lane(0).enter_soon();
    assert_eq!(state.core.matching.unexpected_len(), 0);
}

/// A long message is dropped by the cookie of its send: one of the same envelope that came before it stays.
#[test]
fn only_the_message_that_is_asked_about_is_dropped() {
    let words = [12, 12];
    let network = Network::new(6, 64, 1000);
    let engines = answering(&network);
    let (mut first, mut second, mut into) = (vec![1; 4096], vec![2; 4096], vec![0; 4096]);
    let [stays, goes] = [&mut first, &mut second].map(|bytes| {
        let message = Outgoing {
            route: super::route(1, 0, OVER as i32),
            memory: memory(bytes),
            synchronous: false,
        };
        engines[0].send(message).unwrap()
    });
    engines[0].enquire_about(goes, words);
    super::settle(&engines, 0, goes);
    assert!(!engines[0].is_complete(stays));
    let receive = engines[1].receive_from(0, OVER as i32, &mut into);
    super::settle(&engines, 1, receive);
    super::settle(&engines, 0, stays);
    assert_eq!(into, first);
}

/// However often a peer asks that takes no answer, it costs no request, and one answer waits.
#[test]
fn a_flood_of_enquiries_costs_nothing() {
    let words = [13, 13];
    let network = Network::new(6, 4, 1000);
    let mut engine = answering(&network).pop().unwrap();
    engine.limit_requests(64);
    let mut flooder = network.fabric(0, 2).endpoint(0);
    let packet = Packet {
        source: 1,
        context: CONTEXT,
        tag: OVER,
        ..Packet::control(PacketKind::Enquiry)
    };
    let mut payload = [0; ENQUIRY_BYTES];
    Body([7, 13, 13]).put(&mut payload);
    while asked(words).len() < 1000 {
        let _ = flooder.send(1, Header(packet.words()), &payload, false);
        engine.progress();
    }
    let mut state = engine.lane(0).enter_soon();
    let queue = state.core.outbound.queue(0).expect("an answer waits");
    assert!(queue.answer.is_some() && queue.controls.is_empty() && queue.head().is_none());
    drop(state);
    let mut bytes = [[0; 8]; 64];
    for bytes in &mut bytes {
        engine.receive_from(0, OPEN as i32, bytes);
    }
}

#[test]
fn a_long_message_that_nobody_receives_leaves_its_sender() {
    let words = [6, 6];
    let mut bytes = vec![1; 4096];
    let start = |engine: &Engine<Traced>| {
        let message = memory(&mut bytes);
        let route = super::route(1, 0, OVER as i32);
        let message = crate::Outgoing {
            route,
            memory: message,
            synchronous: false,
        };
        engine.send(message).unwrap()
    };
    let status = waited(start, words, |_| ());
    assert_eq!((status.failure, status.cancelled), (None, false));
    let asked = asked(words);
    assert!(asked[0].is_of_sender && asked[0].source == 0 && asked[0].peer == 0);
}

/// Of another tag it is left for its receive.
#[test]
fn a_long_message_that_may_be_received_stays() {
    let words = [7, 7];
    let (mut bytes, mut into) = (vec![1; 4096], vec![0; 4096]);
    let mut receive = None;
    let start = |engine: &Engine<Traced>| engine.send_to(1, OPEN, &mut bytes, false);
    let status = waited(start, words, |other| {
        if asked(words).len() == 2 && receive.is_none() {
            receive = Some(other.receive_from(0, OPEN as i32, &mut into));
        }
    });
    assert_eq!(status.failure, None);
    assert_eq!(into, bytes);
}

/// An operation's receive, whose operation is waited for or polled.
fn an_operation_is_told(
    words: [u64; 2],
    mut until_complete: impl FnMut(&Engine<Traced>, RequestId),
) {
    let network = Network::new(5, 64, 1000);
    let engines = answering(&network);
    let (me, other) = match engines.leak() {
        [me, other] => (&*me, &*other),
        _ => unreachable!("two were made"),
    };
    let mut bytes = [0; 8];
    let awaited_id = me.receive_from(1, OVER as i32, &mut bytes);
    let make = |awaited: Awaited| {
        poll_fn(
            move |_| match me.await_enquiring(&awaited, awaited_id, words) {
                true => Poll::Pending,
                false => Poll::Ready(me.finish(awaited_id)),
            },
        )
    };
    let id = me.begin(0, CONTEXT, make).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                other.progress();
                std::thread::yield_now();
            }
        });
        until_complete(me, id);
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(me.finish(id).failure, Some(Failure::Operation(NUMBER)));
    assert_eq!(asked(words).len(), 1);
    assert_eq!(me.operations.count(), 0);
}

#[test]
fn whoever_waits_asks_for_an_operation() {
    an_operation_is_told([8, 8], |engine, id| engine.wait_any(&[id]));
}

#[test]
fn whoever_polls_asks_for_an_operation() {
    an_operation_is_told([9, 9], |engine, id| {
        while !engine.is_complete(id) {
            engine.progress_for_poll();
        }
    });
}

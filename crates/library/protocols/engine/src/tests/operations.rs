//! Operations of several messages: their order, their outcome, when they are polled, being freed.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;

use weft_transport::loopback::Network;

use super::{CONTEXT, Traced, engines, memory, settle};
use crate::{Awaited, Engine, Failure, Incoming, Outgoing, RequestId, Route, Status};

const LIMIT: usize = 1000;

/// Two engines that operations can refer to.
fn pair(seed: u64) -> &'static [Engine<Traced>] {
    engines(&Network::new(seed, 4, LIMIT), 2).leak()
}

async fn waited(engine: &Engine<Traced>, awaited: &Awaited, id: RequestId) -> Status {
    poll_fn(|_| engine.poll_request(awaited, id)).await
}

/// As many messages there and back, each a number greater by one than that which came. Engine 0
/// begins and, with as many, ends.
async fn count_up(engine: &'static Engine<Traced>, rounds: u32, awaited: Awaited) -> Status {
    let peer = 1 - engine.me;
    let mut number = [0; 4];
    let mut last = Status::EMPTY;
    for round in 0..2 * rounds {
        let memory = memory(&mut number);
        let sends = round % 2 == engine.me;
        let route = Route {
            lane: 0,
            peer,
            context: CONTEXT + 1,
            source: if sends { engine.me } else { peer } as i32,
            tag: round as i32,
        };
        if sends {
            let outgoing = Outgoing {
                route,
                memory,
                synchronous: round % 3 == 0,
            };
            waited(engine, &awaited, engine.send(outgoing).unwrap()).await;
        } else {
            let incoming = Incoming { route, memory };
            last = waited(engine, &awaited, engine.receive(incoming).unwrap()).await;
            number = (u32::from_le_bytes(number) + 1).to_le_bytes();
        }
    }
    let number = u64::from(u32::from_le_bytes(number));
    Status {
        bytes: number,
        ..last
    }
}

#[test]
fn messages_follow_each_other_whatever_is_waited_for() {
    for seed in 0..20 {
        let pair = pair(seed);
        let begin = |engine: &'static Engine<Traced>| {
            let make = |awaited| count_up(engine, 5, awaited);
            engine.begin(0, CONTEXT + 1, make).unwrap()
        };
        let (first, second) = (begin(&pair[0]), begin(&pair[1]));
        assert!(pair[0].is_operation(first) && !pair[0].is_complete(first));
        assert!(pair[0].report().contains("1 operations"));
        // Neither names the operation's request: other messages are sent after each other instead.
        let mut byte = [7];
        while !(pair[0].is_complete(first) && pair[1].is_complete(second)) {
            let send = pair[0].send_to(1, 9, &mut byte, true);
            let mut got = [0];
            let receive = pair[1].receive_from(0, 9, &mut got);
            settle(pair, 1, receive);
            settle(pair, 0, send);
        }
        assert!(!pair[0].is_operation(first));
        let status = settle(pair, 0, first);
        assert_eq!((status.bytes, status.source, status.tag), (10, 1, 9));
        assert!(status.receive);
        assert_eq!(settle(pair, 1, second).bytes, 9);
        assert!(!pair[0].exists(first) && pair[0].operations.count() == 0);
    }
}

#[test]
fn one_that_is_over_at_once_needs_no_request() {
    let pair = pair(0);
    let done = pair[0].begin(0, CONTEXT, |_| async { Status::EMPTY });
    assert_eq!(done.unwrap(), RequestId::DONE);
    let failed = pair[0].begin(3, CONTEXT, |_| async {
        Status {
            failure: Some(Failure::Operation(77)),
            ..Status::EMPTY
        }
    });
    let status = pair[0].wait(failed.unwrap());
    assert_eq!(status.failure, Some(Failure::Operation(77)));
    assert_eq!((status.context, status.receive), (CONTEXT, false));
}

/// Begins an operation that waits for `awaited_id`, which others may wait for too, and counts its polls.
fn watching(
    engine: &'static Engine<Traced>,
    awaited_id: RequestId,
    polls: &Arc<AtomicU32>,
) -> RequestId {
    let polls = polls.clone();
    let make = |awaited: Awaited| async move {
        poll_fn(|_| {
            polls.fetch_add(1, Ordering::Relaxed);
            match engine.await_request(&awaited, awaited_id) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            }
        })
        .await;
        Status::EMPTY
    };
    engine.begin(0, CONTEXT, make).unwrap()
}

#[test]
fn it_is_polled_when_its_request_completes_and_not_before() {
    const OPERATIONS: usize = 200;
    let engine = &pair(0)[0];
    let polls = Arc::new(AtomicU32::new(0));
    let requests: Vec<_> = (0..OPERATIONS)
        .map(|_| engine.external(1).unwrap())
        .collect();
    let begun = requests
        .iter()
        .map(|&request| watching(engine, request, &polls));
    let operations: Vec<_> = begun.collect();
    let polled = || polls.load(Ordering::Relaxed) as usize;
    for _ in 0..10 {
        engine.progress();
    }
    assert_eq!(polled(), OPERATIONS, "by begin alone");
    for (done, (&request, &operation)) in requests.iter().zip(&operations).enumerate().rev() {
        engine.complete_external(request);
        engine.progress();
        assert_eq!(engine.wait(operation), Status::EMPTY);
        assert_eq!(polled(), 2 * OPERATIONS - done, "no other");
        engine.finish(request);
    }
}

#[test]
fn several_wait_for_one_request_beside_a_thread() {
    for detached in [false, true] {
        let engine = &pair(0)[0];
        let polls = Arc::new(AtomicU32::new(0));
        let request = engine.external(0).unwrap();
        let operations = [(); 3].map(|()| watching(engine, request, &polls));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(move || {
                if !detached {
                    engine.wait(request);
                }
                operations.map(|operation| engine.wait(operation))
            });
            // Longer than a thread stays awake.
            std::thread::sleep(std::time::Duration::from_millis(100));
            if detached {
                engine.detach(request);
            }
            assert!(!waiter.is_finished() && engine.complete_external(request));
            assert_eq!(waiter.join().unwrap(), [Status::EMPTY; 3]);
        });
        assert_eq!(polls.load(Ordering::Relaxed), 6);
        assert!(!engine.exists(request));
    }
}

#[test]
fn a_freed_one_goes_on_and_is_waited_for_at_the_end() {
    let pair = pair(3);
    let over = Arc::new(AtomicBool::new(false));
    let done = over.clone();
    let make = |awaited| async move {
        let status = count_up(&pair[0], 4, awaited).await;
        done.store(true, Ordering::SeqCst);
        status
    };
    let freed = pair[0].begin(0, CONTEXT, make).unwrap();
    pair[0].detach(freed);
    std::thread::scope(|scope| {
        let drained = scope.spawn(|| {
            pair[0].drain();
            over.load(Ordering::SeqCst)
        });
        let make = |awaited| count_up(&pair[1], 4, awaited);
        let other = pair[1].begin(0, CONTEXT, make).unwrap();
        assert_eq!(pair[1].wait(other).bytes, 7);
        assert!(drained.join().unwrap());
    });
    assert!(!pair[0].exists(freed));
}

#[test]
fn an_operation_may_begin_another() {
    let pair = pair(1);
    let nested = |engine: &'static Engine<Traced>| {
        let make = move |awaited: Awaited| async move {
            let inner = |awaited| count_up(engine, 3, awaited);
            let inner = engine.begin(0, CONTEXT, inner).unwrap();
            waited(engine, &awaited, inner).await
        };
        engine.begin(0, CONTEXT, make).unwrap()
    };
    let (first, second) = (nested(&pair[0]), nested(&pair[1]));
    assert_eq!(settle(pair, 0, first).bytes, 6);
    assert_eq!(settle(pair, 1, second).bytes, 5);
}

//! Revoked contexts, and notices: what is pending in such a context ends with the error, on either side, in any order in
//! which the two hear of it; others are not touched; notices come in order, before messages that wait for room.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_transport::Peer;
use weft_transport::loopback::Network;

use super::{CONTEXT, Traced, engines, settle};
use crate::peers::Members;
use crate::{Engine, Failure, Listener, Notice, RequestId, Wanted};

/// The longest that goes eagerly on the networks here, and one that does not.
const SHORT: usize = 64;
const LONG: usize = 5000;

/// Two processes whose one communicator is revoked at each when it says so.
struct Revocable {
    is_revoked: AtomicBool,
}

impl Members for Revocable {
    fn contains(&self, _: u32, _: Peer) -> bool {
        true
    }

    fn member(&self, _: u32, number: u32) -> Option<Peer> {
        (number < 2).then_some(number)
    }

    fn count_and_own(&self, _: u32) -> (u32, u32) {
        (2, 0)
    }

    fn is_revoked(&self, context: u32) -> bool {
        context == CONTEXT && self.is_any_revoked()
    }

    fn is_any_revoked(&self) -> bool {
        self.is_revoked.load(Ordering::Relaxed)
    }
}

struct Pair {
    engines: Vec<Engine<Traced>>,
    members: Vec<Arc<Revocable>>,
}

impl Pair {
    fn new(room: usize) -> Pair {
        let network = Network::new(11, room, 1000);
        let members: Vec<Arc<Revocable>> = (0..2)
            .map(|_| {
                Arc::new(Revocable {
                    is_revoked: AtomicBool::new(false),
                })
            })
            .collect();
        let engines = engines(&network, 2).into_iter().zip(&members);
        let engines = engines.map(|(engine, members)| engine.with_members(members.clone()));
        Pair {
            engines: engines.collect(),
            members,
        }
    }

    fn revoke(&self, process: usize) {
        self.members[process]
            .is_revoked
            .store(true, Ordering::Relaxed);
        self.engines[process].revoke(|context| context == CONTEXT);
    }

    fn turn(&self) {
        for _ in 0..200 {
            self.engines.iter().for_each(|engine| _ = engine.progress());
        }
    }

    fn failure(&self, process: usize, id: RequestId) -> Option<Failure> {
        settle(&self.engines, process, id).failure
    }
}

#[test]
fn a_receive_ends_be_it_begun_before_or_after() {
    let pair = Pair::new(64);
    let (mut first, mut second, mut third) = ([0; 8], [0; 8], [0; 8]);
    let before = pair.engines[0].receive_from(1, 1, &mut first);
    let any = pair.engines[0].receive_from(-1, -1, &mut second);
    pair.revoke(0);
    assert_eq!(pair.failure(0, before), Some(Failure::Revoked));
    assert_eq!(pair.failure(0, any), Some(Failure::Revoked));
    let after = pair.engines[0].receive_from(1, 1, &mut third);
    assert_eq!(pair.engines[0].wait(after).failure, Some(Failure::Revoked));
    let wanted = Wanted {
        lane: 0,
        peer: 1,
        context: CONTEXT,
        source: 1,
        tag: 1,
    };
    assert_eq!(
        pair.engines[0].probe_blocking(wanted),
        Err(Failure::Revoked)
    );
}

/// A send that is announced, short and synchronous or long, that nobody has received: whoever hears of it first.
#[test]
fn a_send_that_nobody_has_received_ends() {
    for (bytes, synchronous) in [(SHORT, true), (LONG, false), (LONG, true)] {
        for order in [[0, 1], [1, 0]] {
            for turns_between in [false, true] {
                let pair = Pair::new(64);
                let mut sent = vec![3; bytes];
                let id = pair.engines[0].send_to(1, 1, &mut sent, synchronous);
                pair.turn();
                pair.revoke(order[0]);
                if turns_between {
                    pair.turn();
                }
                pair.revoke(order[1]);
                let failure = pair.failure(0, id);
                let what = (bytes, synchronous, order, turns_between);
                assert_eq!(failure, Some(Failure::Revoked), "{what:?}");
            }
        }
    }
}

/// Those that wait for room too, and what is behind them in another context goes on.
#[test]
fn a_send_that_waits_for_room_ends() {
    let pair = Pair::new(2);
    let mut buffers = vec![[5; SHORT]; 20];
    let ids: Vec<RequestId> = buffers
        .iter_mut()
        .map(|buffer| pair.engines[0].send_to(1, 1, buffer, false))
        .collect();
    let pending = ids.iter().filter(|&&id| !pair.engines[0].is_complete(id));
    assert!(pending.count() > 10);
    pair.revoke(0);
    for id in ids {
        let failure = pair.failure(0, id);
        assert!(matches!(failure, None | Some(Failure::Revoked)));
    }
    let (mut sent, mut received) = ([9; 8], [0; 8]);
    let other = super::Route {
        context: CONTEXT + 8,
        ..super::route(1, 0, 1)
    };
    let message = crate::Outgoing {
        route: other,
        memory: super::memory(&mut sent),
        synchronous: false,
    };
    let send = pair.engines[0].send(message).unwrap();
    let from = super::Route { peer: 0, ..other };
    let message = crate::Incoming {
        route: from,
        memory: super::memory(&mut received),
    };
    let receive = pair.engines[1].receive(message).unwrap();
    assert_eq!(pair.failure(1, receive), None);
    assert_eq!(pair.failure(0, send), None);
    assert_eq!(received, [9; 8]);
}

/// A message that is being received comes to its end, and its buffers are left alone after that.
#[test]
fn what_is_matched_goes_on() {
    let pair = Pair::new(64);
    let (mut sent, mut received) = (vec![4; LONG], vec![0; LONG]);
    let receive = pair.engines[1].receive_from(0, 1, &mut received);
    let send = pair.engines[0].send_to(1, 1, &mut sent, false);
    pair.engines[1].progress();
    pair.revoke(1);
    pair.revoke(0);
    let failures = [pair.failure(1, receive), pair.failure(0, send)];
    assert!(
        failures
            .iter()
            .all(|failure| matches!(failure, None | Some(Failure::Revoked)))
    );
}

static HEARD: Mutex<Vec<Notice>> = Mutex::new(Vec::new());
static LOST: Mutex<Vec<Peer>> = Mutex::new(Vec::new());

#[test]
fn notices_come_in_order_and_before_messages_that_wait() {
    let network = Network::new(13, 2, 1000);
    let listener = Listener {
        notice: |notice| HEARD.lock().unwrap().push(notice),
        lost: |peer| LOST.lock().unwrap().push(peer),
    };
    let engines: Vec<Engine<Traced>> = engines(&network, 2)
        .into_iter()
        .map(|engine| engine.with_listener(listener))
        .collect();
    let mut buffers = vec![[5; SHORT]; 20];
    let ids: Vec<RequestId> = buffers
        .iter_mut()
        .map(|buffer| engines[0].send_to(1, 1, buffer, false))
        .collect();
    for number in 0..50u8 {
        engines[0].notify(Notice {
            peer: 1,
            context: 77,
            bytes: vec![number; usize::from(number)],
        });
    }
    while HEARD.lock().unwrap().len() < 50 {
        engines.iter().for_each(|engine| _ = engine.progress());
    }
    let waits = ids.iter().any(|&id| !engines[0].is_complete(id));
    assert!(waits, "messages had gone before");
    for (number, notice) in (0..).zip(HEARD.lock().unwrap().iter()) {
        assert_eq!((notice.peer, notice.context), (0, 77));
        assert_eq!(notice.bytes, vec![number as u8; number]);
    }
    ids.into_iter().for_each(|id| _ = settle(&engines, 0, id));
    assert!(LOST.lock().unwrap().is_empty());
}

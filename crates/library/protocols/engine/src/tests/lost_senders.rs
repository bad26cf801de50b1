//! Every call that waits or tests, for a message of a process that is lost or of any: one table. No call waits for ever, and
//! none fails because of a process that could not have sent the message.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_transport::Peer;
use weft_transport::loopback::Network;

use super::{CONTEXT, Traced, engines, memory, route};
use crate::{
    ANYBODY, Engine, Failure, Incoming, Members, NotExtracted, Pace, RequestId, Route, Wanted,
};

const LIMIT: usize = 1000;
const ME: Peer = 0;
const DEAD: Peer = 1;
const OTHER: Peer = 2;
/// A context whose processes are the first and the last of three, as [`Some`] says.
const WITHOUT_DEAD: u32 = CONTEXT + 8;

struct TwoComms;

impl Members for TwoComms {
    fn contains(&self, context: u32, peer: Peer) -> bool {
        (0..3).any(|number| self.member(context, number) == Some(peer))
    }

    fn member(&self, context: u32, number: u32) -> Option<Peer> {
        match context {
            CONTEXT => (number < 3).then_some(number),
            _ => [ME, OTHER].get(number as usize).copied(),
        }
    }

    fn count_and_own(&self, context: u32) -> (u32, u32) {
        match context {
            CONTEXT => (3, ME),
            _ => (2, 0),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Wait,
    WaitAny,
    /// A thread that sleeps is told.
    WaitAsleep,
    TestLoop,
    TestAllLanesLoop,
    Probe,
    ProbeLoop,
    Extract,
    ExtractLoop,
    Operation,
}

const CALLS: [Call; 10] = [
    Call::Wait,
    Call::WaitAny,
    Call::WaitAsleep,
    Call::TestLoop,
    Call::TestAllLanesLoop,
    Call::Probe,
    Call::ProbeLoop,
    Call::Extract,
    Call::ExtractLoop,
    Call::Operation,
];

struct Stand {
    network: Arc<Network>,
    me: &'static Engine<Traced>,
    other: Engine<Traced>,
}

fn stand(on_demand: bool) -> Stand {
    let network = match on_demand {
        true => Network::on_demand(3, 64, LIMIT),
        false => Network::new(3, 64, LIMIT),
    };
    let mut engines = engines(&network, 3);
    let other = engines.swap_remove(OTHER as usize);
    let me = engines.swap_remove(ME as usize);
    let me = Box::leak(Box::new(me.with_members(Arc::new(TwoComms))));
    Stand { network, me, other }
}

/// What the call says: the failure, or the message's source.
fn call(
    engine: &'static Engine<Traced>,
    call: Call,
    context: u32,
    source: i32,
) -> Result<i32, Failure> {
    let got: &'static mut [u8; 8] = Box::leak(Box::new([0; 8]));
    let peer = Peer::try_from(source).unwrap_or(ANYBODY);
    let route = Route {
        context,
        peer,
        ..route(peer, source, -1)
    };
    let wanted = Wanted {
        lane: 0,
        peer,
        context,
        source,
        tag: -1,
    };
    let mut receive = || {
        let memory = memory(got);
        engine.receive(Incoming { route, memory }).unwrap()
    };
    let of = |status: crate::Status| match status.failure {
        None => Ok(status.source),
        Some(failure) => Err(failure),
    };
    let extracted = |found: Result<(RequestId, crate::Status), NotExtracted>| match found {
        Ok((id, status)) => {
            engine.wait(engine.receive_extracted(
                id,
                weft_memory::Memory::contiguous(std::ptr::NonNull::dangling().as_ptr(), 0),
            ));
            Ok(status.source)
        }
        Err(NotExtracted::Failed(failure)) => Err(failure),
        Err(NotExtracted::Exhausted) => panic!("there are requests"),
    };
    match call {
        Call::Wait => of(engine.wait(receive())),
        Call::WaitAny => {
            let ids = [engine.external(0).unwrap(), receive()];
            engine.wait_any(&ids);
            engine.complete_external(ids[0]);
            engine.finish(ids[0]);
            of(engine.finish(ids[1]))
        }
        Call::WaitAsleep => {
            // The other threads of the process are not what finds out: nobody else makes progress.
            let id = receive();
            of(std::thread::scope(|scope| {
                scope.spawn(|| engine.wait(id)).join().unwrap()
            }))
        }
        Call::TestLoop => {
            let id = receive();
            while !engine.is_complete(id) {
                engine.progress_lane(0);
            }
            of(engine.finish(id))
        }
        Call::TestAllLanesLoop => {
            let id = receive();
            while !engine.is_complete(id) {
                engine.progress();
            }
            of(engine.finish(id))
        }
        Call::Probe => engine.probe_blocking(wanted).map(|status| status.source),
        Call::ProbeLoop => loop {
            if let Some(status) = engine.probe(wanted)? {
                return Ok(status.source);
            }
        },
        Call::Extract => extracted(engine.extract_blocking(wanted)),
        Call::ExtractLoop => loop {
            if let Some(found) = engine.extract(wanted).transpose() {
                return extracted(found);
            }
        },
        Call::Operation => {
            let id = receive();
            let make = |awaited: crate::Awaited| async move {
                std::future::poll_fn(|_| engine.poll_request(&awaited, id)).await
            };
            of(engine.wait(engine.begin(0, context, make).unwrap()))
        }
    }
}

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Before,
    /// And it is known.
    LongBefore,
    During,
}

#[test]
fn no_call_waits_for_a_process_that_is_lost() {
    for which in CALLS {
        for source in [DEAD as i32, -1] {
            for when in [When::Before, When::LongBefore, When::During] {
                for on_demand in [false, true] {
                    let what = format!("{which:?} {source} {when:?} {on_demand}");
                    let stand = stand(on_demand);
                    if when != When::During {
                        stand.network.kill(DEAD);
                    }
                    if when == When::LongBefore {
                        let mut byte = [0];
                        let send = stand.me.send_to(DEAD, 1, &mut byte, true);
                        assert_eq!(stand.me.wait(send).failure, Some(Failure::PeerLost));
                    }
                    let engine = stand.me;
                    let (sender, said) = std::sync::mpsc::channel();
                    std::thread::spawn(move || sender.send(call(engine, which, CONTEXT, source)));
                    if when == When::During {
                        std::thread::sleep(std::time::Duration::from_millis(30));
                        stand.network.kill(DEAD);
                    }
                    let said = said.recv_timeout(std::time::Duration::from_secs(20));
                    assert_eq!(
                        said,
                        Ok(Err(Failure::PeerLost)),
                        "{what}\n{}",
                        engine.report()
                    );
                }
            }
        }
    }
}

#[test]
fn a_message_that_is_there_is_had_first() {
    for which in CALLS {
        for source in [OTHER as i32, -1] {
            let stand = stand(false);
            stand.network.kill(DEAD);
            let mut byte = [0];
            let send = stand.me.send_to(DEAD, 1, &mut byte, true);
            assert_eq!(stand.me.wait(send).failure, Some(Failure::PeerLost));
            let sent = stand.other.send_to(ME, 1, &mut byte, false);
            assert_eq!(sent, RequestId::DONE);
            while stand.me.counts().tally.unexpected == 0 {
                stand.me.progress();
            }
            let said = call(stand.me, which, CONTEXT, source);
            assert_eq!(said, Ok(OTHER as i32), "{which:?}");
        }
    }
}

/// From any process of a communicator that the dead one was never in, and from another that lives.
#[test]
fn nothing_fails_for_a_process_that_could_not_have_sent_it() {
    for which in CALLS {
        for (context, source) in [(WITHOUT_DEAD, -1), (CONTEXT, OTHER as i32)] {
            for dies_during in [false, true] {
                let stand = stand(false);
                let engine = stand.me;
                let mut byte = [0];
                if !dies_during {
                    stand.network.kill(DEAD);
                    let send = stand.me.send_to(DEAD, 1, &mut byte, true);
                    assert_eq!(stand.me.wait(send).failure, Some(Failure::PeerLost));
                }
                let (sender, said) = std::sync::mpsc::channel();
                std::thread::spawn(move || sender.send(call(engine, which, context, source)));
                stand.network.kill(DEAD);
                std::thread::sleep(std::time::Duration::from_millis(150));
                let what = format!("{which:?} {context} {source} {dies_during}");
                assert!(said.try_recv().is_err(), "{what}");
                let route = Route {
                    context,
                    ..route(ME, OTHER as i32, 1)
                };
                let memory = memory(&mut byte);
                let message = crate::Outgoing {
                    route,
                    memory,
                    synchronous: false,
                };
                stand.other.send(message).unwrap();
                let said = said.recv_timeout(std::time::Duration::from_secs(20));
                assert_eq!(said, Ok(Ok(OTHER as i32)), "{what}\n{}", engine.report());
            }
        }
    }
}

/// Requests have run out: the message stays where it is (MPI-5.0 §3.8.2).
#[test]
fn a_matched_probe_without_a_request_leaves_the_message() {
    let network = Network::new(3, 64, LIMIT);
    let pair = engines(&network, 2);
    let mut few = Engine::new(network.fabric(1, 2), 1, 2, Pace::SHARED, 1);
    few.limit_requests(1);
    pair[0].send_to(1, 1, &mut [5; 8], false);
    let wanted = Wanted {
        lane: 0,
        peer: 0,
        context: CONTEXT,
        source: 0,
        tag: 1,
    };
    let only = few.external(0).unwrap();
    while few.probe(wanted) == Ok(None) {}
    assert_eq!(few.extract(wanted), Err(NotExtracted::Exhausted));
    assert_eq!(few.extract_blocking(wanted), Err(NotExtracted::Exhausted));
    few.complete_external(only);
    few.finish(only);
    let (id, _) = few.extract_blocking(wanted).unwrap();
    let mut got = [0; 8];
    few.wait(few.receive_extracted(id, memory(&mut got)));
    assert_eq!(got, [5; 8]);
}

/// Very many members, of which every third is each of three processes, and how many of them were looked at.
#[derive(Default)]
struct Crowd(AtomicU32);

impl Members for Crowd {
    fn contains(&self, _: u32, peer: Peer) -> bool {
        peer < 3
    }

    fn member(&self, _: u32, number: u32) -> Option<Peer> {
        self.0.fetch_add(1, Ordering::Relaxed);
        (number < 1_000_000).then_some(number % 3)
    }

    fn count_and_own(&self, _: u32) -> (u32, u32) {
        (1_000_000, 999_999)
    }
}

#[test]
fn a_wait_for_anybody_does_not_look_at_all_members_at_once() {
    let network = Network::new(3, 64, LIMIT);
    let mut engines = engines(&network, 3);
    let crowd = Arc::new(Crowd::default());
    let me = engines.swap_remove(ME as usize).with_members(crowd.clone());
    let got = Box::leak(Box::new([0; 8]));
    let id = me
        .receive(Incoming {
            route: route(ANYBODY, -1, -1),
            memory: memory(got),
        })
        .unwrap();
    let looked = || crowd.0.load(Ordering::Relaxed);
    while looked() == 0 {
        me.progress_lane(0);
    }
    assert_eq!(looked(), 16);
    me.cancel(id);
    me.wait(id);
}

#[test]
fn the_user_is_told_of_no_loss_while_the_process_leaves() {
    for is_leaving in [true, false] {
        let stand = stand(false);
        stand.me.set_leaving(is_leaving);
        stand.network.kill(DEAD);
        let mut byte = [0];
        let send = stand.me.send_to(DEAD, 1, &mut byte, true);
        assert_eq!(stand.me.wait(send).failure, Some(Failure::PeerLost));
        assert_eq!(stand.me.shared.reported.has_told(DEAD), !is_leaving);
    }
}

/// The link to it tells nothing, and no receive waits for it.
#[test]
fn who_has_not_taken_a_message_is_watched() {
    for synchronous in [true, false] {
        let network = Network::silent(3, 64, LIMIT);
        let engines = engines(&network, 2);
        let mut bytes = vec![0; if synchronous { 1 } else { 10 * LIMIT }];
        let send = engines[0].send_to(DEAD, 1, &mut bytes, synchronous);
        engines[1].progress();
        network.kill(DEAD);
        let begin = std::time::Instant::now();
        while !engines[0].is_complete(send) {
            assert!(begin.elapsed().as_secs() < 20, "{}", engines[0].report());
            engines[0].progress_for_poll();
        }
        let failure = engines[0].finish(send).failure;
        assert_eq!(failure, Some(Failure::PeerLost));
    }
}

//! Every kind of request, and every step at which its peer can be lost or a packet can be a lie, in turn: nothing is completed twice
//! and no slot freed twice (the engine's own assertions see both), nothing is left and nothing waits.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;

use weft_memory::Memory;
use weft_routes::Routes;
use weft_transport::faulty::{Fault, Faulty, Plan};
use weft_transport::loopback::{Loopback, Network};
use weft_transport::tracer::{Recent, Tracer};
use weft_transport::{Direction, Endpoint, Exposure, Fabric, Lost};

use super::{CONTEXT, LINES, Traced, memory, route, traced};
use crate::throttle::UNEXPECTED_BYTES;
use crate::unexpected::Payload;
use crate::{
    AccessTarget, Awaited, Engine, Failure, Incoming, Outgoing, Pace, RequestId, Status, Wanted,
};

const LIMIT: usize = 1000;
const LONG: usize = 5000;
/// Turns of both engines after which a request counts as hung.
const TURNS: usize = 3000;

/// What the engine whose network is faulty does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Send(Way),
    /// Asked to be cancelled once it is announced, its receive never posted.
    CancelledSend(Way),
    /// As much, its receive posted at the same time.
    CancelledLate(Way),
    DetachedSend(Way),
    Receive(Way),
    /// Its message is here before.
    ReceiveUnexpected(Way),
    ReceiveAny(Way),
    DetachedReceive(Way),
    CancelledReceive,
    Extracted(Way),
    Operation,
    /// To memory that the other exposes.
    Access(Direction),
    DetachedAccess,
}

/// By which protocol a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Eager,
    /// Behind others, in a way that is full.
    Queued,
    Synchronous,
    Long,
    LongSynchronous,
    /// The receiver has too much and its sender keeps the payload.
    RtsOnly,
    Failed,
}

const WAYS: [Way; 7] = [
    Way::Eager,
    Way::Queued,
    Way::Synchronous,
    Way::Long,
    Way::LongSynchronous,
    Way::RtsOnly,
    Way::Failed,
];

fn kinds() -> Vec<Kind> {
    let of_way: [fn(Way) -> Kind; 8] = [
        Kind::Send,
        Kind::CancelledSend,
        Kind::CancelledLate,
        Kind::DetachedSend,
        Kind::Receive,
        Kind::ReceiveUnexpected,
        Kind::ReceiveAny,
        Kind::Extracted,
    ];
    let mut kinds: Vec<Kind> = of_way
        .iter()
        .flat_map(|kind| WAYS.map(kind))
        .chain(WAYS.map(Kind::DetachedReceive))
        .collect();
    kinds.extend([
        Kind::CancelledReceive,
        Kind::Operation,
        Kind::Access(Direction::Write),
        Kind::Access(Direction::Read),
        Kind::DetachedAccess,
    ]);
    kinds
}

type Own = &'static Engine<Tracer<Faulty<Routes<Loopback, Loopback>>>>;
type Other = &'static Engine<Traced>;

struct Run {
    own: Own,
    other: Other,
    network: Arc<Network>,
    plan: Arc<Plan>,
    trace: Arc<Recent>,
    what: String,
    /// Not freed: an engine that is wrong would write there.
    memory: Vec<Box<[u8]>>,
    /// A lie may have cost a message: nobody waits for it.
    is_lied_to: bool,
    exposure: Option<Exposure>,
    own_ids: Vec<RequestId>,
    other_ids: Vec<RequestId>,
}

impl Run {
    fn new(plan: Arc<Plan>, what: String, shape: Shape) -> Run {
        let network = match shape.on_demand {
            true => Network::on_demand(5, shape.capacity, LIMIT),
            false => Network::new(5, shape.capacity, LIMIT),
        };
        let trace = Recent::new(LINES);
        // The other way leads to nobody.
        let (there, idle) = (network.fabric(0, 2), Network::new(6, 1, LIMIT).fabric(0, 1));
        let routes = match shape.is_far {
            true => Routes::new(idle, Some(there)),
            false => Routes::new(there, Some(idle)),
        };
        let faulty = Faulty::new(routes, plan.clone());
        let own = traced(faulty, 0, &trace);
        let other = traced(network.fabric(1, 2), 1, &trace);
        Run {
            own: Box::leak(Box::new(Engine::new(own, 0, 2, Pace::SHARED, 1))),
            other: Box::leak(Box::new(Engine::new(other, 1, 2, Pace::SHARED, 1))),
            network,
            plan,
            trace,
            what,
            memory: Vec::new(),
            is_lied_to: false,
            exposure: None,
            own_ids: Vec::new(),
            other_ids: Vec::new(),
        }
    }

    fn turn(&self) {
        self.own.progress();
        self.other.progress();
    }

    fn turns(&self, count: usize) {
        (0..count).for_each(|_| self.turn());
    }

    fn bytes(&mut self, way: Way) -> Memory {
        let bytes = match way {
            Way::Long | Way::LongSynchronous => LONG,
            _ => 100,
        };
        let mut bytes = vec![7; bytes].into_boxed_slice();
        let memory = memory(&mut bytes);
        self.memory.push(bytes);
        memory
    }

    /// What has to be so before, for the message of a sender to go its way.
    fn prepare<F: Fabric, G: Fabric>(
        &mut self,
        way: Way,
        sender: &Engine<F>,
        receiver: &Engine<G>,
    ) {
        match way {
            Way::RtsOnly => {
                // As if very much were here; the account is put right at the end.
                let lane = receiver.lane(0);
                let mut state = lane.enter_soon();
                let change = state.core.throttle.stored(sender.me, UNEXPECTED_BYTES + 1);
                state.core.tell_throttle(sender.me, change);
                state.act();
                receiver.leave(lane, state);
            }
            Way::Queued => {
                for _ in 0..5 {
                    let memory = self.bytes(Way::Eager);
                    let id = begin_send(sender, receiver.me, 8, Way::Eager, memory);
                    sender.detach(id);
                }
            }
            _ => {}
        }
    }

    fn send<F: Fabric, G: Fabric>(
        &mut self,
        way: Way,
        sender: &Engine<F>,
        receiver: &Engine<G>,
    ) -> RequestId {
        self.prepare(way, sender, receiver);
        let memory = self.bytes(way);
        begin_send(sender, receiver.me, 7, way, memory)
    }

    fn receive<F: Fabric, G: Fabric>(
        &mut self,
        way: Way,
        receiver: &Engine<F>,
        sender: &Engine<G>,
        any: bool,
    ) -> RequestId {
        let source = if any { -1 } else { sender.me as i32 };
        let memory = self.bytes(way);
        let peer = if any { crate::ANYBODY } else { sender.me };
        let route = route(peer, source, 7);
        receiver.receive(Incoming { route, memory }).unwrap()
    }

    fn begin(&mut self, kind: Kind) {
        let (own, other) = (self.own, self.other);
        match kind {
            Kind::Send(way) | Kind::DetachedSend(way) | Kind::CancelledLate(way) => {
                let send = self.send(way, own, other);
                let receive = self.receive(way, other, own, false);
                self.other_ids.push(receive);
                match kind {
                    Kind::DetachedSend(_) => own.detach(send),
                    Kind::CancelledLate(_) => {
                        self.turns(3);
                        own.cancel(send);
                        self.own_ids.push(send);
                        self.turns(20);
                        // It may have been cancelled.
                        other.cancel(receive);
                    }
                    _ => self.own_ids.push(send),
                }
            }
            Kind::CancelledSend(way) => {
                let send = self.send(way, own, other);
                self.turns(10);
                own.cancel(send);
                self.own_ids.push(send);
            }
            Kind::Receive(way) | Kind::ReceiveAny(way) | Kind::DetachedReceive(way) => {
                let any = matches!(kind, Kind::ReceiveAny(_));
                let receive = self.receive(way, own, other, any);
                let send = self.send(way, other, own);
                self.other_ids.push(send);
                match kind {
                    Kind::DetachedReceive(_) => own.detach(receive),
                    _ => self.own_ids.push(receive),
                }
            }
            Kind::ReceiveUnexpected(way) => {
                let send = self.send(way, other, own);
                self.other_ids.push(send);
                self.turns(20);
                let receive = self.receive(way, own, other, false);
                self.own_ids.push(receive);
                // As a thread that waits or tests for long.
                self.watch();
            }
            Kind::CancelledReceive => {
                let receive = self.receive(Way::Eager, own, other, false);
                self.turns(3);
                own.cancel(receive);
                self.own_ids.push(receive);
            }
            Kind::Extracted(way) => self.extract(way),
            Kind::Operation => self.operate(),
            Kind::Access(direction) => {
                let access = self.access(direction);
                self.own_ids.push(access);
            }
            Kind::DetachedAccess => {
                let access = self.access(Direction::Write);
                own.detach(access);
            }
        }
    }

    fn watch(&self) {
        let lane = self.own.lane(0);
        let mut state = lane.enter_soon();
        state.watch_awaited();
        self.own.leave(lane, state);
    }

    fn extract(&mut self, way: Way) {
        let (own, other) = (self.own, self.other);
        let send = self.send(way, other, own);
        self.other_ids.push(send);
        let wanted = Wanted {
            lane: 0,
            peer: 1,
            context: CONTEXT,
            source: 1,
            tag: 7,
        };
        for turn in 0..TURNS {
            self.turn();
            if self.is_lied_to && turn > 40 {
                return;
            }
            match own.extract(wanted) {
                Ok(None) => continue,
                Ok(Some((message, _))) => {
                    self.turns(5);
                    let memory = self.bytes(way);
                    own.receive_extracted(message, memory);
                    self.own_ids.push(message);
                }
                Err(_) => {}
            }
            return;
        }
        panic!("{}: a probe waits for ever", self.what);
    }

    fn access(&mut self, direction: Direction) -> RequestId {
        let (there, here) = (self.bytes(Way::Long), self.bytes(Way::Eager));
        let exposure = self.other.fabric().expose(0, there);
        let exposure = self.exposure.insert(exposure.expect("a loopback exposes"));
        let place = AccessTarget {
            lane: 0,
            peer: 1,
            context: CONTEXT,
            exposed: exposure.exposed,
            offset: 300,
        };
        self.own.access(place, direction, here).unwrap()
    }

    /// A message there and one back.
    fn operate(&mut self) {
        let both = [self.bytes(Way::Long), self.bytes(Way::Synchronous)];
        let theirs = [self.bytes(Way::Long), self.bytes(Way::Synchronous)];
        let (own, other) = (self.own, self.other);
        let [there, back] = both;
        let make = |awaited: Awaited| async move {
            let send = begin_send(own, 1, 7, Way::Long, there);
            let sent = poll_fn(|_| own.poll_request(&awaited, send)).await;
            let incoming = Incoming {
                route: route(1, 1, 7),
                memory: back,
            };
            let receive = own.receive(incoming).unwrap();
            let received = poll_fn(|_| own.poll_request(&awaited, receive)).await;
            Status {
                failure: sent.failure.or(received.failure),
                ..received
            }
        };
        self.own_ids.push(own.begin(0, CONTEXT, make).unwrap());
        let [there, back] = theirs;
        let incoming = Incoming {
            route: route(0, 0, 7),
            memory: there,
        };
        self.other_ids.push(other.receive(incoming).unwrap());
        self.other_ids
            .push(begin_send(other, 0, 7, Way::Synchronous, back));
    }

    /// Until all is over; what is left then is wrong.
    fn end(mut self) {
        let (own, other) = (self.own, self.other);
        let over = |run: &Run| {
            run.own_ids.iter().all(|&id| own.is_complete(id))
                && run.other_ids.iter().all(|&id| other.is_complete(id))
        };
        for _ in 0..TURNS {
            if over(&self) {
                break;
            }
            self.turn();
        }
        let is_over = over(&self);
        assert!(
            is_over,
            "{}: waits\n{}{}",
            self.what,
            own.report(),
            other.report()
        );
        let mut failures = Vec::new();
        for id in self.own_ids.drain(..) {
            failures.push(own.finish(id).failure);
        }
        for id in self.other_ids.drain(..) {
            other.finish(id);
        }
        self.turns(50);
        let is_lost = is_clean(own, &self.what, 1) | is_clean(other, &self.what, 0);
        if is_lost {
            assert_eq!(self.network.open_transfers(), 0, "{}", self.what);
        } else {
            let told = failures.contains(&Some(Failure::PeerLost));
            assert!(!told, "{}: fails without a loss", self.what);
        }
        // SAFETY: made by `Box::leak` in `new`; the operations that borrow them are over, and nobody else does.
        unsafe {
            drop(Box::from_raw(std::ptr::from_ref(own).cast_mut()));
            drop(Box::from_raw(std::ptr::from_ref(other).cast_mut()));
        }
    }
}

/// The engines of a run that fails are never dropped.
impl Drop for Run {
    fn drop(&mut self) {
        self.trace.show_if_panicking();
    }
}

fn begin_send<F: Fabric>(
    sender: &Engine<F>,
    to: u32,
    tag: i32,
    way: Way,
    memory: Memory,
) -> RequestId {
    let route = route(to, sender.me as i32, tag);
    if way == Way::Failed {
        return sender.send_failure(route, 9).unwrap();
    }
    let synchronous = matches!(way, Way::Synchronous | Way::LongSynchronous);
    let message = Outgoing {
        route,
        memory,
        synchronous,
    };
    sender.send(message).unwrap()
}

/// Nothing is left in an engine but whole messages that nobody received. Whether it has lost its peer.
fn is_clean<F: Fabric>(engine: &Engine<F>, what: &str, peer: u32) -> bool {
    let lane = engine.lane(0);
    let state = lane.enter_soon();
    let core = &state.core;
    let is_lost = core.lost.contains(&peer);
    assert!(
        core.in_flight.is_empty(),
        "{what}: {} in flight",
        core.in_flight.len()
    );
    assert!(
        core.outbound.is_empty() && core.actions.is_empty(),
        "{what}: something to do"
    );
    assert_eq!(core.detached, 0, "{what}");
    assert_eq!(core.matching.posted_len(), 0, "{what}");
    let promised = core.matching.unexpected_iter().filter(|(_, _, message)| {
        matches!(
            message.payload,
            Payload::Rts { .. } | Payload::RtsOnly { .. }
        )
    });
    assert_eq!(
        promised.count() * usize::from(is_lost),
        0,
        "{what}: promised by the lost"
    );
    engine.leave(lane, state);
    // Each free slot is given out once.
    let mut byte = [0];
    let ids: Vec<RequestId> = (0..40)
        .map(|tag| engine.receive_from(engine.me as i32, tag, &mut byte))
        .collect();
    let indices: BTreeSet<u32> = ids.iter().map(|id| id.index()).collect();
    assert_eq!(indices.len(), ids.len(), "{what}: a slot is free twice");
    for id in ids {
        assert!(!engine.is_complete(id), "{what}");
        engine.cancel(id);
        engine.finish(id);
    }
    is_lost
}

/// What the way between the two is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Packets that it holds.
    capacity: usize,
    /// Whether links are made first.
    on_demand: bool,
    /// Whether the other is on another host.
    is_far: bool,
}

const NETWORKS: [Shape; 3] = [
    Shape {
        capacity: 64,
        on_demand: false,
        is_far: false,
    },
    Shape {
        capacity: 2,
        on_demand: false,
        is_far: true,
    },
    Shape {
        capacity: 64,
        on_demand: true,
        is_far: true,
    },
];

fn run(kind: Kind, network: Shape, plan: Arc<Plan>, fault: Option<(usize, Fault)>) -> usize {
    let what = format!("{kind:?}, {network:?}, fault {fault:?}");
    let mut run = Run::new(plan.clone(), what, network);
    run.begin(kind);
    let plan = run.plan.clone();
    run.end();
    plan.steps()
}

#[test]
fn nothing_is_twice_or_left_or_waits_wherever_the_peer_is_lost() {
    let mut runs = 0;
    for kind in kinds() {
        for network in NETWORKS {
            let seed = 1 + runs as u64;
            let steps = run(kind, network, Plan::sound(seed), None);
            // Those after the end of the request make no difference. On the other networks every third one is tried.
            let stride = if network == NETWORKS[0] { 1 } else { 3 };
            for step in (0..steps.min(60)).step_by(stride) {
                let fault = Fault::Lose(1);
                run(
                    kind,
                    network,
                    Plan::with(seed, step, fault),
                    Some((step, fault)),
                );
                runs += 1;
            }
        }
    }
    assert!(runs > 3000, "{runs} runs");
}

#[test]
fn nothing_is_twice_or_waits_whatever_packet_is_a_lie() {
    for kind in kinds() {
        let steps = run(kind, NETWORKS[0], Plan::sound(1), None);
        for step in (0..steps.min(30)).step_by(6) {
            for word in 0..4 {
                for value in [1, u64::MAX] {
                    lie(kind, step, Fault::Lie { word, value });
                }
            }
            lie(kind, step, Fault::Duplicate);
        }
    }
}

/// What is asked of the other is that it survives, and knows whether it has lost this one.
fn lie(kind: Kind, step: usize, fault: Fault) {
    let what = format!("{kind:?}, step {step}, {fault:?}");
    let mut run = Run::new(Plan::with(1, step, fault), what, NETWORKS[0]);
    run.is_lied_to = true;
    run.begin(kind);
    run.turns(40);
    // A message may be lost by its lie: the peer gives up.
    let lane = run.own.lane(0);
    let mut state = lane.enter_soon();
    state.endpoint.end(1, &Lost("over".into()));
    run.own.leave(lane, state);
    run.end();
}

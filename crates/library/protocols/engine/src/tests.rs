//! Engines on an in-process network, driven by one thread, against a linear-scan oracle of MPI's matching rules.

mod access;
mod all_lanes;
mod background;
mod connecting;
mod counts;
mod deferred;
mod enquiring;
mod every_step;
mod external;
mod lies;
mod lost_senders;
mod operations;
mod oracle;
mod polling;
mod protocol;
mod revoking;
mod storms;
mod tracing;
mod waiting;

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_memory::Memory;
use weft_routes::Routes;
use weft_transport::faulty::{Faulty, Plan};
use weft_transport::loopback::{Loopback, Network};
use weft_transport::tracer::{Recent, Trace, Tracer};
use weft_transport::{Fabric, Peer};

use crate::{ANYBODY, Engine, Incoming, Outgoing, Pace, RequestId, Route, Status, describe_packet};

const CONTEXT: u32 = 8;
/// Lines of the trace that a test shows when it fails.
const LINES: usize = 40;

/// What tests send through: a network of which the last lines are known.
type Traced = Tracer<Loopback>;

fn traced<F>(fabric: F, me: Peer, lines: &Arc<Recent>) -> Tracer<F> {
    Tracer::new(fabric, Trace::new(me, describe_packet, lines.clone()))
}

fn engines(network: &Arc<Network>, peers: u32) -> Vec<Engine<Traced>> {
    engines_telling(network, peers, &Recent::new(LINES))
}

fn engines_telling(network: &Arc<Network>, peers: u32, lines: &Arc<Recent>) -> Vec<Engine<Traced>> {
    let engine = |me| {
        let fabric = traced(network.fabric(me, peers), me, lines);
        Engine::new(fabric, me, peers, Pace::SHARED, 1)
    };
    (0..peers).map(engine).collect()
}

type Held = Faulty<Loopback>;

/// As [`engines`], on hosts: `hosts` has each process's. Those of one host are on the first network and the others on the second, and
/// both hold back what they tell, by a seed. Every second process is traced as a user's is.
fn engines_on_hosts(
    seed: u64,
    networks: [&Arc<Network>; 2],
    hosts: &[u32],
) -> Vec<Engine<Routes<Held, Held>>> {
    let peers = hosts.len() as u32;
    let lines = Recent::new(LINES);
    let held = |network: &Arc<Network>, me, members: BTreeSet<Peer>| {
        Faulty::new(network.part(me, members), Plan::sound(seed + u64::from(me)))
    };
    let engine = |me: Peer| {
        let is_near = |peer: &Peer| hosts[*peer as usize] == hosts[me as usize];
        let (near, far) = (0..peers).partition(is_near);
        let [near, far] = [(networks[0], near), (networks[1], far)]
            .map(|(network, members)| held(network, me, members));
        let far = hosts
            .iter()
            .any(|&host| host != hosts[me as usize])
            .then_some(far);
        let routes = Routes::new(near, far);
        let fabric = match me % 2 {
            0 => routes,
            _ => {
                let nobody = held(&Network::new(seed, 1, 200), me, BTreeSet::from([me]));
                routes.traced(nobody, Trace::new(me, describe_packet, lines.clone()))
            }
        };
        Engine::new(fabric, me, peers, Pace::SHARED, 1)
    };
    (0..peers).map(engine).collect()
}

fn memory(bytes: &mut [u8]) -> Memory {
    Memory::contiguous(bytes.as_mut_ptr(), bytes.len())
}

fn route(peer: Peer, source: i32, tag: i32) -> Route {
    Route {
        lane: 0,
        peer,
        context: CONTEXT,
        source,
        tag,
    }
}

impl<F: Fabric> Engine<F> {
    /// So that requests run out. Before the engine is used.
    fn limit_requests(&mut self, limit: u32) {
        self.slots = Arc::new(crate::slots::Slots::with_limit(limit));
        self.shared.slots = self.slots.clone();
    }

    fn send_to(&self, peer: Peer, tag: u32, bytes: &mut [u8], synchronous: bool) -> RequestId {
        let route = route(peer, self.me as i32, tag as i32);
        let message = Outgoing {
            route,
            memory: memory(bytes),
            synchronous,
        };
        self.send(message).unwrap()
    }

    fn receive_from(&self, source: i32, tag: i32, bytes: &mut [u8]) -> RequestId {
        let route = route(u32::try_from(source).unwrap_or(ANYBODY), source, tag);
        let memory = memory(bytes);
        self.receive(Incoming { route, memory }).unwrap()
    }
}

/// Turns all engines until the request of the first is complete, and finishes it.
fn settle<F: Fabric>(engines: &[Engine<F>], of: usize, id: RequestId) -> Status {
    for _ in 0..100_000 {
        if engines[of].is_complete(id) {
            return engines[of].finish(id);
        }
        engines.iter().for_each(|engine| {
            engine.progress();
        });
    }
    panic!("no completion:\n{}", engines[of].report());
}

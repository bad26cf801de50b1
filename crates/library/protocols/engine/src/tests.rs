//! Engines on an in-process network, driven by one thread, against a linear-scan oracle of MPI's matching rules.

mod connecting;
mod counts;
mod deferred;
mod every_step;
mod external;
mod lies;
mod lost_senders;
mod operations;
mod oracle;
mod protocol;
mod waiting;

use std::sync::Arc;

use weft_memory::Memory;
use weft_transport::loopback::{Loopback, Network};
use weft_transport::{Fabric, Peer};

use crate::{ANYBODY, Engine, Incoming, Outgoing, Pace, RequestId, Route, Status};

const CONTEXT: u32 = 8;

fn engines(network: &Arc<Network>, peers: u32) -> Vec<Engine<Loopback>> {
    let engine = |me| Engine::new(network.fabric(me, peers), me, peers, Pace::SHARED, 1);
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

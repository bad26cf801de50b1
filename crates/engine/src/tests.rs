//! Engines on an in-process network, driven by one thread, against a linear-scan oracle of MPI's matching rules.

mod counts;
mod external;
mod operations;
mod oracle;
mod protocol;
mod put_off;
mod waiting;

use std::sync::Arc;

use weft_transport::loopback::{Loopback, Network};
use weft_transport::{Memory, Peer};

use crate::{Engine, Incoming, Outgoing, Pace, RequestId, Status};

const CONTEXT: u32 = 8;

fn engines(network: &Arc<Network>, peers: u32) -> Vec<Engine<Loopback>> {
    let engine = |me| Engine::new(network.fabric(me, peers), me, peers, Pace::SHARED, 1);
    (0..peers).map(engine).collect()
}

fn memory(bytes: &mut [u8]) -> Memory {
    Memory::contiguous(bytes.as_mut_ptr(), bytes.len())
}

impl Engine<Loopback> {
    fn send_to(&self, peer: Peer, tag: u32, bytes: &mut [u8], synchronous: bool) -> RequestId {
        let source = self.me;
        let memory = memory(bytes);
        let message = Outgoing {
            lane: 0,
            peer,
            context: CONTEXT,
            source,
            tag,
            memory,
            synchronous,
        };
        self.send(message).unwrap()
    }

    fn receive_from(&self, source: i32, tag: i32, bytes: &mut [u8]) -> RequestId {
        let peer = u32::try_from(source).ok();
        self.receive(Incoming {
            lane: 0,
            peer,
            context: CONTEXT,
            source,
            tag,
            memory: memory(bytes),
        })
        .unwrap()
    }
}

/// Turns all engines until the request of the first is complete, and finishes it.
fn settle(engines: &[Engine<Loopback>], of: usize, id: RequestId) -> Status {
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

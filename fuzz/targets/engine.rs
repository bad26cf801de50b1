//! An engine whose peer sends whatever it likes: nothing panics, and once the peer is dead no request waits for it.
//!
//! The input is a list of steps: the engine posts requests, the peer sends packets with any header and any words, or both go on.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use weft_engine::{Engine, Incoming, Outgoing, Pace, RequestId, Route, Wanted};
use weft_fuzz::Input;
use weft_memory::Memory;
use weft_transport::loopback::{Loopback, Network};
use weft_transport::{BulkDescriptor, Cookie, Endpoint, Fabric, Header, Lost, Peer, Sink};

const ME: Peer = 0;
const LIAR: Peer = 1;
const CONTEXT: u32 = 8;
const EAGER_BYTES: usize = 256;
const LONG_BYTES: usize = 1024;

/// What the peer hears: it answers with cookies and descriptors that it was sent, so that lies are nearly true.
#[derive(Default)]
struct Heard(Vec<u64>);

impl Sink for Heard {
    fn packet(&mut self, _: Peer, header: Header, payload: &[u8]) {
        self.0.extend(header.0);
        self.0.extend(
            payload
                .chunks_exact(8)
                .map(|word| u64::from_le_bytes(word.try_into().unwrap())),
        );
    }
    fn sent(&mut self, cookie: Cookie) {
        self.0.push(cookie);
    }
    fn received(&mut self, cookie: Cookie) {
        self.0.push(cookie);
    }
    fn writable(&mut self, _: Peer) {}
    fn connect(&mut self, _: Peer) {}
    fn lost(&mut self, _: Peer, _: &Lost) {}
}

/// A word: a small number, one that was heard, or any.
fn word(input: &mut Input, heard: &[u64]) -> u64 {
    match input.number(1) {
        small @ 0..128 => small,
        known @ 128..240 if !heard.is_empty() => heard[(known as usize - 128) % heard.len()],
        _ => input.number(8),
    }
}

struct World {
    network: Arc<Network>,
    engine: Engine<Loopback>,
    liar: <Loopback as Fabric>::Endpoint,
    heard: Heard,
    requests: Vec<RequestId>,
    /// What requests send and receive; it outlives them.
    buffers: Vec<Box<[u8]>>,
}

impl World {
    fn new(seed: u64) -> World {
        let network = Network::new(seed, 16, EAGER_BYTES);
        let engine = Engine::new(network.fabric(ME, 2), ME, 2, Pace::SHARED, 1);
        // Of some messages the peer is told that they come, or are received, no more.
        let engine = engine.with_answer(|enquiry| (enquiry.tag < 2).then_some(9));
        let liar = network.fabric(LIAR, 2).endpoint(0);
        World {
            network,
            engine,
            liar,
            heard: Heard::default(),
            requests: Vec::new(),
            buffers: Vec::new(),
        }
    }

    fn memory(&mut self, long: bool) -> Memory {
        self.buffers
            .push(vec![1; if long { LONG_BYTES } else { 64 }].into());
        let buffer = self.buffers.last_mut().unwrap();
        Memory::contiguous(buffer.as_mut_ptr(), buffer.len())
    }

    fn step(&mut self, input: &mut Input) -> Option<()> {
        let route = |source, tag| Route {
            lane: 0,
            peer: LIAR,
            context: CONTEXT,
            source,
            tag,
        };
        let choice = input.byte()?;
        let tag = i32::from(choice >> 4 & 3);
        match choice & 15 {
            0..=2 => {
                let memory = self.memory(choice & 128 != 0);
                let synchronous = choice & 64 != 0;
                self.requests.push(
                    self.engine
                        .send(Outgoing {
                            route: route(ME as i32, tag),
                            memory,
                            synchronous,
                        })
                        .ok()?,
                );
            }
            3..=5 => {
                let memory = self.memory(choice & 128 != 0);
                self.requests.push(
                    self.engine
                        .receive(Incoming {
                            route: route(LIAR as i32, tag),
                            memory,
                        })
                        .ok()?,
                );
            }
            6 => {
                let at = input.number(1) as usize;
                if let Some(&id) = self.requests.get(at % self.requests.len().max(1)) {
                    self.engine.cancel(id);
                }
            }
            7 => {
                let _ = self.engine.probe(Wanted {
                    lane: 0,
                    peer: LIAR,
                    context: CONTEXT,
                    source: LIAR as i32,
                    tag,
                });
            }
            8 => {
                self.liar.poll(&mut self.heard);
            }
            9 => {
                let cookie = word(input, &self.heard.0);
                let descriptor =
                    BulkDescriptor(std::array::from_fn(|_| word(input, &self.heard.0)));
                let memory = self.memory(true);
                let _ = self
                    .liar
                    .bulk_receive(ME, descriptor, LONG_BYTES, memory, cookie);
            }
            10 => {
                let memory = self.memory(true);
                if let Ok(descriptor) = self.liar.bulk_send(ME, memory, input.number(1)) {
                    self.heard.0.extend(descriptor.0);
                }
            }
            _ => {
                let kind = input.number(1) % 13;
                let flags = input.number(1) % 8;
                let any = if choice & 128 == 0 {
                    0
                } else {
                    word(input, &[])
                };
                let first = kind | flags << 8 | u64::from(LIAR) << 32 | any;
                let second = u64::from(CONTEXT) | (tag as u64) << 32;
                let words = input.number(1) as usize % (EAGER_BYTES / 8);
                let payload: Vec<u8> = (0..words)
                    .flat_map(|_| word(input, &self.heard.0).to_le_bytes())
                    .collect();
                let _ = self.liar.send(ME, Header([first, second]), &payload, false);
            }
        }
        self.engine.progress();
        Some(())
    }

    /// The peer is dead: all that waits for it is told, each request once.
    fn end(mut self) {
        self.network.kill(LIAR);
        for _ in 0..2000 {
            self.engine.progress();
        }
        for id in std::mem::take(&mut self.requests) {
            // One that was posted after the peer was lost is told when it is waited for. A wait without end is a hang.
            if self.engine.is_complete(id) {
                self.engine.finish(id);
            } else {
                self.engine.wait(id);
            }
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let mut world = World::new(input.number(1));
    while world.step(&mut input).is_some() {}
    world.end();
});

//! Engines over a network, each in a thread of its own: what they say to one another arrives, whatever its length and however it lies in
//! memory, on several lanes, awake and asleep.

use std::collections::HashMap;
use std::sync::{Arc, Barrier};

use weft_contract::{Cards, Random, memory, strided};
use weft_engine::{ANYBODY, Engine, Incoming, Outgoing, Pace, RequestId, Route};
use weft_memory::Memory;
use weft_transport::Peer;

use super::{Net, attach, card};

const CONTEXT: u32 = 8;

/// A message: the two ends know it by the number of the seed.
#[derive(Clone, Copy)]
pub struct Message {
    pub bytes: usize,
    pub lane: u32,
    pub seed: u64,
    pub is_synchronous: bool,
    pub strided: [bool; 2],
}

impl Message {
    fn new(random: &mut Random) -> Message {
        let most = [64, 3_000, 20_000, 140_000, 1_500_000][random.below(5) as usize];
        Message {
            bytes: random.below(most) as usize,
            lane: random.below(2) as u32,
            seed: random.below(1 << 30),
            is_synchronous: random.below(5) == 0,
            strided: [0, 1].map(|_| random.below(4) == 0),
        }
    }

    fn content(&self) -> Vec<u8> {
        Random(self.seed).bytes(self.bytes)
    }

    /// A buffer for it, with the content if `filled`.
    fn buffer(&self, is_strided: bool, filled: bool) -> Vec<u8> {
        let content = if filled {
            self.content()
        } else {
            vec![0; self.bytes]
        };
        match is_strided {
            false => content,
            true => {
                let mut buffer = vec![0xee; 2 * content.len()];
                for (at, byte) in content.into_iter().enumerate() {
                    buffer[2 * at] = byte;
                }
                buffer
            }
        }
    }

    fn memory(&self, buffer: &mut [u8], is_strided: bool) -> Memory {
        match is_strided {
            false => memory(buffer),
            true => strided(buffer),
        }
    }
}

fn route(lane: u32, peer: Peer, source: i32, tag: i32) -> Route {
    Route {
        lane,
        peer,
        context: CONTEXT + lane,
        source,
        tag,
    }
}

pub type Node = Engine<Net>;

pub fn send(
    engine: &Node,
    me: Peer,
    peer: Peer,
    message: &Message,
    tag: i32,
    buffer: &mut [u8],
) -> RequestId {
    let outgoing = Outgoing {
        route: route(message.lane, peer, me as i32, tag),
        memory: message.memory(buffer, message.strided[0]),
        synchronous: message.is_synchronous,
    };
    engine.send(outgoing).unwrap()
}

pub fn receive(
    engine: &Node,
    peer: Peer,
    message: &Message,
    tag: i32,
    buffer: &mut [u8],
) -> RequestId {
    let incoming = Incoming {
        route: route(message.lane, peer, peer as i32, tag),
        memory: message.memory(buffer, message.strided[1]),
    };
    engine.receive(incoming).unwrap()
}

/// Runs `body` as each of so many processes, in threads.
pub fn processes(size: u32, pace: Pace, body: impl Fn(&Node, Peer, &Barrier) + Sync) {
    let cards = Arc::new(Cards::default());
    let barrier = Barrier::new(size as usize);
    let make = |rank| {
        let fabric = attach(rank, size, cards.clone());
        cards.put(rank, card(&fabric));
        Engine::new(fabric, rank, size, pace, 1)
    };
    let engines: Vec<Node> = (0..size).map(make).collect();
    std::thread::scope(|scope| {
        for (rank, engine) in engines.iter().enumerate() {
            let (body, barrier) = (&body, &barrier);
            scope.spawn(move || body(engine, rank as Peer, barrier));
        }
    });
}

/// Messages of all kinds to and fro, in windows: receives are posted before, after and between.
fn exchange(size: u32, pace: Pace, rounds: u64, seed: u64) {
    processes(size, pace, |engine, me, barrier| {
        for round in 0..rounds {
            let mut requests = Vec::new();
            let mut expected = Vec::new();
            let mut sources = Vec::new();
            for peer in (0..size).filter(|&peer| peer != me) {
                let plan = |from: Peer, to: Peer| {
                    let salt = u64::from(from * 1000 + to) << 32;
                    let mut random = Random(seed ^ round << 16 ^ salt);
                    let count = 1 + random.below(12);
                    let messages = (0..count).map(|_| Message::new(&mut random));
                    messages.collect::<Vec<_>>()
                };
                for (tag, message) in plan(peer, me).into_iter().enumerate() {
                    let mut buffer = message.buffer(message.strided[1], false);
                    let late = message.seed % 3 == 0;
                    let id =
                        (!late).then(|| receive(engine, peer, &message, tag as i32, &mut buffer));
                    expected.push((peer, message, tag as i32, buffer, id));
                }
                for (tag, message) in plan(me, peer).into_iter().enumerate() {
                    let mut buffer = message.buffer(message.strided[0], true);
                    requests.push(send(engine, me, peer, &message, tag as i32, &mut buffer));
                    sources.push(buffer);
                }
            }
            for (peer, message, tag, buffer, id) in &mut expected {
                if id.is_none() {
                    engine.progress();
                    *id = Some(receive(engine, *peer, message, *tag, buffer));
                }
            }
            for (peer, message, tag, buffer, id) in &expected {
                let status = engine.wait(id.unwrap());
                assert_eq!((status.source, status.tag), (*peer as i32, *tag));
                assert_eq!(status.bytes as usize, message.bytes);
                assert!(*buffer == wanted(message), "{} bytes", message.bytes);
            }
            for id in requests {
                assert_eq!(engine.wait(id).failure, None);
            }
            drop(sources);
        }
        barrier.wait();
    });
}

/// What the receiver of a message must find. What lies between is not touched.
fn wanted(message: &Message) -> Vec<u8> {
    message.buffer(message.strided[1], true)
}

#[test]
fn messages_of_all_kinds_awake() {
    exchange(2, Pace::SHARED, 40, 1);
}

#[test]
fn messages_of_all_kinds_among_four() {
    exchange(4, Pace::SHARED, 10, 2);
}

/// No turn is spent awake, so everything rings.
#[test]
fn messages_of_all_kinds_asleep() {
    exchange(3, Pace::CROWDED, 15, 3);
}

#[test]
fn any_source_takes_what_comes() {
    processes(3, Pace::SHARED, |engine, me, barrier| {
        let count = 50;
        if me == 0 {
            let mut seen = HashMap::new();
            for _ in 0..2 * count {
                let mut got = [0; 8];
                let incoming = Incoming {
                    route: route(0, ANYBODY, -1, -1),
                    memory: Memory::contiguous(got.as_mut_ptr(), 8),
                };
                let id = engine.receive(incoming).unwrap();
                let status = engine.wait(id);
                let next = seen.entry(status.source).or_insert(0u64);
                assert_eq!(u64::from_le_bytes(got), *next);
                *next += 1;
            }
            assert!(seen.len() == 2 && seen.values().all(|&next| next == count));
        } else {
            for number in 0..count {
                let mut data = number.to_le_bytes();
                let outgoing = Outgoing {
                    route: route(0, 0, me as i32, 3),
                    memory: Memory::contiguous(data.as_mut_ptr(), 8),
                    synchronous: false,
                };
                let id = engine.send(outgoing).unwrap();
                engine.wait(id);
            }
        }
        barrier.wait();
    });
}

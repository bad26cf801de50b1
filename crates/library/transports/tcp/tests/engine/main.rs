//! Engines over TCP.

mod traffic;

use std::sync::Arc;

use weft_engine::{LANES, Pace, RequestId};
use weft_tcp::{Options, Tcp};
use weft_transport::{Directory, Peer};

use traffic::{Message, processes, receive, send};

type Net = Tcp;

fn attach(rank: Peer, size: u32, cards: Arc<dyn Directory>) -> Tcp {
    let options = Options {
        interfaces: vec!["lo".to_owned()],
        ..Options::default()
    };
    Tcp::new(rank, size, LANES, cards, options).unwrap()
}

fn card(fabric: &Tcp) -> String {
    fabric.card()
}

/// A window of small messages takes few system calls on each side (the design's budget: 4).
#[test]
fn a_window_of_small_messages_takes_few_system_calls() {
    const WINDOWS: usize = 200;
    processes(2, Pace::SHARED, |engine, me, barrier| {
        let small = Message {
            bytes: 8,
            lane: 0,
            seed: 1,
            is_synchronous: false,
            strided: [false; 2],
        };
        let mut buffers = vec![[0u8; 8]; 65];
        let window = |buffers: &mut [[u8; 8]]| {
            let (answer, window) = buffers.split_first_mut().unwrap();
            let mut requests: Vec<RequestId> = window
                .iter_mut()
                .map(|buffer| match me {
                    0 => send(engine, 0, 1, &small, 0, buffer),
                    _ => receive(engine, 0, &small, 0, buffer),
                })
                .collect();
            if me == 1 {
                for id in requests.drain(..) {
                    engine.wait(id);
                }
            }
            requests.push(match me {
                0 => receive(engine, 1, &small, 1, answer),
                _ => send(engine, 1, 0, &small, 1, answer),
            });
            for id in requests {
                engine.wait(id);
            }
        };
        (0..10).for_each(|_| window(&mut buffers));
        barrier.wait();
        let mut calls: Vec<u64> = (0..WINDOWS)
            .map(|_| {
                let before = engine.fabric().counters();
                window(&mut buffers);
                let after = engine.fabric().counters();
                after.sends - before.sends + after.receives - before.receives
            })
            .collect();
        barrier.wait();
        calls.sort_unstable();
        // One of them is the answer's. Where the machine is busy, a turn may come late.
        let median = calls[calls.len() / 2];
        assert!(median <= 5, "rank {me}: {median} system calls a window");
    });
}

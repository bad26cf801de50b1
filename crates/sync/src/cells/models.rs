//! Loom models: order and visibility, and that no wake-up is lost, in both directions.

use super::*;
use crate::Parker;
use loom::sync::Arc;
use loom::thread;

struct Ring {
    heads: Heads,
    cells: Vec<Cell>,
    consumer_sleeps: Parker,
    producer_sleeps: Parker,
}

impl Ring {
    fn new(count: usize) -> Arc<Ring> {
        Arc::new(Ring {
            heads: Heads::new(),
            cells: (0..count).map(|_| Cell::new()).collect(),
            consumer_sleeps: Parker::new(),
            producer_sleeps: Parker::new(),
        })
    }

    fn parts(&self) -> Parts {
        Parts {
            heads: &self.heads,
            cells: self.cells.as_ptr(),
            count: self.cells.len() as u32,
            data: std::ptr::null_mut(),
            data_bytes: 0,
        }
    }
}

/// Sends 1..=messages, sleeping when there is no room.
fn produce(ring: &Ring, mut producer: Producer, messages: u64) {
    for message in 1..=messages {
        loop {
            match producer.push(1, [message, message], 0, |_| ()) {
                Pushed::Watched => break,
                Pushed::Unwatched => {
                    ring.consumer_sleeps.unpark();
                    break;
                }
                Pushed::Full => {
                    producer.wait_for_room(true);
                    if !producer.has_room(0).unwrap() {
                        ring.producer_sleeps.park(None);
                    }
                    producer.wait_for_room(false);
                }
                Pushed::Malformed => panic!("malformed"),
            }
        }
    }
}

/// Takes `messages`, sleeping when there is none.
fn consume(ring: &Ring, messages: u64) {
    // SAFETY: the ring outlives the consumer; there is one.
    let mut consumer = unsafe { Consumer::new(ring.parts()) };
    let mut expected = 1;
    while expected <= messages {
        match consumer.look().unwrap() {
            Some(arrival) => {
                assert_eq!(arrival.header, [expected, expected]);
                expected += 1;
                if consumer.advance(&arrival) {
                    ring.producer_sleeps.unpark();
                }
            }
            None => {
                if !consumer.look_away() {
                    ring.consumer_sleeps.park(None);
                }
                consumer.watch();
            }
        }
    }
}

fn model(count: usize, messages: u64) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let ring = Ring::new(count);
        // SAFETY: the ring outlives the producer; there is one.
        let producer = unsafe { Producer::new(ring.parts()) };
        let producer = {
            let ring = ring.clone();
            thread::spawn(move || produce(&ring, producer, messages))
        };
        consume(&ring, messages);
        producer.join().unwrap();
    });
}

#[test]
fn sleepers_are_woken() {
    model(4, 2);
}

#[test]
fn laps_and_room() {
    model(1, 3);
}

//! Loom models: order and visibility, and that no wake-up is lost, in both directions.

use super::*;
use crate::Parker;
use crate::primitive::bounded;
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
            match producer.push(0, [message, message], 0, |_| ()) {
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
        match consumer.look_short() {
            Some(arrival) => {
                assert_eq!(arrival.header, [expected, expected]);
                expected += 1;
                if consumer.advance(&arrival) {
                    ring.producer_sleeps.unpark();
                }
            }
            None => {
                if !consumer.unwatch() {
                    ring.consumer_sleeps.park(None);
                }
                consumer.watch();
            }
        }
    }
}

const BLOCK: std::num::NonZeroU8 = std::num::NonZeroU8::MIN;

/// Takes the message that has come, waiting for it; the place of it.
fn take(consumer: &mut Consumer) -> Option<std::num::NonZeroU8> {
    loop {
        if let Some(arrival) = consumer.look().unwrap() {
            consumer.advance(&arrival);
            return arrival.elsewhere.map(|elsewhere| elsewhere.place);
        }
        thread::yield_now();
    }
}

/// Memory that goes to and fro with messages (rule 7) is never touched by both sides at once, which loom sees.
#[test]
fn memory_passes_with_messages() {
    loom::model(|| {
        let (there, back) = (Ring::new(2), Ring::new(2));
        let block = Arc::new(crate::primitive::Plain::new(0));
        // SAFETY: the rings outlive their producers, of which each has one.
        let (mut to_there, mut to_here) =
            unsafe { (Producer::new(there.parts()), Producer::new(back.parts())) };
        let other = {
            let (there, block) = (there.clone(), block.clone());
            thread::spawn(move || {
                // SAFETY: the ring outlives the consumer; there is one.
                let mut consumer = unsafe { Consumer::new(there.parts()) };
                assert_eq!(take(&mut consumer), Some(BLOCK));
                assert_eq!(block.read(), 1);
                to_here.push_elsewhere(0, [0; 2], BLOCK, 8, || block.write(2));
            })
        };
        to_there.push_elsewhere(0, [0; 2], BLOCK, 8, || block.write(1));
        // SAFETY: as above.
        let mut consumer = unsafe { Consumer::new(back.parts()) };
        assert_eq!(take(&mut consumer), Some(BLOCK));
        assert_eq!(block.read(), 2);
        block.write(3);
        other.join().unwrap();
    });
}

fn model(count: usize, messages: u64) {
    bounded(move || {
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

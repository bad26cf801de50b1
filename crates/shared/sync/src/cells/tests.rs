use super::*;
use std::collections::VecDeque;
use std::num::NonZeroU8;

const BYTES: usize = 4096;
const COUNT: u32 = 16;

#[repr(align(64))]
struct Memory(UnsafeCell<[u8; BYTES]>);

// SAFETY: the tests go by the ring's protocol.
unsafe impl Sync for Memory {}

impl Memory {
    fn new() -> Box<Memory> {
        Box::new(Memory(UnsafeCell::new([0; BYTES])))
    }

    fn parts(&self) -> Parts {
        Parts::at(self.0.get().cast(), BYTES, COUNT)
    }

    fn sides(&self) -> (Producer, Consumer) {
        // SAFETY: the memory outlives both; there is one of each.
        let (producer, consumer) =
            unsafe { (Producer::new(self.parts()), Consumer::new(self.parts())) };
        consumer.watch();
        (producer, consumer)
    }
}

/// A small generator of random numbers (xorshift64*), so that a failure can be repeated by its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

fn message(random: &mut Random, longest: usize) -> Vec<u8> {
    let bytes = match random.below(4) {
        0 => random.below(9) as usize,
        1 => random.below(INLINE_BYTES as u64 + 2) as usize,
        _ => random.below(longest as u64 + 1) as usize,
    };
    (0..bytes).map(|_| random.below(256) as u8).collect()
}

#[test]
fn random_traffic_against_a_queue() {
    for seed in 1..200 {
        let memory = Memory::new();
        let (mut producer, mut consumer) = memory.sides();
        let mut random = Random(seed);
        let mut oracle: VecDeque<(u8, u64, Vec<u8>)> = VecDeque::new();
        let mut number = 0;
        for _ in 0..2000 {
            if random.below(5) < 1 + seed % 4 {
                let bytes = message(&mut random, memory.parts().longest());
                let kind = random.below(3) as u8;
                match producer.push(kind, [number, !number], bytes.len(), |out| {
                    out.copy_from_slice(&bytes)
                }) {
                    Pushed::Watched => oracle.push_back((kind, number, bytes)),
                    Pushed::Full => assert!(!oracle.is_empty(), "room comes when all is consumed"),
                    other => panic!("{other:?}"),
                }
                number += 1;
            } else if let Some(arrival) = consumer.look().unwrap() {
                let (kind, number, bytes) = oracle.pop_front().expect("nothing from nothing");
                let short = consumer.look_short();
                assert_eq!(short.is_some(), kind == 0 && bytes.len() <= INLINE_BYTES);
                for arrival in [Some(arrival), short].into_iter().flatten() {
                    assert_eq!((arrival.kind, arrival.header), (kind, [number, !number]));
                    // SAFETY: not yet advanced.
                    assert_eq!(unsafe { arrival.payload() }, bytes);
                }
                consumer.advance(&arrival);
            } else {
                assert!(consumer.look_short().is_none());
                assert!(oracle.is_empty());
            }
        }
    }
}

#[test]
fn laps_wrap() {
    let memory = Memory::new();
    let (mut producer, mut consumer) = memory.sides();
    for number in 0..u64::from(COUNT) * 66_000 {
        assert_eq!(producer.push(0, [number, 0], 0, |_| ()), Pushed::Watched);
        let arrival = consumer.look_short().expect("just sent");
        assert_eq!(arrival.header[0], number);
        assert!(consumer.look_ahead(1).unwrap().is_none());
        consumer.advance(&arrival);
        assert!(!consumer.is_ready());
    }
}

/// Messages are seen ahead, up to the end of the lap.
#[test]
fn looking_ahead() {
    const SENT: u64 = COUNT as u64 / 2;
    let memory = Memory::new();
    let (mut producer, mut consumer) = memory.sides();
    for round in 0..u64::from(COUNT) {
        // The place moves on by one each round.
        let begin = round * (SENT + 1);
        for number in begin..=begin + SENT {
            assert_eq!(producer.push(0, [number, 0], 0, |_| ()), Pushed::Watched);
        }
        let to_end = u64::from(COUNT) - begin % u64::from(COUNT);
        for ahead in 0..u64::from(COUNT) {
            let found = consumer.look_ahead(ahead as usize).unwrap();
            let expected = (ahead < to_end && ahead <= SENT).then_some([begin + ahead, 0]);
            assert_eq!(found.map(|arrival| arrival.header), expected);
        }
        for _ in 0..=SENT {
            let arrival = consumer.look().unwrap().expect("sent");
            consumer.advance(&arrival);
        }
    }
}

#[test]
fn looking_away_and_back() {
    let memory = Memory::new();
    let (mut producer, consumer) = memory.sides();
    assert!(producer.attached());
    assert!(!consumer.unwatch());
    assert_eq!(producer.push(0, [0; 2], 0, |_| ()), Pushed::Unwatched);
    consumer.watch();
    assert_eq!(producer.push(0, [0; 2], 0, |_| ()), Pushed::Watched);
    assert!(consumer.unwatch());
}

#[test]
fn waiting_for_room() {
    let memory = Memory::new();
    let (mut producer, mut consumer) = memory.sides();
    while producer.push(0, [0; 2], 0, |_| ()) == Pushed::Watched {}
    producer.wait_for_room(true);
    assert_eq!(producer.has_room(0), Ok(false));
    let mut rang = 0;
    for _ in 0..COUNT / 4 {
        let arrival = consumer.look().unwrap().expect("full");
        rang += u32::from(consumer.advance(&arrival));
    }
    assert_eq!(rang, 1);
    assert_eq!(producer.has_room(0), Ok(true));
}

#[test]
fn throttle_is_seen() {
    let memory = Memory::new();
    let (producer, consumer) = memory.sides();
    assert!(!producer.throttled());
    consumer.throttle(true);
    assert!(producer.throttled());
}

/// Whatever a hostile other side writes, nothing is read outside the ring and nothing panics.
#[test]
fn hostile_words() {
    for seed in 1..2000u64 {
        let memory = Memory::new();
        let (mut producer, mut consumer) = memory.sides();
        let mut random = Random(seed);
        let base = memory.0.get().cast::<u64>();
        let inside = memory.0.get().cast::<u8>() as usize;
        for _ in 0..50 {
            let word = random.below(BYTES as u64 / 8) as usize;
            let value = match random.below(3) {
                0 => random.0,
                1 => control(
                    1 + random.below(2) as u16,
                    random.0 as u8,
                    random.below(2) as u8,
                    random.below(9000) as u32,
                ),
                _ => random.below(5000),
            };
            // SAFETY: inside the memory, and this thread only.
            unsafe { base.add(word).write(value) };
            let bytes = random.below(memory.parts().longest() as u64 + 1) as usize;
            producer.push(0, [0; 2], bytes, |out| out.fill(7));
            if let Ok(Some(arrival)) = consumer.look() {
                // SAFETY: not yet advanced.
                let payload = unsafe { arrival.payload() };
                let begin = payload.as_ptr() as usize;
                assert!(inside <= begin && begin + payload.len() <= inside + BYTES);
                consumer.advance(&arrival);
            }
        }
    }
}

/// Messages that lie elsewhere keep their turn among the others and take no room of the data ring.
#[test]
fn elsewhere() {
    const BYTES: usize = 1 << 20;
    let memory = Memory::new();
    let (mut producer, mut consumer) = memory.sides();
    for number in 0..10 * u64::from(COUNT) {
        let place = NonZeroU8::new((number % 3) as u8);
        let mut filled = 0;
        let pushed = match place {
            None => producer.push(1, [number, 0], 1000, |out| filled = out.len()),
            Some(place) => producer.push_elsewhere(2, [number, 0], place, BYTES, || filled = 1000),
        };
        assert_eq!((pushed, filled), (Pushed::Watched, 1000));
        if number % 3 < 2 {
            continue;
        }
        for number in number - 2..=number {
            let arrival = consumer.look().unwrap().expect("sent");
            assert_eq!(arrival.header, [number, 0]);
            let bytes = BYTES as u32;
            let place = NonZeroU8::new((number % 3) as u8);
            let expected = place.map(|place| Elsewhere { place, bytes });
            assert_eq!(arrival.elsewhere, expected);
            // SAFETY: not yet advanced.
            let here = unsafe { arrival.payload() }.len();
            assert_eq!(here, if place.is_none() { 1000 } else { 0 });
            consumer.advance(&arrival);
        }
    }
    while producer.push(0, [0; 2], 0, |_| ()) == Pushed::Watched {}
    let pushed = producer.push_elsewhere(0, [0; 2], NonZeroU8::MIN, 1, || {
        panic!("there is no cell for it")
    });
    assert_eq!(pushed, Pushed::Full);
}

#[test]
fn short_messages_of_every_length() {
    let memory = Memory::new();
    let (mut producer, mut consumer) = memory.sides();
    let data: Vec<u8> = (1..=INLINE_BYTES as u8).collect();
    for bytes in 0..=INLINE_BYTES {
        let mut push = || producer.push_short(3, [7, bytes as u64], &data[..bytes]);
        let pushed = push();
        if pushed == Pushed::Full {
            assert!(bytes > 0, "the ring is empty");
            // It does not look for itself.
            assert_eq!(push(), Pushed::Full);
            assert_eq!(producer.ready(), Ok(()));
            assert_eq!(
                producer.push_short(3, [7, bytes as u64], &data[..bytes]),
                Pushed::Watched
            );
        } else {
            assert_eq!(pushed, Pushed::Watched);
        }
        let arrival = consumer.look().unwrap().expect("sent");
        assert_eq!((arrival.kind, arrival.header), (3, [7, bytes as u64]));
        // SAFETY: not yet advanced.
        assert_eq!(unsafe { arrival.payload() }, &data[..bytes]);
        consumer.advance(&arrival);
    }
}

#[test]
fn impossible_count_is_told() {
    let memory = Memory::new();
    let (mut producer, _) = memory.sides();
    // SAFETY: the heads are valid.
    unsafe { &(*memory.parts().heads).reader.consumed }
        .store(1, crate::primitive::Ordering::Relaxed);
    assert!(producer.in_flight().is_err());
}

#[test]
fn two_threads() {
    let memory = Memory::new();
    let (mut producer, mut consumer) = memory.sides();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..20_000u64 {
                let bytes = (number % 700) as usize;
                while producer.push(3, [number; 2], bytes, |out| out.fill(number as u8))
                    == Pushed::Full
                {
                    std::thread::yield_now();
                }
            }
        });
        for number in 0..20_000u64 {
            let arrival = loop {
                match consumer.look().unwrap() {
                    Some(arrival) => break arrival,
                    None => std::thread::yield_now(),
                }
            };
            assert_eq!(arrival.header, [number; 2]);
            assert_eq!(arrival.kind, 3);
            // SAFETY: not yet advanced.
            let payload = unsafe { arrival.payload() };
            assert_eq!(payload.len(), (number % 700) as usize);
            assert!(payload.iter().all(|&byte| byte == number as u8));
            consumer.advance(&arrival);
        }
    });
}

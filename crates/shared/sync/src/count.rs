//! What several threads count, and room that several threads take from, each one word.
//!
//! # Protocol
//! 1. [`Count`]: any thread adds, one or more read. Adding releases and reading acquires, and each addition continues the one
//!    before it: the reader of a number sees what was done before each addition that the number holds.
//! 2. [`Room`]: a thread that wants some subtracts it and looks at what was there; if that was not enough it adds it again. So the
//!    word may fall below 0 for moments, in which others are refused that would have fitted; it never says more than the truth.
//!    Adding releases and subtracting acquires: a thread that is given room sees what was done before the room was given back.

use crate::primitive::{AtomicU64, Ordering};

/// A number that only grows. On cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Count(AtomicU64);

impl Count {
    /// None yet.
    pub fn new() -> Count {
        Count(AtomicU64::new(0))
    }

    #[inline]
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Release);
    }

    #[inline]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl Default for Count {
    fn default() -> Count {
        Count::new()
    }
}

/// What is left, of less than 2^63. On cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Room(AtomicU64);

impl Room {
    pub fn new(free: u64) -> Room {
        Room(AtomicU64::new(free))
    }

    /// Takes so much, if it is there.
    #[inline]
    pub fn take(&self, wanted: u64) -> bool {
        let free = self.0.fetch_sub(wanted, Ordering::Acquire).cast_signed();
        let fits = free >= wanted.cast_signed();
        if !fits {
            self.0.fetch_add(wanted, Ordering::Relaxed);
        }
        fits
    }

    /// Gives so much back.
    #[inline]
    pub fn put_back(&self, taken: u64) {
        self.0.fetch_add(taken, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_as_far_as_it_goes() {
        let room = Room::new(6);
        assert!(room.take(5));
        assert!(!room.take(2));
        assert!(room.take(1));
        assert!(!room.take(1));
        room.put_back(6);
        assert!(room.take(6));
    }

    #[test]
    fn nothing_is_counted_twice_and_no_room_is_made() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 10_000;
        let (count, room, inside) = (Count::new(), Room::new(3), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for wanted in 0..THREADS {
                let (count, room, inside) = (&count, &room, &inside);
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        if room.take(wanted) {
                            assert!(inside.fetch_add(wanted, Ordering::SeqCst) + wanted <= 3);
                            inside.fetch_sub(wanted, Ordering::SeqCst);
                            room.put_back(wanted);
                        }
                        count.add(1);
                    }
                });
            }
        });
        assert_eq!(count.read(), THREADS * ROUNDS);
        assert!(room.take(3));
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::{Plain, yield_now};
    use loom::sync::Arc;
    use loom::thread;

    /// Two threads each do something and count it.
    #[test]
    fn who_reads_the_count_sees_what_was_counted() {
        loom::model(|| {
            let shared = Arc::new((Count::new(), [Plain::new(0), Plain::new(0)]));
            for which in 0..2 {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (count, done) = &*shared;
                    done[which].write(1);
                    count.add(1);
                });
            }
            let (count, done) = &*shared;
            while count.read() < 2 {
                yield_now();
            }
            assert_eq!(done[0].read() + done[1].read(), 2);
        });
    }

    /// One place, of which two threads make use if it is given to them.
    #[test]
    fn room_is_whose_it_was_given_to() {
        loom::model(|| {
            let shared = Arc::new((Room::new(1), Plain::new(0)));
            let make_use = |(room, place): &(Room, Plain)| {
                let is_given = room.take(1);
                if is_given {
                    place.write(place.read() + 1);
                    room.put_back(1);
                }
                u64::from(is_given)
            };
            let other = {
                let shared = shared.clone();
                thread::spawn(move || make_use(&shared))
            };
            let mine = make_use(&shared);
            let uses = mine + other.join().unwrap();
            assert!(shared.0.take(1));
            assert_eq!(shared.1.read(), uses);
        });
    }

    /// A thread that is refused disturbs nobody's room for longer than the call.
    #[test]
    fn what_is_refused_is_put_back() {
        loom::model(|| {
            let room = Arc::new(Room::new(2));
            let other = {
                let room = room.clone();
                thread::spawn(move || assert!(!room.take(3)))
            };
            if room.take(2) {
                room.put_back(2);
            }
            other.join().unwrap();
            assert!(room.take(2));
        });
    }
}

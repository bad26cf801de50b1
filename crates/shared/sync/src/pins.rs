//! Whether an object that has a place in a table may be used, and who takes it away.
//!
//! A place is EMPTY, LIVE or, from then on until it is EMPTY again, REMOVED. One word holds that, the place's generation, and how many threads have it *pinned*:
//! 1. A thread may use the object while it has the place pinned, which it can while it is LIVE with the generation that
//!    the thread knows.
//! 2. `remove` makes a LIVE place REMOVED, once. No further pins are given.
//! 3. The thread that takes away the last pin of a REMOVED place, or removes a place that has no pins, is told so. It is alone
//!    with the object and takes it out. Then it makes the place EMPTY, of the next generation (`empty`).
//! 4. The owner of an EMPTY place puts an object in and makes it LIVE (`fill`).
//!
//! A pin is counted by a compare-exchange that fails unless the place is LIVE. So the count holds no thread that was refused, and
//! rule 3 has one winner. Acquire and release on all of them: what was done under a pin comes before the object is taken out, and what
//! was put in before whatever is done under a pin.

use crate::primitive::{AtomicU64, Ordering};

/// Bits of the word, from the lowest: pins, state, generation.
const STATE: u32 = 24;
const GENERATION: u32 = 32;
const PINS: u64 = (1 << STATE) - 1;
const LIVE: u64 = 1 << STATE;
const REMOVED: u64 = 2 << STATE;

/// Generations that are told apart.
pub const GENERATIONS: u32 = 1 << 28;

/// The state of a place.
pub struct Pins(AtomicU64);

impl Default for Pins {
    fn default() -> Pins {
        Pins(AtomicU64::new(1 << GENERATION))
    }
}

fn live(word: u64, generation: u32) -> bool {
    word >> STATE == u64::from(generation) << (GENERATION - STATE) | LIVE >> STATE
}

impl Pins {
    /// Rule 4; the generation.
    pub fn fill(&self) -> u32 {
        // Relaxed: nobody but the owner writes an EMPTY place.
        let word = self.0.load(Ordering::Relaxed);
        debug_assert_eq!(word & (PINS | LIVE | REMOVED), 0);
        self.0.store(word | LIVE, Ordering::Release);
        (word >> GENERATION) as u32
    }

    /// Whether the place is LIVE with this generation now. That alone does not let the caller use the object: it has to
    /// know otherwise that the object is not removed.
    #[inline]
    pub fn is_live(&self, generation: u32) -> bool {
        live(self.0.load(Ordering::Acquire), generation)
    }

    /// The generation, if the place is LIVE.
    pub fn current(&self) -> Option<u32> {
        let word = self.0.load(Ordering::Acquire);
        (word & (LIVE | REMOVED) == LIVE).then_some((word >> GENERATION) as u32)
    }

    /// Rule 1: pins the place, if it is LIVE with this generation.
    #[inline]
    pub fn pin(&self, generation: u32) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        while live(word, generation) {
            assert!(word & PINS < PINS, "no process has as many threads");
            match self
                .0
                .compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Takes the caller's pin away. True if it is to take the object out (rule 3).
    #[inline]
    #[must_use]
    pub fn unpin(&self) -> bool {
        let before = self.0.fetch_sub(1, Ordering::AcqRel);
        before & (PINS | REMOVED) == REMOVED | 1
    }

    /// Rule 2, by a thread that has the place pinned. False if another one did so before.
    #[must_use]
    pub fn remove(&self) -> bool {
        self.0.fetch_or(REMOVED, Ordering::AcqRel) & REMOVED == 0
    }

    /// Rule 3: the object is out.
    pub fn empty(&self) {
        let generation = (self.0.load(Ordering::Relaxed) >> GENERATION) as u32;
        // Never zero.
        let next = (generation + 1) % GENERATIONS;
        let word = u64::from(next.max(1)) << GENERATION;
        self.0.store(word, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_used_by_its_generation_and_emptied_by_the_last() {
        let pins = Pins::default();
        assert!(!pins.pin(1) && pins.current().is_none());
        let first = pins.fill();
        assert_eq!(pins.current(), Some(first));
        assert!(!pins.pin(first + 1));
        assert!(pins.pin(first) && pins.pin(first) && pins.is_live(first));
        assert!(pins.remove());
        assert!(!pins.remove(), "once");
        assert!(!pins.pin(first) && !pins.is_live(first));
        assert!(!pins.unpin());
        assert!(pins.unpin(), "the last one");
        pins.empty();
        assert!(!pins.is_live(first));
        let second = pins.fill();
        assert_ne!(second, first);
        assert!(!pins.pin(first) && pins.pin(second));
        assert!(!pins.unpin(), "it is not removed");
    }

    #[test]
    fn generations_come_round_but_never_to_zero() {
        let pins = Pins(AtomicU64::new(u64::from(GENERATIONS - 1) << GENERATION));
        assert_eq!(pins.fill(), GENERATIONS - 1);
        assert!(pins.pin(GENERATIONS - 1) && pins.remove() && pins.unpin());
        pins.empty();
        assert_eq!(pins.fill(), 1);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::Plain;
    use loom::sync::Arc;
    use loom::thread;

    struct Place {
        pins: Pins,
        object: Plain,
    }

    const OUT: u64 = 0;

    /// Uses the object; takes it out if it is to, and says so.
    fn finish(place: &Place) -> bool {
        let out = place.pins.unpin();
        if out {
            assert_ne!(place.object.read(), OUT, "taken out twice");
            place.object.write(OUT);
            place.pins.empty();
        }
        out
    }

    /// Two removers: each that is let in reads the object, one of them takes it out, and only once.
    #[test]
    fn the_object_is_taken_out_once_and_by_none_before_all_have_read_it() {
        loom::model(|| {
            let place = Arc::new(Place {
                pins: Pins::default(),
                object: Plain::new(OUT),
            });
            place.object.write(7);
            let generation = place.pins.fill();
            let other = {
                let place = place.clone();
                thread::spawn(move || use_once(&place, generation, true))
            };
            let out = use_once(&place, generation, true);
            assert_ne!(out, other.join().unwrap());
            assert!(!place.pins.pin(generation));
        });
    }

    fn use_once(place: &Place, generation: u32, removes: bool) -> bool {
        if !place.pins.pin(generation) {
            return false;
        }
        assert_eq!(place.object.read(), 7);
        if removes {
            let _ = place.pins.remove();
        }
        finish(place)
    }

    /// The place is filled again while a thread that knows its earlier generation tries to use it.
    #[test]
    fn who_knows_an_earlier_generation_is_not_let_in() {
        loom::model(|| {
            let place = Arc::new(Place {
                pins: Pins::default(),
                object: Plain::new(OUT),
            });
            place.object.write(7);
            let generation = place.pins.fill();
            let late = {
                let place = place.clone();
                thread::spawn(move || use_once(&place, generation, false))
            };
            assert!(place.pins.pin(generation) && place.pins.remove());
            let refills = finish(&place);
            if refills {
                place.object.write(8);
                let next = place.pins.fill();
                assert!(place.pins.pin(next));
                assert_eq!(place.object.read(), 8);
                assert!(!place.pins.unpin());
            }
            let other = late.join().unwrap();
            assert_ne!(refills, other);
        });
    }
}

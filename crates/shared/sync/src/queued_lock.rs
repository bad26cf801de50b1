//! A lock over memory that several processes share: shared or exclusive, first come first served.
//!
//! The words of a lock stand beside a slot for each process. A process holds or wants the lock once at most.
//! 1. The words, and all states and tickets, are written by the holder of `gate` only. A process waits by reading its
//!    own slot's state, which becomes HOLDS by a Release store of the process that grants it the lock.
//! 2. A request is granted at once if nobody waits and no holder excludes it. Else it takes the next ticket and waits.
//! 3. A release grants the waiting requests, in the order of tickets, until one does not fit. So neither kind starves.
//! 4. A process that dies with `gate` may leave the words in any state: the one that takes it over declares the lock broken for
//!    good, and every later call says so. A process that dies with the lock itself is found by those that wait, which ask after
//!    the holders.

use crate::OwnedLock;
use crate::primitive::{AtomicU32, Ordering};

const FREE: u32 = 0;
const WANTS_SHARED: u32 = 1;
const WANTS_EXCLUSIVE: u32 = 2;
const HOLDS_SHARED: u32 = 3;
const HOLDS_EXCLUSIVE: u32 = 4;

/// The words of a lock; all zeros is a free one.
#[derive(Default)]
#[repr(C)]
pub struct QueuedLockWords {
    gate: OwnedLock,
    /// Not 0 once a process died with `gate`.
    broken: AtomicU32,
    next_ticket: AtomicU32,
    waiting: AtomicU32,
    shared: AtomicU32,
    exclusive: AtomicU32,
}

/// One process's words beside a lock; all zeros neither holds nor wants it.
#[derive(Default)]
#[repr(C)]
pub struct QueuedLockSlot {
    state: AtomicU32,
    ticket: AtomicU32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    Shared,
    Exclusive,
}

/// A process died while it changed the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// A lock as process `me` uses it; `slot` finds the slot of each of `size` processes.
pub struct QueuedLock<'a, F> {
    pub words: &'a QueuedLockWords,
    pub slot: F,
    pub size: u32,
    pub me: u32,
}

/// `gate`, held.
struct Inside<'a, F> {
    lock: &'a QueuedLock<'a, F>,
}

impl<F> Drop for Inside<'_, F> {
    fn drop(&mut self) {
        self.lock.words.gate.release(self.lock.me + 1);
    }
}

impl<'a, F: Fn(u32) -> &'a QueuedLockSlot> QueuedLock<'a, F> {
    fn enter(&self, is_alive: &dyn Fn(u32) -> bool) -> Result<Inside<'_, F>, Broken> {
        let words = self.words;
        let taken_over = words
            .gate
            .take(self.me + 1, &|holder| !is_alive(holder - 1));
        let inside = Inside { lock: self };
        if taken_over {
            words.broken.store(1, Ordering::Relaxed);
        }
        match words.broken.load(Ordering::Relaxed) {
            0 => Ok(inside),
            _ => Err(Broken),
        }
    }

    fn own(&self) -> &'a QueuedLockSlot {
        (self.slot)(self.me)
    }

    /// Asks for the lock. True if it is had; else [`is_granted`](Self::is_granted) says when it is.
    pub fn request(&self, kind: LockKind, is_alive: &dyn Fn(u32) -> bool) -> Result<bool, Broken> {
        let inside = self.enter(is_alive)?;
        let (words, slot) = (self.words, self.own());
        if load(&words.waiting) == 0 && inside.fits(kind) {
            inside.grant(slot, kind);
            return Ok(true);
        }
        let ticket = raise(&words.next_ticket);
        slot.ticket.store(ticket, Ordering::Relaxed);
        let wants = match kind {
            LockKind::Shared => WANTS_SHARED,
            LockKind::Exclusive => WANTS_EXCLUSIVE,
        };
        slot.state.store(wants, Ordering::Relaxed);
        raise(&words.waiting);
        Ok(false)
    }

    /// Whether this process has the lock that it asked for.
    pub fn is_granted(&self) -> bool {
        let state = self.own().state.load(Ordering::Acquire);
        matches!(state, HOLDS_SHARED | HOLDS_EXCLUSIVE)
    }

    /// A process that holds the lock or wants it and is dead.
    pub fn dead_ahead(&self, is_alive: &dyn Fn(u32) -> bool) -> Option<u32> {
        (0..self.size)
            .filter(|&rank| rank != self.me)
            .find(|&rank| {
                (self.slot)(rank).state.load(Ordering::Relaxed) != FREE && !is_alive(rank)
            })
    }

    /// Lets the lock go, or takes a request back. The processes that it was granted to are to be woken.
    pub fn release(&self, is_alive: &dyn Fn(u32) -> bool) -> Result<Vec<u32>, Broken> {
        let inside = self.enter(is_alive)?;
        let words = self.words;
        let slot = self.own();
        match slot.state.load(Ordering::Relaxed) {
            HOLDS_SHARED => lower(&words.shared),
            HOLDS_EXCLUSIVE => lower(&words.exclusive),
            WANTS_SHARED | WANTS_EXCLUSIVE => lower(&words.waiting),
            _ => {}
        }
        slot.state.store(FREE, Ordering::Relaxed);
        let mut granted = Vec::new();
        while load(&words.waiting) > 0 {
            let Some((kind, rank)) = inside.next().filter(|&(kind, _)| inside.fits(kind)) else {
                break;
            };
            lower(&words.waiting);
            inside.grant((self.slot)(rank), kind);
            granted.push(rank);
        }
        Ok(granted)
    }
}

fn load(word: &AtomicU32) -> u32 {
    word.load(Ordering::Relaxed)
}

/// What it was before. Nobody else writes it meanwhile.
fn raise(word: &AtomicU32) -> u32 {
    let before = load(word);
    word.store(before.wrapping_add(1), Ordering::Relaxed);
    before
}

/// A hostile peer can have written any count.
fn lower(word: &AtomicU32) {
    word.store(load(word).saturating_sub(1), Ordering::Relaxed);
}

impl<'a, F: Fn(u32) -> &'a QueuedLockSlot> Inside<'_, F> {
    fn fits(&self, kind: LockKind) -> bool {
        let words = self.lock.words;
        let alone = load(&words.exclusive) == 0;
        alone && (kind == LockKind::Shared || load(&words.shared) == 0)
    }

    fn grant(&self, slot: &QueuedLockSlot, kind: LockKind) {
        let words = self.lock.words;
        let (count, holds) = match kind {
            LockKind::Shared => (&words.shared, HOLDS_SHARED),
            LockKind::Exclusive => (&words.exclusive, HOLDS_EXCLUSIVE),
        };
        raise(count);
        slot.state.store(holds, Ordering::Release);
    }

    /// The process that waits longest.
    fn next(&self) -> Option<(LockKind, u32)> {
        let newest = load(&self.lock.words.next_ticket);
        let waiting = (0..self.lock.size).filter_map(|rank| {
            let slot = (self.lock.slot)(rank);
            let kind = match slot.state.load(Ordering::Relaxed) {
                WANTS_SHARED => LockKind::Shared,
                WANTS_EXCLUSIVE => LockKind::Exclusive,
                _ => return None,
            };
            // Tickets wrap around; the oldest is the farthest behind the newest.
            let age = newest.wrapping_sub(slot.ticket.load(Ordering::Relaxed));
            Some((age, kind, rank))
        });
        let (_, kind, rank) = waiting.max_by_key(|&(age, ..)| age)?;
        Some((kind, rank))
    }
}

#[cfg(test)]
struct Shared {
    words: QueuedLockWords,
    slots: Vec<QueuedLockSlot>,
}

#[cfg(test)]
impl Shared {
    fn new(size: u32) -> Shared {
        Shared {
            words: QueuedLockWords::default(),
            slots: (0..size).map(|_| QueuedLockSlot::default()).collect(),
        }
    }

    fn lock<'a>(&'a self, me: u32) -> QueuedLock<'a, impl Fn(u32) -> &'a QueuedLockSlot> {
        QueuedLock {
            words: &self.words,
            slot: |rank: u32| &self.slots[rank as usize],
            size: self.slots.len() as u32,
            me,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const ALL_LIVE: &dyn Fn(u32) -> bool = &|_| true;

    #[test]
    fn first_come_first_served() {
        let shared = Shared::new(6);
        let request = |me: u32, kind| shared.lock(me).request(kind, ALL_LIVE).unwrap();
        let release = |me: u32| shared.lock(me).release(ALL_LIVE).unwrap();
        assert!(request(0, LockKind::Shared));
        assert!(request(1, LockKind::Shared));
        assert!(!request(2, LockKind::Exclusive));
        // It would fit, but is behind one that does not.
        assert!(!request(3, LockKind::Shared));
        assert!(!request(4, LockKind::Shared));
        assert!(!request(5, LockKind::Exclusive));
        assert_eq!(release(0), []);
        assert_eq!(release(1), [2]);
        assert!(shared.lock(2).is_granted() && !shared.lock(3).is_granted());
        assert_eq!(release(2), [3, 4]);
        assert_eq!(release(3), []);
        assert_eq!(release(4), [5]);
        assert_eq!(release(5), []);
        assert!(request(0, LockKind::Exclusive));
    }

    #[test]
    fn a_request_taken_back_lets_those_behind_in() {
        let shared = Shared::new(3);
        let request = |me: u32, kind| shared.lock(me).request(kind, ALL_LIVE).unwrap();
        assert!(request(0, LockKind::Shared));
        assert!(!request(1, LockKind::Exclusive));
        assert!(!request(2, LockKind::Shared));
        assert_eq!(shared.lock(1).release(ALL_LIVE).unwrap(), [2]);
    }

    #[test]
    fn the_dead_are_found() {
        let shared = Shared::new(3);
        let (dead, waiting) = (shared.lock(1), shared.lock(2));
        let is_alive = |rank: u32| rank != 1;
        assert_eq!(waiting.dead_ahead(&is_alive), None);
        assert!(dead.request(LockKind::Exclusive, ALL_LIVE).unwrap());
        assert!(!waiting.request(LockKind::Exclusive, &is_alive).unwrap());
        assert_eq!(waiting.dead_ahead(ALL_LIVE), None);
        assert_eq!(waiting.dead_ahead(&is_alive), Some(1));
    }

    #[test]
    fn broken_if_a_process_dies_while_changing_it() {
        let shared = Shared::new(3);
        let is_alive = |rank: u32| rank != 1;
        assert!(shared.words.gate.try_take(2));
        for me in [0, 2, 0] {
            let outcome = shared.lock(me).request(LockKind::Shared, &is_alive);
            assert_eq!(outcome, Err(Broken));
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::{Plain, bounded, yield_now};
    use loom::sync::Arc;
    use loom::thread;

    /// An exclusive holder is alone with what it changes; every request is granted in the end.
    fn excludes(other_kind: LockKind) {
        bounded(move || {
            let all = Arc::new((Shared::new(2), Plain::new(0)));
            let visit = |all: &(Shared, Plain), me, kind| {
                let (lock, live) = (all.0.lock(me), |_| true);
                if !lock.request(kind, &live).unwrap() {
                    while !lock.is_granted() {
                        yield_now();
                    }
                }
                let seen = all.1.read();
                if kind == LockKind::Exclusive {
                    all.1.write(seen + 1);
                }
                lock.release(&live).unwrap();
            };
            let other = {
                let all = all.clone();
                thread::spawn(move || visit(&all, 1, other_kind))
            };
            visit(&all, 0, LockKind::Exclusive);
            other.join().unwrap();
            assert_eq!(all.0.words.waiting.load(Ordering::Relaxed), 0);
            let wanted = 1 + u64::from(other_kind == LockKind::Exclusive);
            assert!(
                all.0
                    .lock(0)
                    .request(LockKind::Exclusive, &|_| true)
                    .unwrap()
            );
            assert_eq!(all.1.read(), wanted);
        });
    }

    #[test]
    fn writers_exclude_writers() {
        excludes(LockKind::Exclusive);
    }

    #[test]
    fn writers_exclude_readers() {
        excludes(LockKind::Shared);
    }
}

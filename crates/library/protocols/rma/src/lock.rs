//! The passive-target lock of one process's part of a window (MPI-5.0 §12.5.3): shared or exclusive, first come first
//! served, taken without a call of that process.
//!
//! The words stand in the target's control area, with a slot for each process. A process holds or wants the lock of a
//! target once at most.
//! 1. The words, and all states and tickets, are written by the holder of `gate` only. A process waits by reading its
//!    own slot's state, which becomes HOLDS by a Release store of whoever lets it in.
//! 2. A request is granted at once if nobody waits and no holder excludes it. Else it takes the next ticket and waits.
//! 3. A release lets in who waits, in the order of tickets, until one does not fit. So neither kind starves.
//! 4. Who dies with `gate` may leave the words in any state: who takes it over declares the lock broken for good, and
//!    every later call says so. Who dies with the lock itself is found by those who wait, by asking after the holders.

use std::time::{Duration, Instant};

use weft_sync::OwnedLock;
use weft_sync::atomic::{AtomicU32, Ordering};

use crate::control::{Control, Slot};

const FREE: u32 = 0;
const WANTS_SHARED: u32 = 1;
const WANTS_EXCLUSIVE: u32 = 2;
const HOLDS_SHARED: u32 = 3;
const HOLDS_EXCLUSIVE: u32 = 4;

/// Tries before a sleep, and the sleep after which the holder is asked after.
const TRIES: u32 = 200;
const NAP: Duration = Duration::from_millis(20);

/// The words of a lock; all zeros is a free one.
#[repr(C)]
pub struct Words {
    gate: OwnedLock,
    /// Not 0 once someone died with `gate`.
    broken: AtomicU32,
    next_ticket: AtomicU32,
    waiting: AtomicU32,
    shared: AtomicU32,
    exclusive: AtomicU32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Shared,
    Exclusive,
}

/// Somebody died while changing the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// Takes an owned lock for process `me` from holders that let it go soon; true if it was taken over from a dead one.
pub(crate) fn take(lock: &OwnedLock, me: u32, is_alive: &dyn Fn(u32) -> bool) -> bool {
    let owner = me + 1;
    for _ in 0..TRIES {
        if lock.try_take(owner) {
            return false;
        }
        std::hint::spin_loop();
    }
    loop {
        if lock.try_take_after_sleep(owner) {
            return false;
        }
        let holder = lock.holder();
        let begin = Instant::now();
        lock.sleep(holder, NAP);
        let stays = holder != 0 && lock.holder() == holder && begin.elapsed() >= NAP;
        if stays && !is_alive(holder - 1) && lock.take_over(holder, owner) {
            return true;
        }
    }
}

/// A lock as process `me` uses it.
pub struct Lock<'a> {
    control: &'a Control,
    me: u32,
}

/// `gate`, held.
struct Inside<'a> {
    words: &'a Words,
    slots: &'a [Slot],
    owner: u32,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.words.gate.release(self.owner);
    }
}

impl<'a> Lock<'a> {
    pub(crate) fn new(control: &'a Control, me: u32) -> Lock<'a> {
        Lock { control, me }
    }

    fn enter(&self, is_alive: &dyn Fn(u32) -> bool) -> Result<Inside<'a>, Broken> {
        let words = &self.control.header().lock.0;
        if take(&words.gate, self.me, is_alive) {
            words.broken.store(1, Ordering::Relaxed);
        }
        let inside = Inside {
            words,
            slots: self.control.slots(),
            owner: self.me + 1,
        };
        match words.broken.load(Ordering::Relaxed) {
            0 => Ok(inside),
            _ => Err(Broken),
        }
    }

    /// Asks for the lock. True if it is had; else [`is_granted`](Self::is_granted) says when it is.
    pub fn request(&self, kind: Kind, is_alive: &dyn Fn(u32) -> bool) -> Result<bool, Broken> {
        let inside = self.enter(is_alive)?;
        let slot = &inside.slots[self.me as usize];
        if inside.load(&inside.words.waiting) == 0 && inside.fits(kind) {
            inside.let_in(slot, kind);
            return Ok(true);
        }
        let ticket = inside.raise(&inside.words.next_ticket);
        slot.ticket.store(ticket, Ordering::Relaxed);
        let wants = match kind {
            Kind::Shared => WANTS_SHARED,
            Kind::Exclusive => WANTS_EXCLUSIVE,
        };
        slot.state.store(wants, Ordering::Relaxed);
        inside.raise(&inside.words.waiting);
        Ok(false)
    }

    /// Whether this process has the lock that it asked for.
    pub fn is_granted(&self) -> bool {
        let state = &self.control.slots()[self.me as usize].state;
        matches!(
            state.load(Ordering::Acquire),
            HOLDS_SHARED | HOLDS_EXCLUSIVE
        )
    }

    /// A process that holds the lock or is before this one in the queue and is dead.
    pub fn dead_ahead(&self, is_alive: &dyn Fn(u32) -> bool) -> Option<u32> {
        let slots = self.control.slots().iter().zip(0..);
        let mut others = slots.filter(|&(_, rank)| rank != self.me);
        let (_, dead) = others
            .find(|(slot, rank)| slot.state.load(Ordering::Relaxed) != FREE && !is_alive(*rank))?;
        Some(dead)
    }

    /// Lets the lock go, or takes a request back. Who has got it then are to be woken.
    pub fn release(&self, is_alive: &dyn Fn(u32) -> bool) -> Result<Vec<u32>, Broken> {
        let inside = self.enter(is_alive)?;
        let words = inside.words;
        let slot = &inside.slots[self.me as usize];
        match slot.state.load(Ordering::Relaxed) {
            HOLDS_SHARED => inside.lower(&words.shared),
            HOLDS_EXCLUSIVE => inside.lower(&words.exclusive),
            WANTS_SHARED | WANTS_EXCLUSIVE => inside.lower(&words.waiting),
            _ => {}
        }
        slot.state.store(FREE, Ordering::Relaxed);
        let mut granted = Vec::new();
        while inside.load(&words.waiting) > 0 {
            let Some((kind, rank)) = inside.next().filter(|&(kind, _)| inside.fits(kind)) else {
                break;
            };
            inside.lower(&words.waiting);
            inside.let_in(&inside.slots[rank as usize], kind);
            granted.push(rank);
        }
        Ok(granted)
    }
}

impl Inside<'_> {
    fn load(&self, word: &AtomicU32) -> u32 {
        word.load(Ordering::Relaxed)
    }

    /// What it was before. Nobody else writes it meanwhile.
    fn raise(&self, word: &AtomicU32) -> u32 {
        let before = self.load(word);
        word.store(before.wrapping_add(1), Ordering::Relaxed);
        before
    }

    /// A hostile peer can have written any count.
    fn lower(&self, word: &AtomicU32) {
        word.store(self.load(word).saturating_sub(1), Ordering::Relaxed);
    }

    fn fits(&self, kind: Kind) -> bool {
        let alone = self.load(&self.words.exclusive) == 0;
        alone && (kind == Kind::Shared || self.load(&self.words.shared) == 0)
    }

    fn let_in(&self, slot: &Slot, kind: Kind) {
        let (count, holds) = match kind {
            Kind::Shared => (&self.words.shared, HOLDS_SHARED),
            Kind::Exclusive => (&self.words.exclusive, HOLDS_EXCLUSIVE),
        };
        self.raise(count);
        slot.state.store(holds, Ordering::Release);
    }

    /// Who waits longest.
    fn next(&self) -> Option<(Kind, u32)> {
        let newest = self.load(&self.words.next_ticket);
        let waiting = self.slots.iter().zip(0..).filter_map(|(slot, rank)| {
            let kind = match slot.state.load(Ordering::Relaxed) {
                WANTS_SHARED => Kind::Shared,
                WANTS_EXCLUSIVE => Kind::Exclusive,
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
mod tests {
    use std::sync::Arc;

    use weft_shm::Shm;
    use weft_transport::{Directory, Peer};

    use super::*;
    use crate::control::Shape;

    struct Alone;

    impl Directory for Alone {
        fn card(&self, _: Peer) -> std::result::Result<String, String> {
            Err("nobody else is there".to_owned())
        }
    }

    fn control(size: u32) -> Control {
        let shape = Shape {
            size,
            user_memory: false,
        };
        let shm = Shm::new(0, 1, 1, Arc::new(Alone)).unwrap();
        Control::own(shm.expose(shape.bytes()).unwrap(), shape)
    }

    const ALL_LIVE: &dyn Fn(u32) -> bool = &|_| true;

    #[test]
    fn first_come_first_served() {
        let control = control(6);
        let locks: Vec<Lock> = (0..6).map(|me| Lock::new(&control, me)).collect();
        let request = |me: usize, kind| locks[me].request(kind, ALL_LIVE).unwrap();
        let release = |me: usize| locks[me].release(ALL_LIVE).unwrap();
        assert!(request(0, Kind::Shared));
        assert!(request(1, Kind::Shared));
        assert!(!request(2, Kind::Exclusive));
        // It would fit, but is behind one that does not.
        assert!(!request(3, Kind::Shared));
        assert!(!request(4, Kind::Shared));
        assert!(!request(5, Kind::Exclusive));
        assert_eq!(release(0), []);
        assert_eq!(release(1), [2]);
        assert!(locks[2].is_granted() && !locks[3].is_granted());
        assert_eq!(release(2), [3, 4]);
        assert_eq!(release(3), []);
        assert_eq!(release(4), [5]);
        assert_eq!(release(5), []);
        assert!(request(0, Kind::Exclusive));
    }

    #[test]
    fn who_gives_up_lets_those_behind_in() {
        let control = control(3);
        let locks: Vec<Lock> = (0..3).map(|me| Lock::new(&control, me)).collect();
        assert!(locks[0].request(Kind::Shared, ALL_LIVE).unwrap());
        assert!(!locks[1].request(Kind::Exclusive, ALL_LIVE).unwrap());
        assert!(!locks[2].request(Kind::Shared, ALL_LIVE).unwrap());
        assert_eq!(locks[1].release(ALL_LIVE).unwrap(), [2]);
    }

    #[test]
    fn the_dead_are_found() {
        let control = control(3);
        let [dead, waiting] = [1, 2].map(|me| Lock::new(&control, me));
        let is_alive = |rank: u32| rank != 1;
        assert_eq!(waiting.dead_ahead(&is_alive), None);
        assert!(dead.request(Kind::Exclusive, ALL_LIVE).unwrap());
        assert!(!waiting.request(Kind::Exclusive, &is_alive).unwrap());
        assert_eq!(waiting.dead_ahead(ALL_LIVE), None);
        assert_eq!(waiting.dead_ahead(&is_alive), Some(1));
    }

    #[test]
    fn broken_if_somebody_dies_while_changing_it() {
        let control = control(3);
        let is_alive = |rank: u32| rank != 1;
        assert!(control.header().lock.0.gate.try_take(2));
        for me in [0, 2, 0] {
            let outcome = Lock::new(&control, me).request(Kind::Shared, &is_alive);
            assert_eq!(outcome, Err(Broken));
        }
    }
}

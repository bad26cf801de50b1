//! A piece of shared memory that one process, the *origin*, hands to another, the *target*, with what that is to do, and has
//! handed back.
//!
//! 1. The origin writes what it asks, then ASKED into the state (Release), and notifies the target.
//! 2. The target moves ASKED to RUNNING (Acquire), does what is asked, and writes DONE or REFUSED (Release).
//! 3. The origin waits for DONE or REFUSED (Acquire) and takes what came back. Meanwhile it may move ASKED to IDLE: then the
//!    target does not do it. It cannot while the state is RUNNING.
//!
//! So the piece is touched by the origin while the state is IDLE, DONE or REFUSED, and by the target while it is RUNNING.

use crate::primitive::{AtomicU32, Ordering};

const IDLE: u32 = 0;
const ASKED: u32 = 1;
const RUNNING: u32 = 2;
const DONE: u32 = 3;
const REFUSED: u32 = 4;

/// The state of a piece; zero is idle.
#[derive(Default)]
#[repr(transparent)]
pub struct Handoff {
    state: AtomicU32,
}

/// How what was asked stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Pending,
    Done,
    Refused,
}

impl Handoff {
    /// The origin hands the piece over.
    #[inline]
    pub fn ask(&self) {
        self.state.store(ASKED, Ordering::Release);
    }

    #[inline]
    pub fn answer(&self) -> Answer {
        match self.state.load(Ordering::Acquire) {
            DONE => Answer::Done,
            REFUSED => Answer::Refused,
            _ => Answer::Pending,
        }
    }

    /// The origin takes back what it has asked: the target will not do it. False if it does it or has done it.
    pub fn withdraw(&self) -> bool {
        self.back_from(ASKED)
    }

    /// Takes the piece from whatever an origin has left there. False while the target does what was asked.
    pub fn clear(&self) -> bool {
        self.state.load(Ordering::Acquire) == IDLE
            || [ASKED, DONE, REFUSED]
                .into_iter()
                .any(|state| self.back_from(state))
    }

    fn back_from(&self, state: u32) -> bool {
        self.state
            .compare_exchange(state, IDLE, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// The target does what is asked by `act`, which says whether it did. False if nothing is asked.
    #[inline]
    pub fn run(&self, act: impl FnOnce() -> bool) -> bool {
        let taken = self.state.load(Ordering::Relaxed) == ASKED
            && self
                .state
                .compare_exchange(ASKED, RUNNING, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        if !taken {
            return false;
        }
        let end = if act() { DONE } else { REFUSED };
        self.state.store(end, Ordering::Release);
        true
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::{Plain, bounded, yield_now};
    use loom::sync::Arc;
    use loom::thread;

    struct Shared {
        handoff: Handoff,
        piece: Plain,
        memory: Plain,
    }

    /// The target adds what is in the piece to its memory.
    fn add(shared: &Shared) -> bool {
        shared.handoff.run(|| {
            let sum = shared.memory.read() + shared.piece.read();
            shared.memory.write(sum);
            true
        })
    }

    /// What is withdrawn is not done, and what cannot be withdrawn is.
    #[test]
    fn done_unless_withdrawn() {
        bounded(|| {
            let shared = Arc::new(Shared {
                handoff: Handoff::default(),
                piece: Plain::new(0),
                memory: Plain::new(40),
            });
            shared.piece.write(2);
            shared.handoff.ask();
            let target = {
                let shared = shared.clone();
                thread::spawn(move || add(&shared))
            };
            if shared.handoff.withdraw() {
                shared.piece.write(7);
                assert!(!target.join().unwrap());
                assert_eq!(shared.memory.read(), 40);
                return;
            }
            while shared.handoff.answer() == Answer::Pending {
                yield_now();
            }
            assert_eq!(shared.memory.read(), 42);
            assert!(target.join().unwrap());
        });
    }
}

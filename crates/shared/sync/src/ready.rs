//! Work that is taken up again when there is news for it: a list of what is to be looked at, and for each piece of work
//! whose turn it is.
//!
//! # Whose turn it is
//! Two marks in a word, RUNNING and CALLED.
//! ```text
//! 0 ──call──▶ CALLED ──take──▶ RUNNING ──rest──▶ 0
//!                ▲                │call
//!                └────rest── RUNNING|CALLED
//! ```
//! 1. A thread that has news writes them and then calls (release). If it finds no mark it puts the work in the list, else not:
//!    the work stands there at most once.
//! 2. The thread that takes it out of the list runs it (acquire): it sees the news of every call before. Nobody else runs it until
//!    it rests, so what only the runner touches needs no lock.
//! 3. A runner that was called meanwhile finds that as it comes to rest, and puts the work in the list again.
//! 4. Work that is over never rests: later calls find RUNNING.
//!
//! # Who sleeps
//! 5. One thread may sleep until something is listed. It says so ([`Ready::prepare_sleep`]) and then looks at the list. A
//!    thread that lists something looks after that whether it has to ring for the sleeper ([`Ready::is_asleep`]). Both go through the
//!    list's section, one after the other: either the sleeper sees what was listed, or the other thread sees the sleeper.

use crate::Section;
use crate::primitive::{AtomicU32, Ordering};
use std::collections::VecDeque;

const RUNNING: u32 = 1;
const CALLED: u32 = 2;

/// The state of a piece of work: whose turn it is (rules 1 to 4).
pub struct TaskState(AtomicU32);

impl TaskState {
    /// Of work that its maker runs.
    pub fn running() -> TaskState {
        TaskState(AtomicU32::new(RUNNING))
    }

    /// There is news. True if the caller is to list the work.
    pub fn call(&self) -> bool {
        self.0.fetch_or(CALLED, Ordering::AcqRel) == 0
    }

    /// The work was taken out of the list: the caller runs it.
    pub fn take(&self) {
        let before = self.0.swap(RUNNING, Ordering::AcqRel);
        debug_assert_eq!(before, CALLED);
    }

    /// The runner stops. False if there has been news: it is to list the work again.
    pub fn rest(&self) -> bool {
        let rested = self
            .0
            .compare_exchange(RUNNING, 0, Ordering::AcqRel, Ordering::Acquire);
        if rested.is_err() {
            self.0.swap(CALLED, Ordering::AcqRel);
        }
        rested.is_ok()
    }
}

/// What is to be looked at, oldest first.
pub struct Ready<T> {
    list: Section<VecDeque<T>>,
    /// The list's length, for those who pass by. Written inside.
    length: AtomicU32,
    /// Whether someone sleeps, or is about to, until something is listed. Written by that thread.
    asleep: AtomicU32,
}

impl<T> Ready<T> {
    pub fn new() -> Ready<T> {
        Ready {
            list: Section::new(VecDeque::new()),
            length: AtomicU32::new(0),
            asleep: AtomicU32::new(0),
        }
    }

    /// Lists something. Look at [`is_asleep`](Self::is_asleep) after it.
    pub fn push(&self, item: T) {
        let mut list = self.list.enter();
        list.push_back(item);
        self.length.store(list.len() as u32, Ordering::Relaxed);
    }

    /// Whether anything is listed, to the knowledge of one who passes by. One load.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.length.load(Ordering::Relaxed) != 0
    }

    /// Takes the oldest, `most` of them.
    pub fn take(&self, most: usize) -> VecDeque<T> {
        let mut list = self.list.enter();
        let taken = most.min(list.len());
        let rest = list.split_off(taken);
        self.length.store(rest.len() as u32, Ordering::Relaxed);
        std::mem::replace(&mut *list, rest)
    }

    /// Takes the oldest of those that are `wanted`, `most` of them. The others stay, in order.
    pub fn take_those(&self, most: usize, wanted: impl Fn(&T) -> bool) -> Vec<T> {
        let mut list = self.list.enter();
        let mut taken = Vec::new();
        for item in std::mem::take(&mut *list) {
            match taken.len() < most && wanted(&item) {
                true => taken.push(item),
                false => list.push_back(item),
            }
        }
        self.length.store(list.len() as u32, Ordering::Relaxed);
        taken
    }

    /// As [`prepare_sleep`](Self::prepare_sleep), of one that takes only those that are `wanted`.
    pub fn prepare_sleep_without(&self, wanted: impl Fn(&T) -> bool) -> bool {
        self.asleep.store(1, Ordering::SeqCst);
        !self.list.enter().iter().any(wanted)
    }

    /// The one who may sleep is about to. False if something is listed: it must not.
    pub fn prepare_sleep(&self) -> bool {
        self.asleep.store(1, Ordering::SeqCst);
        self.list.enter().is_empty()
    }

    pub fn wake_up(&self) {
        self.asleep.store(0, Ordering::SeqCst);
    }

    /// Whether it sleeps or is about to.
    pub fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::SeqCst) != 0
    }
}

impl<T> Default for Ready<T> {
    fn default() -> Ready<T> {
        Ready::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn listed_once_until_it_is_taken() {
        let state = TaskState::running();
        assert!(!state.call());
        assert!(!state.rest(), "called while it ran");
        state.take();
        assert!(state.rest());
        assert!(state.call());
        assert!(!state.call(), "listed already");
        state.take();
        assert!(!state.call());
        assert!(!state.call());
    }

    #[test]
    fn oldest_first_and_not_too_many() {
        let ready = Ready::new();
        assert!(!ready.any());
        for item in 0..5 {
            ready.push(item);
        }
        assert!(!ready.prepare_sleep() && ready.is_asleep());
        ready.wake_up();
        assert_eq!(ready.take(3), [0, 1, 2]);
        ready.push(5);
        assert!(ready.any());
        assert_eq!(ready.take(9), [3, 4, 5]);
        assert!(!ready.any() && ready.prepare_sleep());
    }

    #[test]
    fn what_is_not_wanted_stays_in_order() {
        let is_even = |item: &i32| item % 2 == 0;
        let ready = Ready::new();
        (0..7).for_each(|item| ready.push(item));
        assert!(!ready.prepare_sleep_without(is_even));
        assert_eq!(ready.take_those(2, is_even), [0, 2]);
        assert_eq!(ready.take_those(9, is_even), [4, 6]);
        assert!(ready.prepare_sleep_without(is_even) && ready.is_asleep());
        assert!(!ready.prepare_sleep() && ready.any());
        assert_eq!(ready.take(9), [1, 3, 5]);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::Parker;
    use crate::primitive::{Plain, bounded};
    use loom::sync::Arc;
    use loom::thread;

    /// One piece of work that looks at two pieces of news; what it saw is only its runner's.
    struct Shared {
        ready: Ready<()>,
        state: TaskState,
        news: [AtomicU32; 2],
        seen: Plain,
        bed: Parker,
    }

    impl Shared {
        fn new(state: TaskState) -> Arc<Shared> {
            Arc::new(Shared {
                ready: Ready::new(),
                state,
                news: [AtomicU32::new(0), AtomicU32::new(0)],
                seen: Plain::new(0),
                bed: Parker::new(),
            })
        }

        fn list(&self) {
            self.ready.push(());
            if self.ready.is_asleep() {
                self.bed.unpark();
            }
        }

        fn bring(&self, which: usize) {
            self.news[which].store(1, Ordering::Relaxed);
            if self.state.call() {
                self.list();
            }
        }

        /// What the runner does before it rests.
        fn look(&self) {
            let seen: u32 = self
                .news
                .iter()
                .map(|one| one.load(Ordering::Relaxed))
                .sum();
            self.seen.write(u64::from(seen));
        }

        /// Runs all that is listed.
        fn turn(&self) {
            while !self.ready.take(1).is_empty() {
                self.state.take();
                self.look();
                if !self.state.rest() {
                    self.list();
                }
            }
        }
    }

    /// Two bring news and run what is listed, as all do that make progress: in the end both were seen, by one at a time.
    #[test]
    fn all_news_are_seen_by_one_runner_at_a_time() {
        bounded(|| {
            let shared = Shared::new(TaskState(AtomicU32::new(0)));
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.bring(1);
                    shared.turn();
                })
            };
            shared.bring(0);
            shared.turn();
            other.join().unwrap();
            assert!(!shared.ready.any(), "nobody leaves what it listed");
            assert_eq!(shared.seen.read(), 2);
        });
    }

    /// The maker's first run meets news: it comes to rest only if it has seen them.
    #[test]
    fn news_during_the_first_run_are_seen() {
        bounded(|| {
            let shared = Shared::new(TaskState::running());
            let others = [0, 1].map(|which| {
                let shared = shared.clone();
                thread::spawn(move || shared.bring(which))
            });
            shared.look();
            if !shared.state.rest() {
                shared.list();
            }
            shared.turn();
            others.into_iter().for_each(|other| other.join().unwrap());
            shared.turn();
            assert_eq!(shared.seen.read(), 2);
        });
    }

    /// A sleeper that nobody rings for would be found as a deadlock.
    #[test]
    fn the_sleeper_is_rung_for() {
        bounded(|| {
            let shared = Shared::new(TaskState(AtomicU32::new(0)));
            let other = {
                let shared = shared.clone();
                thread::spawn(move || shared.bring(1))
            };
            if shared.ready.prepare_sleep() {
                shared.bed.park(None);
            }
            shared.ready.wake_up();
            shared.turn();
            assert_eq!(shared.seen.read(), 1);
            other.join().unwrap();
        });
    }
}

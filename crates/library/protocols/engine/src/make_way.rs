//! Giving up the core: what a thread does that waits, or that polls in vain. When, `waiting/staying.rs` and
//! `waiting/polling.rs` say.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_sync::{now_ns, sleep_in_place_of_yield};
use weft_transport::Fabric;

use crate::engine::Engine;
use crate::waiting::{AfterPoll, InVain, Others, Polls};

/// The shortest sleep there is: the kernel adds its slack of 50 us.
const NAP: Duration = Duration::from_nanos(1);

thread_local! {
    static POLLS: Cell<Polls> = const { Cell::new(Polls::NONE) };
    static IN_VAIN: Cell<InVain> = const { Cell::new(InVain::NONE) };
}

/// For how many turns this thread keeps its core until it yields.
pub(crate) fn keeps() -> u32 {
    IN_VAIN.get().keeps()
}

/// This thread has yielded, which took so long.
fn yielded(ns: u64) {
    let mut in_vain = IN_VAIN.get();
    in_vain.yielded(ns);
    IN_VAIN.set(in_vain);
}

/// One more poll of this thread's in vain.
fn count<T>(counts: impl FnOnce(&mut Polls) -> T) -> T {
    let mut polls = POLLS.get();
    let answer = counts(&mut polls);
    POLLS.set(polls);
    answer
}

impl<F: Fabric> Engine<F> {
    /// One turn of progress for a poll that has found nothing so far. Whether it is worth to look again.
    #[inline]
    pub fn progress_for_poll(&self) -> bool {
        let moved = self.progress();
        if !moved {
            self.polled_in_vain();
        }
        moved
    }

    /// A poll has found nothing.
    #[inline]
    pub fn polled_in_vain(&self) {
        if self.shares_cores() || self.crowd.is_watched {
            self.make_way();
        }
        if self.operations.count() > 0 {
            self.look_at_operations();
        }
    }

    #[cold]
    fn look_at_operations(&self) {
        if count(Polls::count_beside) {
            self.enquire_for_operations();
        }
    }

    #[inline]
    fn shares_cores(&self) -> bool {
        self.pace.load().makes_way()
    }

    #[cold]
    fn make_way(&self) {
        let others = match self.shares_cores() {
            true => Others::Ranks,
            false if self.crowd.is_there(now_ns) => Others::Strangers,
            false => Others::Unknown,
        };
        match count(|polls| polls.count(others)) {
            AfterPoll::Keep => {}
            AfterPoll::Yield => _ = self.yield_core(),
            AfterPoll::Nap => {
                std::thread::sleep(NAP);
                self.look_everywhere();
            }
        }
    }

    /// Lets others have the core. If somebody else had it meanwhile, what this thread looks at next is everything;
    /// and that is said.
    pub(crate) fn yield_core(&self) -> bool {
        // A sleep takes long whoever is there.
        if sleep_in_place_of_yield() {
            return false;
        }
        let own_wakes = || self.watch.background_wakes.load(Ordering::Relaxed);
        let (before, before_ns) = (own_wakes(), now_ns());
        std::thread::yield_now();
        let now_ns = now_ns();
        yielded(now_ns.saturating_sub(before_ns));
        if !self.crowd.is_watched {
            return false;
        }
        let is_late = own_wakes() == before && self.crowd.yielded(before_ns, now_ns);
        if is_late {
            self.look_everywhere();
        }
        is_late
    }
}

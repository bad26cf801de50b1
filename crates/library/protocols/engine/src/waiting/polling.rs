//! Programs that poll: they test or probe again and again, and call nothing that waits.
//!
//! Where others want the core, such a program keeps it, for a time slice of milliseconds, from the very rank whose message it polls
//! for. So after some polls that found nothing a thread makes way. Among ranks of the job that share cores it yields: they do so too,
//! and it is soon back. Where strangers want the core it naps, as a thread that yields to those who do not is put off for longer than
//! it has run. Where nothing is known of others it yields seldom, to find out, if at all ([`Crowd`](crate::waiting::Crowd)).

use std::cell::Cell;
use std::thread::LocalKey;

use weft_transport::Fabric;

use crate::engine::Engine;

/// Polls in vain between two yields to ranks of the job.
const SHARED_POLLS: u32 = 8;
/// The same between two naps: a few tens of microseconds of polling, as long as a nap.
const CROWDED_POLLS: u32 = 64;
/// The same between two yields where nothing is known of others.
const ALONE_POLLS: u32 = 256;
/// Polls in vain between two looks whether operations have waited for long.
const ASKING_POLLS: u32 = 256;

thread_local! {
    static POLLS: Cell<u32> = const { Cell::new(0) };
    /// In vain, while operations are under way.
    static POLLS_BESIDE: Cell<u32> = const { Cell::new(0) };
}

/// Counts a poll of this thread. Whether it is the last of so many, from which counting starts anew.
#[inline]
fn is_due(polls: &'static LocalKey<Cell<u32>>, every: u32) -> bool {
    let count = polls.get() + 1;
    let is_due = count >= every;
    polls.set(if is_due { 0 } else { count });
    is_due
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
        if self.is_shared() || self.crowd.is_watched {
            self.make_way();
        }
        if self.operations.count() > 0 {
            self.look_at_operations();
        }
    }

    #[cold]
    fn look_at_operations(&self) {
        if is_due(&POLLS_BESIDE, ASKING_POLLS) {
            self.enquire_for_operations();
        }
    }

    #[inline]
    fn is_shared(&self) -> bool {
        self.pace.load().makes_way()
    }

    #[cold]
    fn make_way(&self) {
        let is_shared = self.is_shared();
        let is_crowded = !is_shared && self.crowd.is_there();
        let between = match (is_shared, is_crowded) {
            (true, _) => SHARED_POLLS,
            (false, true) => CROWDED_POLLS,
            (false, false) => ALONE_POLLS,
        };
        if !is_due(&POLLS, between) {
            return;
        }
        if is_crowded {
            self.crowd.nap();
            self.look_everywhere();
        } else if self.crowd.yield_core(&self.watch.background_wakes) {
            self.look_everywhere();
        }
    }
}

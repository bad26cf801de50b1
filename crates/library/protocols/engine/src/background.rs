//! Progress while the program computes: a thread of the library's own, for what other processes ask of this one while no call of
//! the program's is under way.
//!
//! It makes way for threads of the program's that make progress:
//! 1. It naps first of all, and begins again with a nap whenever it finds that others make progress. It finds that by how often
//!    lanes were entered while it slept, or by a thread that has waited for some turns; then it makes one turn of progress
//!    between two naps, which looks at all there is: those threads may turn to other lanes than the one that somebody waits for, and
//!    look more often at their own host than at others.
//! 2. While another thread watches the doorbell, it parks until that one leaves (`Watch::leave`).
//! 3. Else it watches the doorbell itself, and does not spin: it sleeps as soon as nothing moves any more.
//! 4. A thread that wants to sleep and finds it at the doorbell parks, as rule 2 of `wait.rs` has it, and then rings. It looks for
//!    parked threads after it has begun its sleep (`prepare_sleep`), so either it sees the thread or the ring ends that sleep. As it
//!    leaves it wakes the thread, which becomes the watcher.
//! 5. Of the operations it polls those that say so (`begin_in_background`): others call functions of the program, which may
//!    have a single thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weft_transport::Fabric;

use crate::engine::Engine;
use crate::operation::IS_BACKGROUND;
use crate::wait::Watching;
use crate::waiter::Waiter;
use crate::waiting::Pace;

/// How long it naps: so long a peer may wait for a program that has just begun to compute.
const NAP: Duration = Duration::from_millis(1);

/// One run of the background thread, from its start to its end.
pub struct Background {
    waiter: Arc<Waiter>,
    /// Written by the thread that ends the run, which then wakes this one. The doorbell and the parker order it.
    is_ended: AtomicBool,
}

impl Background {
    pub fn new() -> Background {
        Background {
            waiter: Arc::new(Waiter::thread()),
            is_ended: AtomicBool::new(false),
        }
    }

    pub fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::SeqCst)
    }
}

impl Default for Background {
    fn default() -> Background {
        Background::new()
    }
}

/// How often the lanes were entered, all together, at the moment of a look. A look enters each lane itself.
struct Entries {
    count: u64,
    lanes: u64,
}

impl<F: Fabric> Engine<F> {
    /// Makes progress until the run is ended. For one thread at a time that does nothing else.
    pub fn run_background(&self, background: &Background) {
        IS_BACKGROUND.set(true);
        self.count_background_wake();
        while !background.is_ended() {
            let before = self.entries();
            background.waiter.nap(NAP);
            self.count_background_wake();
            let is_alone = self.is_alone_since(before);
            if !is_alone && !self.watch.is_watched() {
                self.progress_everywhere();
                continue;
            }
            if self.watch.join_in_background(&background.waiter) {
                self.watch_in_background(background);
                self.watch.leave();
            } else if !background.is_ended() {
                background.waiter.park();
            }
        }
    }

    /// Has the run end soon.
    pub fn end_background(&self, background: &Background) {
        background.is_ended.store(true, Ordering::SeqCst);
        background.waiter.tell();
        self.fabric.wake();
    }

    /// Sleeps on the doorbell and does what comes, until others make progress, or the run is ended.
    fn watch_in_background(&self, background: &Background) {
        let _watching = Watching::begin();
        let is_to_leave = || background.is_ended() || self.watch.is_anybody_parked();
        loop {
            let ticket = self.fabric.prepare_sleep();
            let nothing_ready = self.prepare_operations();
            let busy = self.arm() || !nothing_ready;
            let before = self.entries();
            if !busy && !is_to_leave() {
                self.sleep_until_rung(ticket);
            }
            let is_alone = self.is_alone_since(before);
            self.operations.ready.wake_up();
            self.disarm();
            self.count_background_wake();
            for _ in 0..Pace::SHARED.yields {
                if is_to_leave() || !self.progress() {
                    break;
                }
            }
            if !is_alone || is_to_leave() {
                return;
            }
        }
    }

    fn count_background_wake(&self) {
        self.watch.background_wakes.fetch_add(1, Ordering::Relaxed);
    }

    /// None if a lane is held.
    fn entries(&self) -> Option<Entries> {
        let mut entries = Entries { count: 0, lanes: 0 };
        for lane in self.lanes.made() {
            let state = lane.enter()?;
            entries.count += state.core.tally.entries;
            entries.lanes += 1;
            self.leave(lane, state);
        }
        Some(entries)
    }

    /// Whether no other thread has made progress since, and none waits that has yet to sleep.
    fn is_alone_since(&self, before: Option<Entries>) -> bool {
        let (Some(before), Some(now)) = (before, self.entries()) else {
            return false;
        };
        let own = Entries {
            count: before.count + now.lanes,
            ..before
        };
        (own.count, own.lanes) == (now.count, now.lanes) && self.waiters() == 0
    }
}

//! Waiting: spin, then yield, then sleep until woken. For how long, `waiting/staying.rs` says.
//!
//! Threads that wait progress their lane; every so often all lanes, since a program may be right only if
//! another lane moves (Zambre 2020, fig. 9). Of the threads that sleep one is the *watcher*: it sleeps on the
//! fabric's doorbell and progresses every lane when it rings. The others are *parked*, each in its own place.
//! 1. A sleeper leaves its parker in the request it waits for, under the section of the request's lane; so
//!    the thread that completes the request finds it, or the sleeper finds the request complete.
//! 2. Whether there is a watcher, and which threads are parked, stand under one mutex ([`Watch`]). No thread parks without a
//!    watcher; a watcher that leaves wakes one of the parked, who takes its place, or, if its own wait is
//!    over, wakes the next.
//! 3. A thread that waits for something that no request tells of ([`Engine::block_on_outside`]) leaves its parker with the watcher,
//!    which wakes all of those each time before it sleeps: after each ring of the doorbell, that is, and at least as
//!    often as it wakes for nothing.
//! 4. A thread that completes requests tells their waiters after it has let go of the section; as the watcher
//!    may be among them, and is the one to poll operations while all sleep, it rings this process's own doorbell
//!    while one sleeps there.
//! 5. While the program computes the background thread, if there is one, may be the watcher; a thread that wants to sleep takes
//!    the place from it (`background.rs`).
//! 6. An operation may wait for something outside in a poll of its own. So a thread may want to sleep that polls it as the watcher: it
//!    watches the doorbell for that wait too, and is the watcher still afterwards ([`Watching`]).

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_transport::{Endpoint, Fabric};

use crate::condition::Condition;
use crate::engine::Engine;
use crate::lanes::{LANES, numbers};
use crate::make_way;
use crate::request_id::RequestId;
use crate::state::State;
use crate::waiter::Waiter;
use crate::waiting::{ALL_LANES_EVERY, BeforeTurn, Pace, Staying, wake_of};
use crate::watch::{SleepRole, Watch};

/// Threads alive that have ever waited: each may want a core, though it waits for nothing now.
static MEMBERS: AtomicU32 = AtomicU32::new(0);

/// A thread's share in [`MEMBERS`].
struct Member;

impl Member {
    fn new() -> Member {
        MEMBERS.fetch_add(1, Ordering::Relaxed);
        Member
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        MEMBERS.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    static MEMBER: Member = Member::new();
    static PARKER: Arc<Waiter> = Arc::new(Waiter::thread());
    static IS_WATCHER: Cell<bool> = const { Cell::new(false) };
}

/// While the calling thread is the watcher.
pub(crate) struct Watching {
    was_watcher: bool,
}

impl Watching {
    pub fn begin() -> Watching {
        let was_watcher = IS_WATCHER.replace(true);
        Watching { was_watcher }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        IS_WATCHER.set(self.was_watcher);
    }
}

pub(crate) struct AnyOf<'a, F: Fabric> {
    pub engine: &'a Engine<F>,
    pub ids: &'a [RequestId],
}

impl<F: Fabric> Condition for AnyOf<'_, F> {
    #[inline]
    fn met(&mut self) -> bool {
        self.ids.iter().any(|&id| self.engine.is_complete(id))
    }

    fn leave_parker(&mut self, parker: &Arc<Waiter>) {
        for &id in self.ids {
            self.engine.leave_waiter(id, parker);
        }
    }
}

struct Arrival<'a, F: Fabric, M> {
    engine: &'a Engine<F>,
    lane: u32,
    met: M,
}

impl<F: Fabric, M: FnMut() -> bool> Condition for Arrival<'_, F, M> {
    fn met(&mut self) -> bool {
        (self.met)()
    }

    fn leave_parker(&mut self, parker: &Arc<Waiter>) {
        let lane = self.engine.lane(self.lane);
        let mut state = lane.enter_soon();
        state.core.probers.push(parker.clone());
        self.engine.leave(lane, state);
    }
}

/// Something that no request of the engine's tells of.
struct Outside<'a, M, S, N> {
    watch: &'a Watch,
    met: M,
    /// Once met it stays so: asking may have been what took it.
    is_met: bool,
    /// Called before each sleep.
    sleeps: S,
    /// Says what this is, for a report; asked before the first sleep.
    note: N,
    is_noted: bool,
}

impl<M: FnMut() -> bool, S: FnMut(), N: Fn() -> String> Condition for Outside<'_, M, S, N> {
    fn met(&mut self) -> bool {
        self.is_met = self.is_met || (self.met)();
        self.is_met
    }

    fn leave_parker(&mut self, parker: &Arc<Waiter>) {
        let mut outside = self.watch.outside.lock();
        if !outside.iter().any(|other| Arc::ptr_eq(other, parker)) {
            outside.push(parker.clone());
        }
        drop(outside);
        (self.sleeps)();
        self.leave_note();
    }

    fn leave_note(&mut self) {
        if !self.is_noted {
            self.is_noted = true;
            let note = (PARKER.with(Arc::clone), (self.note)());
            self.watch.notes.lock().push(note);
        }
    }
}

impl<M, S, N> Drop for Outside<'_, M, S, N> {
    fn drop(&mut self) {
        if self.is_noted {
            let of_this = |parker: &Arc<Waiter>| PARKER.with(|own| Arc::ptr_eq(own, parker));
            let mut notes = self.watch.notes.lock();
            notes.retain(|(parker, _)| !of_this(parker));
        }
    }
}

impl<E: Endpoint> State<E> {
    /// One turn of progress: arrivals and what they ask for.
    #[inline]
    pub(crate) fn poll(&mut self) -> bool {
        let State { endpoint, core } = self;
        let moved = endpoint.poll(core);
        self.act();
        self.endpoint.flush();
        if !moved {
            self.idle();
        }
        self.core.count_turn();
        moved
    }
}

impl<F: Fabric> Engine<F> {
    /// Waits until one of `ids`, not empty, is complete. All lie on this engine; stale ones count as complete.
    pub fn wait_any(&self, ids: &[RequestId]) {
        let lane = ids.iter().find_map(|&id| self.lane_of(id)).unwrap_or(0);
        self.block(lane, AnyOf { engine: self, ids });
    }

    /// Waits until `met`, which is asked again whenever an unexpected message may have come to `lane`.
    pub fn block_on_arrival(&self, lane: u32, met: impl FnMut() -> bool) {
        self.block(
            lane,
            Arrival {
                engine: self,
                lane,
                met,
            },
        );
    }

    /// Waits until `met`, which is asked again after each ring of this process's doorbell and four times a second, and
    /// not any more once it has said so.
    pub fn block_on_outside(&self, met: impl FnMut() -> bool) {
        self.block_on_others(0, met, || (), String::new);
    }

    /// As [`block_on_outside`](Self::block_on_outside), for others that ring only who has said that it sleeps: `sleeps` is
    /// called before each sleep, after which `met` is asked once more. Progress is made on `lane` first of all, and
    /// `note` is for a report.
    pub fn block_on_others(
        &self,
        lane: u32,
        met: impl FnMut() -> bool,
        sleeps: impl FnMut(),
        note: impl Fn() -> String,
    ) {
        let outside = Outside {
            watch: &self.watch,
            met,
            is_met: false,
            sleeps,
            note,
            is_noted: false,
        };
        self.block(lane, outside);
    }

    /// One turn of progress on every lane in use, and on the operations. Whether anything moved.
    pub fn progress(&self) -> bool {
        let mut moved = self.progress_lanes();
        if self.operations.ready.any() {
            moved |= self.turn_operations();
        }
        moved
    }

    /// The same, but for the operations.
    #[inline]
    pub(crate) fn progress_lanes(&self) -> bool {
        self.turn_lanes(|_, _| true)
    }

    /// A wait of which no lane knows is over, the so-manieth of its kind. It may have been met at once, as may all before it.
    #[inline]
    pub fn waited_outside(&self, number: u32) {
        if number.is_multiple_of(ALL_LANES_EVERY) {
            self.look_at_all_lanes(None);
        }
    }

    /// A turn of every lane, but for the one that the thread has just been in, that looks at all there is. Whether anything moved, or is still under way.
    #[cold]
    pub(crate) fn look_at_all_lanes(&self, but: Option<u32>) -> bool {
        let mut under_way = false;
        let moved = self.turn_lanes(|number, state| {
            under_way |= !state.core.in_flight.is_empty() && but != Some(number);
            // Before the turn, after which else all lanes would be looked at from here again.
            state.core.all_lanes.begin_anew();
            state.endpoint.look();
            but != Some(number)
        });
        moved | under_way
    }

    /// One turn of every lane in use that `turns` says so of. Whether anything moved.
    #[inline]
    fn turn_lanes(&self, mut turns: impl FnMut(u32, &mut State<F::Endpoint>) -> bool) -> bool {
        let signalled = self.fabric.signalled();
        let mut moved = signalled >> LANES != 0 && self.fabric.serve();
        let notified = signalled & ((1 << LANES) - 1);
        for number in numbers(notified | self.lanes.begun()) {
            if notified >> number & 1 == 0 && self.lanes.get(number).is_none() {
                continue;
            }
            let lane = self.lane(number);
            if let Some(mut state) = lane.enter() {
                if turns(number, &mut state) {
                    moved |= state.poll();
                }
                self.leave(lane, state);
            }
        }
        moved
    }

    /// Whether peers ask for something to be done in this process's memory, or have done so a moment ago.
    #[inline]
    fn has_callers(&self) -> bool {
        self.fabric.signalled() >> LANES != 0
    }

    /// Does what they ask. Whether there was anything.
    #[inline]
    pub(crate) fn serve_callers(&self) -> bool {
        self.has_callers() && self.fabric.serve()
    }

    /// One turn of progress on one lane, unless another thread is at it.
    #[inline]
    pub fn progress_lane(&self, lane: u32) -> bool {
        let lane = self.lane(lane);
        let Some(mut state) = lane.enter() else {
            return false;
        };
        let moved = state.poll();
        self.leave(lane, state);
        moved
    }

    #[inline]
    pub(crate) fn block(&self, lane: u32, mut condition: impl Condition) {
        if condition.met() {
            return;
        }
        let (mut staying, mut all_turns) = (Staying::new(self.pace.load()), 0u32);
        loop {
            let moved = self.progress_lane(lane) | self.serve_callers();
            all_turns = all_turns.wrapping_add(1);
            if moved {
                staying.moved();
            }
            if self.operations.ready.any() {
                self.turn_operations();
            }
            if condition.met() {
                break;
            }
            if staying.count_turn() {
                staying.set_pace(self.count_waiter());
            }
            // Also while others hold the lane that is waited for, which then counts no turns of this thread's.
            if all_turns.is_multiple_of(ALL_LANES_EVERY) {
                self.look_at_all_lanes(Some(lane));
                if self.is_report_asked() {
                    condition.leave_note();
                    self.report_if_asked();
                }
            }
            if moved {
                // A long message takes two turns: one takes its beginning, the next its data. A thread that yields between them costs two switches more.
                continue;
            }
            match self.step(&mut staying) {
                BeforeTurn::Spin => std::hint::spin_loop(),
                BeforeTurn::Yield => self.yield_while(&mut staying),
                BeforeTurn::Sleep if self.sleep(&mut condition) => break,
                BeforeTurn::Sleep => {}
            }
        }
        if staying.is_counted() {
            self.watch.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[inline]
    fn step(&self, staying: &mut Staying) -> BeforeTurn {
        let wake_ns = || self.wake_cost.known_ns();
        staying.step(weft_sync::now_ns, wake_ns, make_way::keeps)
    }

    /// Lets others have the core, and what it waits for with it if they want it again and again.
    fn yield_while(&self, staying: &mut Staying) {
        if self.yield_core() && self.crowd.is_there(weft_sync::now_ns) {
            staying.set_pace(Pace::CROWDED);
        }
    }

    /// A thread has waited for some turns: how long it may go on depends on whether it has a core to itself, among the threads of
    /// its process and others.
    #[cold]
    fn count_waiter(&self) -> Pace {
        self.watch.waiting.fetch_add(1, Ordering::Relaxed);
        self.pace_of_waiter()
    }

    pub(crate) fn pace_of_waiter(&self) -> Pace {
        let waiters = MEMBER.with(|_| MEMBERS.load(Ordering::Relaxed));
        if self.crowd.is_there(weft_sync::now_ns) {
            // However many threads this process has: one that yields to others' waits for their time slices.
            Pace::CROWDED
        } else if waiters > self.threads {
            Pace::SHARED
        } else {
            self.pace.load()
        }
    }

    /// Sleeps once as watcher or parked. True if the condition is met; false says nothing.
    #[cold]
    fn sleep(&self, condition: &mut impl Condition) -> bool {
        let parker = PARKER.with(Arc::clone);
        condition.leave_parker(&parker);
        if condition.met() {
            return true;
        }
        self.report_if_asked();
        self.watch.sleeps.fetch_add(1, Ordering::Relaxed);
        let _sleeping = self.watch.sleeping();
        if IS_WATCHER.get() {
            return self.watch_doorbell(condition);
        }
        let place = self.watch.join(&parker);
        if !matches!(place, SleepRole::Watcher) {
            if matches!(place, SleepRole::PromisedWatch) {
                self.fabric.wake();
            }
            match condition.longest_sleep() {
                None => parker.park(),
                Some(limit) => parker.nap(limit),
            }
            let met = condition.met();
            if !self.watch.rejoin(&parker, met) {
                return met;
            }
        }
        let met = self.watch_doorbell(condition);
        self.watch.leave();
        met
    }

    /// Sleeps on the fabric's doorbell until it rings, and then again until the condition is met.
    #[inline(never)]
    fn watch_doorbell(&self, condition: &mut impl Condition) -> bool {
        let _watching = Watching::begin();
        loop {
            let ticket = self.fabric.prepare_sleep();
            self.watch.wake_outside();
            let nothing_ready = self.prepare_operations();
            let busy = self.arm() || !nothing_ready;
            // Once met, nothing more is done here: what was asked for may be a lock, which is held from then on.
            let is_met = condition.met();
            let is_rung = !busy && !is_met && self.sleep_until_rung(ticket);
            self.operations.ready.wake_up();
            self.disarm();
            self.report_if_asked();
            if self.operations.count() > 0 {
                self.enquire_for_operations();
            }
            if is_met || self.linger(condition, is_rung || busy) {
                return true;
            }
            PARKER.with(|parker| condition.leave_parker(parker));
        }
    }

    /// Sleeps on the doorbell. Whether somebody rang who said when: what a wake costs is known from that.
    pub(crate) fn sleep_until_rung(&self, ticket: u32) -> bool {
        let slept_at = weft_sync::now_ns();
        self.fabric.sleep(ticket, None);
        let rung_at = self.fabric.rung_at();
        let wake = rung_at.and_then(|rung_at| wake_of(slept_at, rung_at, weft_sync::now_ns()));
        if let Some(wake_ns) = wake {
            self.wake_cost.note(wake_ns);
        }
        rung_at.is_some()
    }

    /// After a sleep: makes progress until the condition is met, or nothing more comes. A thread that was rung and has a core to itself stays awake as
    /// if its wait had just begun: what it waits for is under way. Any other does where something came: more of it may be, to a thread that serves
    /// others here, as in a barrier while its window is accessed.
    fn linger(&self, condition: &mut impl Condition, is_rung: bool) -> bool {
        let pace = self.pace_of_waiter();
        let mut staying = match is_rung && pace.stays_awake() {
            true => Staying::new(pace),
            false => Staying::new(Pace::CROWDED),
        };
        for turn in 1u32.. {
            let moved = self.progress();
            if condition.met() {
                return true;
            }
            if moved {
                staying = Staying::new(pace.after_something());
            } else {
                match self.step(&mut staying) {
                    BeforeTurn::Spin if !pace.makes_way() => std::hint::spin_loop(),
                    BeforeTurn::Sleep if !self.has_callers() => break,
                    _ => self.yield_while(&mut staying),
                }
                staying.count_turn();
            }
            if turn.is_multiple_of(Pace::SHARED.yields) {
                self.watch.wake_outside();
                self.report_if_asked();
            }
        }
        false
    }

    /// Asks every lane's senders to ring. True if something is there already.
    pub(crate) fn arm(&self) -> bool {
        let mut busy = self.fabric.signalled() != 0;
        for lane in self.lanes.made() {
            let mut state = lane.enter_soon();
            busy |= state.endpoint.arm();
            self.leave(lane, state);
        }
        busy
    }

    /// The calling thread did not run for a while: what the next turn of each lane looks at is all that may have come meanwhile.
    #[cold]
    pub(crate) fn look_everywhere(&self) {
        for lane in self.lanes.made() {
            if let Some(mut state) = lane.enter() {
                state.endpoint.look();
                self.leave(lane, state);
            }
        }
    }

    /// One turn of progress that looks at all there is, of a thread that waits for something else and makes few.
    pub fn progress_everywhere(&self) {
        self.look_everywhere();
        self.progress();
    }

    pub(crate) fn disarm(&self) {
        for lane in self.lanes.made() {
            let mut state = lane.enter_soon();
            state.endpoint.disarm();
            state.watch_awaited_if_due();
            self.leave(lane, state);
        }
    }
}

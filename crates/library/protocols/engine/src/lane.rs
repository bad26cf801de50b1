//! A lane: one submission list, one section, one endpoint, one matching table.
//!
//! The thread that holds the section does all that waits for it: submissions, arrived packets, outbound queues;
//! wake-ups are gathered while it is held and given when it is let go (Denis 2019 §V-B), and so are links to be made, which is
//! slow. No thread blocks on a section: a submitter that finds it held leaves its request on the list, with a notification that the
//! holder answers before it leaves.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use weft_matching::Matching;
use weft_sync::{Guard, Section, Submissions};
use weft_transport::{Endpoint, Peer};

use crate::outbound::Outbound;
use crate::peers::{Members, Reported, Watched};
use crate::pending::Pending;
use crate::slots::{FreeSlots, Slots};
use crate::state::{Core, Deferred, State};
use crate::tally::Tally;
use crate::throttle::Throttle;
use crate::waiting::AllLanes;

pub(crate) struct Lane<E> {
    number: u32,
    pub section: Section<State<E>>,
    pub submissions: Submissions,
    /// Free slots that threads gave back without the section.
    pub returned: Submissions,
}

/// What the lanes of a process have in common.
pub(crate) struct Shared {
    pub me: Peer,
    pub slots: Arc<Slots>,
    pub reported: Arc<Reported>,
    pub members: Arc<dyn Members>,
}

impl Core {
    fn new(shared: &Shared) -> Core {
        Core {
            me: shared.me,
            slots: shared.slots.clone(),
            matching: Matching::new(),
            deferred: Deferred::default(),
            outbound: Outbound::default(),
            throttle: Throttle::default(),
            actions: VecDeque::new(),
            afterwards: Vec::new(),
            probers: Vec::new(),
            detached: 0,
            in_flight: BTreeSet::new(),
            lost: BTreeSet::new(),
            reported: shared.reported.clone(),
            members: shared.members.clone(),
            watched: Watched::default(),
            tally: Tally::default(),
            all_lanes: AllLanes::default(),
            free: FreeSlots::default(),
        }
    }
}

/// Writes what `make` makes to `place`. Out of line, so that its stack is given back before the next is made.
///
/// # Safety
/// `place` is memory for a value.
#[inline(never)]
unsafe fn make_at<T>(place: *mut T, make: impl FnOnce() -> T) {
    // SAFETY: the caller's.
    unsafe { place.write(make()) };
}

impl<E: Endpoint> Lane<E> {
    /// Puts a lane together where it lies from then on, part by part: a thread's stack may be a small one, and holds no more than
    /// one part at a time.
    #[inline(never)]
    pub fn new(number: u32, endpoint: impl FnOnce() -> E, shared: &Shared) -> Box<Lane<E>> {
        let mut lane = Box::<Lane<E>>::new_uninit();
        let place = lane.as_mut_ptr();
        // SAFETY: the memory is a lane's and nobody else's; each field is written, and nothing of it is read before all are.
        unsafe {
            let state = Section::write_around_value(&raw mut (*place).section);
            make_at(&raw mut (*state).endpoint, endpoint);
            make_at(&raw mut (*state).core, || Core::new(shared));
            (&raw mut (*place).number).write(number);
            (&raw mut (*place).submissions).write(Submissions::new());
            (&raw mut (*place).returned).write(Submissions::new());
            let lane = lane.assume_init();
            // One more field of either is an error here until it is written above.
            let Lane {
                number: _,
                section: _,
                submissions: _,
                returned: _,
            } = &*lane;
            let State {
                endpoint: _,
                core: _,
            } = &*state;
            lane
        }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// Enters if the section is free, with earlier submissions already served and no receive deferred.
    #[inline(always)]
    pub fn enter(&self) -> Option<Guard<'_, State<E>>> {
        let mut state = self.enter_to_receive()?;
        if !self.submissions.is_empty() {
            self.serve(&mut state);
        }
        state.post_deferred();
        Some(state)
    }

    /// As [`Lane::enter`], for nothing but posting a receive: submissions may be there yet, and others deferred.
    #[inline(always)]
    pub fn enter_to_receive(&self) -> Option<Guard<'_, State<E>>> {
        let mut state = self.section.try_enter()?;
        state.core.tally.entries += 1;
        Some(state)
    }

    /// Enters, waiting for a holder to leave. Holders never sleep; for operations off the fast path.
    pub fn enter_soon(&self) -> Guard<'_, State<E>> {
        let mut tries = 0u32;
        loop {
            if let Some(state) = self.enter() {
                return state;
            }
            tries += 1;
            if tries.is_multiple_of(64) {
                weft_sync::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    #[cold]
    #[inline(never)]
    pub fn serve(&self, state: &mut State<E>) {
        state.post_deferred();
        let slots = state.core.slots.clone();
        let mut batch = self.submissions.take(&*slots);
        while let Some(index) = batch.pop(&*slots) {
            state.core.tally.submitted += 1;
            // SAFETY: handed over by this lane's list (slot protocol, rule 1).
            state.start(unsafe { Pending::new(index) });
        }
        state.act();
    }
}

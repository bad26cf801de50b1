//! A lane: one submission list, one section, one endpoint, one matching table.
//!
//! Whoever holds the section does all that waits for it: submissions, arrived packets, outbound queues;
//! wake-ups are gathered while it is held and given when it is let go (Denis 2019 §V-B), and so are links to be made, which is
//! slow. Nobody blocks on a section: a submitter that finds it held leaves its request on the list, with a knock that the
//! holder answers before it leaves.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use weft_matching::Matching;
use weft_sync::{Guard, Section, Submissions};
use weft_transport::{Endpoint, Fabric, Lost, Peer};

use crate::Engine;
use crate::counts::Tally;
use crate::lost::{Members, Reported, Watched};
use crate::matched::{Posted, Unexpected};
use crate::outbound::{Control, Outbound};
use crate::put_off::PutOff;
use crate::slot::{NIL, Slot};
use crate::slots::{FreeSlots, Slots};
use crate::throttle::Throttle;
use crate::waiter::Waiter;

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
    pub peers: u32,
    pub slots: Arc<Slots>,
    pub reported: Arc<Reported>,
    pub members: Arc<dyn Members>,
}

/// What a lane's section protects.
pub(crate) struct State<E> {
    pub endpoint: E,
    pub core: Core,
}

/// A lane's state but for its endpoint, so that arrivals can change it while the endpoint polls.
pub(crate) struct Core {
    pub me: Peer,
    pub slots: Arc<Slots>,
    pub matching: Matching<Posted, Unexpected>,
    /// Empty whenever anybody but a receive is inside.
    pub put_off: PutOff,
    pub outbound: Outbound,
    pub throttle: Throttle,
    /// What an arrival asks of the endpoint, which is busy delivering it.
    pub actions: VecDeque<Action>,
    /// To be done when the section is let go.
    pub afterwards: Vec<Afterwards>,
    /// Threads that sleep in a blocking probe: any unexpected message may be theirs.
    pub probers: Vec<Arc<Waiter>>,
    /// Sends and operations that nobody will finish: a process must not leave before they are over.
    pub detached: usize,
    /// Requests that wait for another process, matched or announced, by slot.
    pub in_flight: HashSet<u32>,
    /// Peers that were lost, as far as this lane was told, for ever.
    pub lost: BTreeSet<Peer>,
    pub reported: Arc<Reported>,
    pub members: Arc<dyn Members>,
    pub watched: Watched,
    pub tally: Tally,
    /// For the next requests.
    pub free: FreeSlots,
}

/// What is done by the thread that was inside once it has let the section go.
pub(crate) enum Afterwards {
    Wake(Arc<Waiter>),
    /// Has the link to this peer made, which may take long.
    Connect(Peer),
}

/// Put off until the endpoint is free.
pub(crate) enum Action {
    Control {
        peer: Peer,
        control: Control,
    },
    /// Take an offer back.
    Retract {
        peer: Peer,
        slot: u32,
    },
    /// There is room again.
    Flush {
        peer: Peer,
    },
    Throttle {
        peer: Peer,
        on: bool,
    },
    /// The peer has broken the protocol.
    End {
        peer: Peer,
        why: Lost,
    },
}

impl Action {
    pub fn peer(&self) -> Peer {
        match *self {
            Action::Control { peer, .. }
            | Action::Retract { peer, .. }
            | Action::Flush { peer }
            | Action::Throttle { peer, .. }
            | Action::End { peer, .. } => peer,
        }
    }
}

impl<E: Endpoint> Lane<E> {
    pub fn new(number: u32, endpoint: E, shared: &Shared) -> Lane<E> {
        let Shared { me, peers, .. } = *shared;
        let core = Core {
            me,
            slots: shared.slots.clone(),
            matching: Matching::new(),
            put_off: PutOff::default(),
            outbound: Outbound::new(peers),
            throttle: Throttle::new(peers),
            actions: VecDeque::new(),
            afterwards: Vec::new(),
            probers: Vec::new(),
            detached: 0,
            in_flight: HashSet::new(),
            lost: BTreeSet::new(),
            reported: shared.reported.clone(),
            members: shared.members.clone(),
            watched: Watched::default(),
            tally: Tally::default(),
            free: FreeSlots::default(),
        };
        Lane {
            number,
            section: Section::new(State { endpoint, core }),
            submissions: Submissions::new(),
            returned: Submissions::new(),
        }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// Enters if nobody is inside, with earlier submissions already served and no receive put off.
    #[inline(always)]
    pub fn enter(&self) -> Option<Guard<'_, State<E>>> {
        let mut state = self.enter_to_receive()?;
        if !self.submissions.is_empty() {
            self.serve(&mut state);
        }
        state.post_put_off();
        Some(state)
    }

    /// As [`Lane::enter`], for nothing but posting a receive: submissions may be there yet, and others put off.
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
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    #[cold]
    pub fn serve(&self, state: &mut State<E>) {
        state.post_put_off();
        let slots = state.core.slots.clone();
        let mut batch = self.submissions.take(&*slots);
        while let Some(slot) = batch.pop(&*slots) {
            state.core.tally.submitted += 1;
            state.start(slot);
        }
        state.act();
    }
}

impl<F: Fabric> Engine<F> {
    /// Lets go, once nothing waits for the section, and wakes whom it concerns.
    #[inline(always)]
    pub(crate) fn leave<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Guard<'a, State<F::Endpoint>>,
    ) {
        if !state.core.afterwards.is_empty() {
            return self.leave_and_act(lane, state);
        }
        self.leave_quietly(lane, state);
    }

    /// As [`leave`](Self::leave), of who cannot have completed anything.
    #[inline(always)]
    pub(crate) fn leave_quietly<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Guard<'a, State<F::Endpoint>>,
    ) {
        debug_assert!(state.core.afterwards.is_empty() && state.core.actions.is_empty());
        if let Some(again) = state.leave() {
            self.serve_and_leave(lane, again);
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_and_act<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        mut state: Guard<'a, State<F::Endpoint>>,
    ) {
        let afterwards = std::mem::take(&mut state.core.afterwards);
        let again = state.leave();
        let mut peers = Vec::new();
        for what in afterwards {
            match what {
                Afterwards::Wake(waiter) => waiter.tell(),
                Afterwards::Connect(peer) => peers.push(peer),
            }
        }
        self.ring_if_asleep();
        if let Some(again) = again {
            self.serve_and_leave(lane, again);
        }
        if !peers.is_empty() {
            self.connect(lane, peers);
        }
    }

    /// Has links made, and sends what waited for them.
    #[cold]
    fn connect(&self, lane: &Lane<F::Endpoint>, mut peers: Vec<Peer>) {
        peers.sort_unstable();
        peers.dedup();
        peers.iter().for_each(|&peer| self.fabric.connect(peer));
        let mut state = lane.enter_soon();
        state.poll();
        self.leave(lane, state);
    }

    #[cold]
    #[inline(never)]
    fn serve_and_leave<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        mut state: Guard<'a, State<F::Endpoint>>,
    ) {
        lane.serve(&mut state);
        self.leave(lane, state);
    }

    /// A free slot for a request of the lane.
    pub(crate) fn take_free(&self, lane: &Lane<F::Endpoint>, core: &mut Core) -> Option<&Slot> {
        if core.free.is_empty() {
            self.refill(lane, core);
        }
        core.free.pop(&self.slots)
    }

    /// Gets free slots for the lane, if there are any: those that were given back, else a fresh one.
    #[inline(never)]
    fn refill(&self, lane: &Lane<F::Endpoint>, core: &mut Core) {
        let mut first = lane.returned.take_linked();
        if first == NIL
            && let Some(index) = self.slots.fresh()
        {
            let slot = self.slots.at(index);
            slot.link.store(NIL, Ordering::Relaxed);
            // SAFETY: just taken from those that are free, by this thread.
            unsafe { Slots::blank(slot) }.lane = lane.number as u8;
            first = index;
        }
        core.free.begin_at(first, &self.slots);
    }

    /// Gives a freed slot back to where it belongs, by [`Cells::lane`](crate::slot::Cells), from a thread that is not in
    /// the section.
    #[inline]
    pub(crate) fn give_back(&self, lane: u8, slot: &Slot) {
        // With POOLED it is no lane's number.
        match self
            .lanes
            .get(usize::from(lane))
            .and_then(|lane| lane.get())
        {
            Some(lane) => lane.returned.push_plainly(slot.index, &slot.link),
            None => self.slots.give_back(slot.index),
        }
    }

    /// Hands a filled slot to a lane that was found held: through its list.
    pub(crate) fn submit(&self, lane: &Lane<F::Endpoint>, slot: u32) {
        lane.submissions.push(slot, &*self.slots);
        if let Some(mut state) = lane.section.knock() {
            lane.serve(&mut state);
            self.leave(lane, state);
        }
    }
}

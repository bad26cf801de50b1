//! A lane: one submission list, one section, one endpoint, one matching table.
//!
//! Whoever holds the section does all that waits for it: submissions, arrived packets, outbound queues;
//! wake-ups are gathered while it is held and given when it is let go (Denis 2019 §V-B). Nobody blocks on a
//! section: a submitter that finds it held leaves its request on the list, with a knock that the holder
//! answers before it leaves.

use std::collections::HashSet;
use std::sync::Arc;

use weft_matching::Matching;
use weft_sync::{Guard, Parker, Section, Submissions};
use weft_transport::{Endpoint, Fabric, Offer, Peer};

use crate::Engine;
use crate::matched::{Posted, Unexpected};
use crate::outbound::{Control, Outbound};
use crate::slots::Slots;
use crate::throttle::Throttle;

pub(crate) struct Lane<E> {
    pub section: Section<State<E>>,
    pub submissions: Submissions,
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
    pub outbound: Outbound,
    pub throttle: Throttle,
    /// What an arrival asks of the endpoint, which is busy delivering it.
    pub actions: Vec<Action>,
    /// Threads to wake when the section is let go.
    pub wakes: Vec<Arc<Parker>>,
    /// Threads that sleep in a blocking probe: any unexpected message may be theirs.
    pub probers: Vec<Arc<Parker>>,
    /// Sends that nobody will finish: a process must not leave before they are out.
    pub detached_sends: usize,
    /// Requests that wait for another process, matched or announced, by slot.
    pub in_flight: HashSet<u32>,
}

/// Put off until the endpoint is free.
pub(crate) enum Action {
    /// Take up an offer for this receive.
    Accept {
        slot: u32,
        offer: Offer,
        bytes: u64,
    },
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
}

impl<E: Endpoint> Lane<E> {
    pub fn new(endpoint: E, me: Peer, peers: u32, slots: Arc<Slots>) -> Lane<E> {
        let core = Core {
            me,
            slots,
            matching: Matching::new(),
            outbound: Outbound::new(peers),
            throttle: Throttle::new(peers),
            actions: Vec::new(),
            wakes: Vec::new(),
            probers: Vec::new(),
            detached_sends: 0,
            in_flight: HashSet::new(),
        };
        Lane {
            section: Section::new(State { endpoint, core }),
            submissions: Submissions::new(),
        }
    }

    /// Enters if nobody is inside, with earlier submissions already served.
    #[inline]
    pub fn enter(&self) -> Option<Guard<'_, State<E>>> {
        let mut state = self.section.try_enter()?;
        if !self.submissions.is_empty() {
            self.serve(&mut state);
        }
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
        let slots = state.core.slots.clone();
        let mut batch = self.submissions.take(&*slots);
        while let Some(slot) = batch.pop(&*slots) {
            state.start(slot);
        }
        state.act();
    }
}

impl<F: Fabric> Engine<F> {
    /// Lets go, once nothing waits for the section, and wakes whom it concerns.
    #[inline]
    pub(crate) fn leave<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        mut state: Guard<'a, State<F::Endpoint>>,
    ) {
        loop {
            let wakes = match state.core.wakes.is_empty() {
                true => Vec::new(),
                false => std::mem::take(&mut state.core.wakes),
            };
            let next = state.leave();
            if !wakes.is_empty() {
                self.wake(wakes);
            }
            match next {
                None => return,
                Some(again) => state = again,
            }
            lane.serve(&mut state);
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

//! The engine's parts, and what it is made with.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_transport::{Fabric, Peer};

use crate::enquiry::Answer;
use crate::lane::{Lane, Shared};
use crate::lanes::Lanes;
use crate::notice::Listener;
use crate::operations::Operations;
use crate::peers::{Everyone, Members};
use crate::slots::Slots;
use crate::waiting::{Crowd, Pace, PaceCell, WakeCost};
use crate::watch::Watch;

/// Too many requests are outstanding for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// A process's engine on a fabric.
pub struct Engine<F: Fabric> {
    pub(crate) fabric: F,
    pub(crate) me: Peer,
    pub(crate) slots: Arc<Slots>,
    pub(crate) shared: Shared,
    pub(crate) lanes: Lanes<F::Endpoint>,
    pub(crate) watch: Watch,
    pub(crate) operations: Operations,
    pub(crate) pace: PaceCell,
    pub(crate) crowd: Crowd,
    pub(crate) wake_cost: WakeCost,
    /// Threads of this process that can wait at once, each on a core.
    pub(crate) threads: u32,
    pub(crate) report_asked: AtomicBool,
    pub(crate) answer: Answer,
    pub(crate) listener: Listener,
}

impl<F: Fabric> Engine<F> {
    /// The engine of process `me` of `peers`, which may use `threads` cores.
    pub fn new(fabric: F, me: Peer, peers: u32, pace: Pace, threads: u32) -> Engine<F> {
        let slots = Arc::new(Slots::new());
        let shared = Shared {
            me,
            slots: slots.clone(),
            reported: Arc::default(),
            members: Arc::new(Everyone { me, size: peers }),
        };
        Engine {
            fabric,
            me,
            slots,
            shared,
            lanes: Lanes::new(),
            watch: Watch::default(),
            operations: Operations::default(),
            pace: PaceCell::new(pace),
            crowd: Crowd::default(),
            wake_cost: WakeCost::default(),
            threads,
            report_asked: AtomicBool::new(false),
            answer: |_| None,
            listener: Listener::NOBODY,
        }
    }

    /// Says whose messages may come in a context, where that is not every process. Before the engine is used.
    pub fn with_members(mut self, members: Arc<dyn Members>) -> Engine<F> {
        self.shared.members = members;
        self
    }

    /// Has threads that wait sleep at once while others want their cores. Before the engine is used. It is for processes that wait
    /// for other hosts: a message from there takes as long as a wake.
    pub fn with_crowd_watched(mut self) -> Engine<F> {
        self.crowd.is_watched = true;
        self
    }

    /// How long threads that have a core each stay awake.
    pub fn pace(&self) -> Pace {
        self.pace.load()
    }

    /// Changes that, for waits that begin from here on.
    pub fn set_pace(&self, pace: Pace) {
        self.pace.store(pace);
    }

    /// The fabric.
    pub fn fabric(&self) -> &F {
        &self.fabric
    }

    #[inline(always)]
    pub(crate) fn lane(&self, lane: u32) -> &Lane<F::Endpoint> {
        let make = move || Lane::new(lane, || self.fabric.endpoint(lane), &self.shared);
        self.lanes.get_or_make(lane, make)
    }
}

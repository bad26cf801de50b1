//! The engine: requests, matching, eager and rendezvous transfers, lanes and their progress.
//!
//! It knows contexts, ranks in a communicator, tags and peers, but no communicator; buffers, but no datatype;
//! a transport, but not which. See the modules for the protocols: [`slot`] (a request's life), [`lane`] (who
//! does what), [`send`] and [`arrival`] (the wire), [`wait`] (sleeping), [`lost`] (peers that die or lie), [`operation`] (what is made of
//! several requests).

mod arrival;
mod cancel;
mod core;
mod counts;
mod external;
mod finish;
mod lane;
mod lost;
mod matched;
mod once;
mod operation;
mod outbound;
mod own;
mod post;
mod probe;
mod put_off;
mod receive;
mod report;
mod send;
mod slot;
mod slots;
mod status;
mod strategy;
#[cfg(test)]
mod tests;
mod throttle;
mod wait;
mod waiter;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_transport::{Fabric, Peer};

use crate::lane::{Lane, Shared};
use crate::lost::Everyone;
use crate::once::Once;
use crate::operation::Operations;
use crate::slots::Slots;
use crate::wait::{PaceCell, Watch};

pub use counts::Counts;
pub use lost::Members;
pub use operation::Awaited;
pub use post::{ANYBODY, Incoming, Outgoing, Route, Span};
pub use probe::{NotExtracted, Wanted};
pub use send::longest_eager;
pub use slots::RequestId;
pub use status::{Failure, Status};
pub use throttle::{UNEXPECTED_BYTES, UNEXPECTED_MESSAGES};
pub use wait::Pace;

/// Lanes of a process; all processes of a job have the same number. Each exists once it is used.
pub const LANES: u32 = 8;

/// Too many requests are outstanding for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// A process's engine on a fabric.
pub struct Engine<F: Fabric> {
    fabric: F,
    me: Peer,
    slots: Arc<Slots>,
    shared: Shared,
    lanes: [Once<Lane<F::Endpoint>>; LANES as usize],
    watch: Watch,
    operations: Operations,
    pace: PaceCell,
    /// Threads of this process that can wait at once, each on a core.
    threads: u32,
    report_asked: AtomicBool,
}

impl<F: Fabric> Engine<F> {
    /// The engine of process `me` of `peers`, which may use `threads` cores.
    pub fn new(fabric: F, me: Peer, peers: u32, pace: Pace, threads: u32) -> Engine<F> {
        let slots = Arc::new(Slots::new());
        let shared = Shared {
            me,
            peers,
            slots: slots.clone(),
            reported: Arc::default(),
            members: Arc::new(Everyone(peers)),
        };
        Engine {
            fabric,
            me,
            slots,
            shared,
            lanes: [const { Once::new() }; LANES as usize],
            watch: Watch::default(),
            operations: Operations::default(),
            pace: PaceCell::new(pace),
            threads,
            report_asked: AtomicBool::new(false),
        }
    }

    /// Says whose messages may come in a context, where that is not every process. Before the engine is used.
    pub fn with_members(mut self, members: Arc<dyn Members>) -> Engine<F> {
        self.shared.members = members;
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

    #[inline]
    pub(crate) fn lane(&self, lane: u32) -> &Lane<F::Endpoint> {
        debug_assert!(lane < LANES);
        // The remainder says to the compiler that it is within.
        self.lanes[(lane % LANES) as usize]
            .get_or_make(move || Lane::new(lane, self.fabric.endpoint(lane), &self.shared))
    }
}

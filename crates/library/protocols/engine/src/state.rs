//! A lane's state: all that its section protects.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use weft_matching::{Matching, Pattern};
use weft_transport::{Cookie, Lost, Peer};

use crate::enquiry::Enquiry;
use crate::notice::Notice;
use crate::outbound::{Control, Outbound};
use crate::peers::{Members, Reported, Watched};
use crate::pending::Pending;
use crate::posted::Posted;
use crate::slots::{FreeSlots, Slots};
use crate::tally::Tally;
use crate::throttle::Throttle;
use crate::unexpected::Unexpected;
use crate::waiter::Waiter;
use crate::waiting::AllLanes;

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
    /// Empty unless the thread inside posts a receive.
    pub deferred: Deferred,
    pub outbound: Outbound,
    pub throttle: Throttle,
    /// What an arrival asks of the endpoint, which is busy delivering it.
    pub actions: VecDeque<Action>,
    /// To be done when the section is let go.
    pub afterwards: Vec<Afterwards>,
    /// Threads that sleep in a blocking probe: any unexpected message may be theirs.
    pub probers: Vec<Arc<Waiter>>,
    /// Detached sends and operations: a process must not leave before they are over.
    pub detached: usize,
    /// Requests that wait for another process, matched or announced, by slot.
    pub in_flight: BTreeSet<Pending>,
    /// Peers that were lost, as far as this lane was told, for ever.
    pub lost: BTreeSet<Peer>,
    pub reported: Arc<Reported>,
    pub members: Arc<dyn Members>,
    pub watched: Watched,
    pub tally: Tally,
    pub all_lanes: AllLanes,
    /// For the next requests.
    pub free: FreeSlots,
}

/// What is done by the thread that was inside once it has let the section go.
pub(crate) enum Afterwards {
    Wake(Arc<Waiter>),
    /// Has the link to this peer made, which may take long.
    Connect(Peer),
    /// What a peer asks, and the cookie of its request.
    Answer(Enquiry, Cookie),
    /// What a peer has said.
    Notice(Notice),
    /// This peer is lost.
    Lost(Peer),
    LookAtAllLanes,
}

/// Deferred until the endpoint is free.
pub(crate) enum Action {
    Control {
        peer: Peer,
        control: Control,
    },
    /// Take a bulk transfer back that the receiver has not taken up.
    BulkCancel {
        peer: Peer,
        slot: Pending,
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
            | Action::BulkCancel { peer, .. }
            | Action::Flush { peer }
            | Action::Throttle { peer, .. }
            | Action::End { peer, .. } => peer,
        }
    }
}

/// Receives that have not looked for their message yet (`deferred.rs`).
#[derive(Default)]
pub(crate) struct Deferred {
    pub slots: Vec<Pending>,
    pub patterns: Vec<Pattern>,
}

impl Deferred {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

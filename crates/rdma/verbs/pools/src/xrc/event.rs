//! What becomes of connections.

use std::fmt;

use super::adapter::{Process, SharedQueue};
use super::message::Reason;

/// What the transport is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Messages may be sent to the peer: through that send queue pair, to those of its queues.
    Connected {
        peer: Process,
        send: u32,
        queues: Vec<SharedQueue>,
    },
    /// A peer that was connected no longer is, since the send queue pair to its host is destroyed. It may be connected again.
    Down { peer: Process },
    /// A peer that was to be connected is not.
    Failed { peer: Process, why: Failure },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This process's adapter has no queue pair left.
    NoResources,
    Refused(Reason),
    /// It has not answered, however often it was asked.
    Silent,
    /// It has answered something that was not asked.
    Nonsense,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Failure::NoResources => "this process's adapter has no queue pair left",
            Failure::Refused(Reason::NoResources) => "its adapter has no queue pair left",
            Failure::Refused(Reason::Leaving) => "it is leaving",
            Failure::Silent => "it does not answer",
            Failure::Nonsense => "it has answered what was not asked",
        })
    }
}

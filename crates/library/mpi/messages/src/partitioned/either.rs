//! Either side.

use std::sync::Arc;

use weft_engine::RequestId;
use weft_error::Result;

use super::checks::{Stage, inactive_only};
use super::receive::Receiving;
use super::send::Sending;
use crate::request::Status;

/// A partitioned send or receive.
pub(crate) enum Partitioned {
    Send(Sending),
    Receive(Arc<Receiving>),
}

impl Partitioned {
    pub fn start(&self) -> Result<()> {
        match self {
            Partitioned::Send(send) => send.start(),
            Partitioned::Receive(receive) => receive.start(),
        }
    }

    pub fn stage(&self) -> Result<Stage> {
        match self {
            Partitioned::Send(send) => Ok(send.stage()),
            Partitioned::Receive(receive) => receive.stage(),
        }
    }

    /// A request of the engine's that it waits for while it is pending; none if that is over.
    pub fn part(&self) -> Option<RequestId> {
        match self {
            Partitioned::Send(send) => send.part(),
            Partitioned::Receive(receive) => receive.part(),
        }
    }

    /// The outcome of a complete round, which stays.
    pub fn outcome(&self) -> Status {
        match self {
            Partitioned::Send(send) => send.outcome(),
            Partitioned::Receive(receive) => receive.outcome(),
        }
    }

    /// Ends a complete round: inactive from here on.
    pub fn finish(&self) -> Status {
        match self {
            Partitioned::Send(send) => send.finish(),
            Partitioned::Receive(receive) => receive.finish(),
        }
    }

    /// `MPI_Request_free`, an error while a round is under way (MPI-5.0 §4.2.1).
    pub fn check_free(&self) -> Result<()> {
        match self.stage()? {
            Stage::Pending => Err(inactive_only(
                "an active partitioned request cannot be freed",
            )),
            Stage::Complete => {
                self.finish();
                Ok(())
            }
            Stage::Inactive => Ok(()),
        }
    }

    /// The request is freed: what its making started goes on without it.
    pub fn forget(&self) {
        match self {
            Partitioned::Send(send) => send.forget(),
            Partitioned::Receive(receive) => receive.forget(),
        }
    }
}

//! Partitioned communication (MPI-5.0 chapter 4).
//!
//! Each partition of the sender's is one message, started by the thread that marks it ready, in a context of its own
//! and with a tag of its own. A send and its receive are matched once, when they are made: the send tells its first
//! tag, its partitions and their length in one small message under the program's tag, in another context, where
//! neither ordinary receives nor probes look; the order in which the receives were made is the order in which they
//! take these messages. From then on the receive posts one receive per partition of the sender's at each start,
//! whatever its own partitions are.

mod receive;
mod send;
mod tags;

use std::sync::Arc;

use weft_engine::RequestId;

pub use receive::{arrived, receive_init};
pub use send::{ready, ready_list, ready_range, send_init};
pub(crate) use tags::Tags;

use crate::error::handler::argument;
use crate::error::{Class, Result};
use crate::point_to_point::Buffer;
use crate::process::process;
use crate::request::{Compound, Form, Request, Status};

use receive::Receiving;
use send::Sending;

/// A partitioned send or receive.
pub(crate) enum Partitioned {
    Send(Sending),
    Receive(Arc<Receiving>),
}

/// Where a partitioned operation stands.
pub(crate) enum Stage {
    Inactive,
    Pending,
    Complete,
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

#[cold]
fn inactive_only(what: &str) -> crate::Error {
    argument(Class::Request, "request", what)
}

/// A checked number of partitions: positive (MPI-5.0 §4.2.1).
fn check_partitions(partitions: i32) -> Result<u32> {
    match u32::try_from(partitions) {
        Ok(partitions) if partitions > 0 => Ok(partitions),
        _ => {
            let what = format_args!("{partitions} is not positive");
            Err(argument(Class::Arg, "partitions", what))
        }
    }
}

/// The whole buffer of `partitions` times what `buffer` says.
fn whole(buffer: Buffer, partitions: u32) -> Result<Buffer> {
    let count = buffer.count.checked_mul(i64::from(partitions));
    let count = count.ok_or(weft_datatype::Overflow)?;
    Ok(Buffer { count, ..buffer })
}

/// What a handle names, if it is a partitioned operation; none if it is null. Without a pin: threads mark partitions
/// all at once.
fn find(request: Request) -> Result<Option<&'static Partitioned>> {
    // SAFETY: the maker of the identifier has promised it (`Request::named`).
    let compound = unsafe { process().compounds.lend(request.0) };
    if let Some(Compound::Partitioned(partitioned)) = compound {
        return Ok(Some(partitioned));
    }
    match request.form()? {
        Form::Null => Ok(None),
        _ => Err(argument(
            Class::Request,
            "request",
            "not a partitioned request",
        )),
    }
}

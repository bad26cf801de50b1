//! Completing one request (MPI-5.0 §3.7.3), looking at it (§3.7.6), and doing without (§3.7.3, §3.8.4).

use weft_abi_macros::mpi;
use weft_messages::Request;
use weft_messages::completion;

use crate::entry::Result;
use crate::output::Out;
use crate::status::OutStatus;

#[mpi(Wait)]
fn wait(request: &mut Request, status: OutStatus) -> Result<()> {
    status.complete(completion::wait(request)?)
}

#[mpi(Test)]
fn test(request: &mut Request, flag: Out<bool>, status: OutStatus) -> Result<()> {
    let outcome = completion::test(request)?;
    flag.set(outcome.is_some());
    outcome.map_or(Ok(()), |outcome| status.complete(outcome))
}

/// Tells of the operation's error in the status only: the call itself went well.
#[mpi(Request_get_status)]
fn request_get_status(request: Request, flag: Out<bool>, status: OutStatus) -> Result<()> {
    let outcome = completion::status(request)?;
    flag.set(outcome.is_some());
    if let Some(outcome) = outcome {
        status.set(&outcome);
    }
    Ok(())
}

#[mpi(Request_free)]
fn request_free(request: &mut Request) -> Result<()> {
    completion::free(request)
}

#[mpi(Cancel)]
fn cancel(request: &mut Request) -> Result<()> {
    completion::cancel(*request)
}

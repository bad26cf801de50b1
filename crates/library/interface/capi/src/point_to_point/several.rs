//! Completing several requests (MPI-5.0 §3.7.5), and looking at them (§3.7.6).

use std::ffi::c_int;

use weft_abi::MPI_UNDEFINED;
use weft_abi_macros::mpi;
use weft_messages::completion::{self, Any};
use weft_messages::{Request, Status};

use crate::argument::Length;
use crate::array::{Array, ArrayMut};
use crate::entry::Result;
use crate::output::Out;
use crate::status::{OutStatus, OutStatuses};

#[mpi(Waitall)]
fn waitall(
    count: Length,
    array_of_requests: ArrayMut<Request>,
    array_of_statuses: OutStatuses,
) -> Result<()> {
    let requests = array_of_requests.slice(count)?;
    let mut places = array_of_statuses.slice(count);
    if places.are_ignored() {
        return completion::wait_all_without_statuses(requests);
    }
    let result = completion::wait_all(requests, |index, status| places.set(index, &status));
    places.finish(count.0, result)
}

#[mpi(Testall)]
fn testall(
    count: Length,
    array_of_requests: ArrayMut<Request>,
    flag: Out<bool>,
    array_of_statuses: OutStatuses,
) -> Result<()> {
    let requests = array_of_requests.slice(count)?;
    let mut places = array_of_statuses.slice(count);
    let result = completion::test_all(requests, |index, status| places.set(index, &status));
    // An error of one of the requests means that all are complete.
    flag.set(!matches!(result, Ok(false)));
    places.finish(count.0, result).map(|_| ())
}

#[mpi(Request_get_status_all)]
fn request_get_status_all(
    count: Length,
    array_of_requests: Array<Request>,
    flag: Out<bool>,
    array_of_statuses: OutStatuses,
) -> Result<()> {
    let requests = array_of_requests.slice(count)?;
    let mut places = array_of_statuses.slice(count);
    let complete = completion::status_all(requests, |index, status| places.set(index, &status))?;
    flag.set(complete);
    Ok(())
}

#[mpi(Waitany)]
fn waitany(
    count: Length,
    array_of_requests: ArrayMut<Request>,
    index: Out<c_int>,
    status: OutStatus,
) -> Result<()> {
    let found = completion::wait_any(array_of_requests.slice(count)?)?;
    let (at, outcome) = match found {
        Some((at, outcome)) => (at as c_int, outcome),
        None => (MPI_UNDEFINED, Status::EMPTY),
    };
    index.set(at);
    status.complete(outcome)
}

#[mpi(Testany)]
fn testany(
    count: Length,
    array_of_requests: ArrayMut<Request>,
    index: Out<c_int>,
    flag: Out<bool>,
    status: OutStatus,
) -> Result<()> {
    let (any, outcome) = completion::test_any(array_of_requests.slice(count)?)?;
    found(any, index, flag, || status.complete(outcome))
}

#[mpi(Request_get_status_any)]
fn request_get_status_any(
    count: Length,
    array_of_requests: Array<Request>,
    index: Out<c_int>,
    flag: Out<bool>,
    status: OutStatus,
) -> Result<()> {
    let (any, outcome) = completion::status_any(array_of_requests.slice(count)?)?;
    found(any, index, flag, || {
        status.set(&outcome);
        Ok(())
    })
}

/// Says which request is complete, if one is or none is active.
fn found(
    any: Any,
    index: Out<c_int>,
    flag: Out<bool>,
    complete: impl FnOnce() -> Result<()>,
) -> Result<()> {
    flag.set(any != Any::Pending);
    index.set(match any {
        Any::Complete(at) => at as c_int,
        Any::Pending | Any::NoneActive => MPI_UNDEFINED,
    });
    match any {
        Any::Pending => Ok(()),
        Any::Complete(_) | Any::NoneActive => complete(),
    }
}

#[mpi(Waitsome)]
fn waitsome(
    incount: Length,
    array_of_requests: ArrayMut<Request>,
    outcount: Out<c_int>,
    array_of_indices: ArrayMut<c_int>,
    array_of_statuses: OutStatuses,
) -> Result<()> {
    let requests = array_of_requests.slice(incount)?;
    let indices = array_of_indices.slice(incount)?;
    some(outcount, indices, array_of_statuses, |put| {
        completion::wait_some(requests, put)
    })
}

#[mpi(Testsome)]
fn testsome(
    incount: Length,
    array_of_requests: ArrayMut<Request>,
    outcount: Out<c_int>,
    array_of_indices: ArrayMut<c_int>,
    array_of_statuses: OutStatuses,
) -> Result<()> {
    let requests = array_of_requests.slice(incount)?;
    let indices = array_of_indices.slice(incount)?;
    some(outcount, indices, array_of_statuses, |put| {
        completion::test_some(requests, put)
    })
}

#[mpi(Request_get_status_some)]
fn request_get_status_some(
    incount: Length,
    array_of_requests: Array<Request>,
    outcount: Out<c_int>,
    array_of_indices: ArrayMut<c_int>,
    array_of_statuses: OutStatuses,
) -> Result<()> {
    let requests = array_of_requests.slice(incount)?;
    let indices = array_of_indices.slice(incount)?;
    some(outcount, indices, array_of_statuses, |put| {
        completion::status_some(requests, put)
    })
}

/// Fills indices and statuses, one after the other, with what `complete` hands out; it returns whether any request is
/// active.
fn some(
    outcount: Out<c_int>,
    indices: &mut [c_int],
    statuses: OutStatuses,
    complete: impl FnOnce(&mut dyn FnMut(usize, Status)) -> Result<bool>,
) -> Result<()> {
    let mut places = statuses.slice(Length(indices.len()));
    let mut done = 0;
    let result = complete(&mut |index, status| {
        indices[done] = index as c_int;
        places.set(done, &status);
        done += 1;
    });
    outcount.set(match result {
        Ok(false) => MPI_UNDEFINED,
        _ => done as c_int,
    });
    places.finish(done, result).map(|_| ())
}

//! `MPIX_Comm_agree` and its kin: an agreement is an operation of the engine's, which waits for the registry to complete
//! its request.

use std::future::poll_fn;
use std::sync::Arc;

use weft_agreement::{Contribution, Decision, Values};
use weft_engine::NOTICE_LANE;
use weft_error::{Class, Error, Result};
use weft_handle::{CommId, GroupId};
use weft_messages::completion;
use weft_messages::operation::{self, Awaited};
use weft_messages::request::{Request, Status};
use weft_objects::comm::{Comm, Traffic, share};
use weft_objects::group;
use weft_process::engine::engine;

use crate::registry::{enter, take, with};

/// Where the program wants a result.
pub type Place<T> = Box<dyn FnOnce(T) + Send>;

/// Goes through an agreement, to which this process contributes `values`.
pub async fn decide(comm: &Comm, values: Values, awaited: &Awaited) -> Result<Decision> {
    let acknowledged = with(comm, |ours| {
        let mut acknowledged = ours.failed[..ours.acknowledged].to_vec();
        acknowledged.sort_unstable();
        acknowledged
    });
    let own = Contribution {
        values,
        acknowledged,
    };
    let id = engine().external(NOTICE_LANE)?;
    let entered = enter(comm, own, id);
    poll_fn(|_| engine().poll_request(awaited, id)).await;
    Ok(take(comm, entered).expect("the request is complete"))
}

/// Begins an operation on a communicator, be it revoked.
pub fn begin<F>(comm: &Comm, make: impl FnOnce(Awaited) -> F) -> Result<Request>
where
    F: Future<Output = Result<Status>> + Send + 'static,
{
    operation::begin(NOTICE_LANE, comm.context(Traffic::Internal), make)
}

/// Waits for an operation of this crate's.
pub fn wait(mut request: Request) -> Result<()> {
    completion::wait(&mut request)?.check()
}

/// `MPIX_Comm_iagree`: the bits that all living processes have set, or those of the remote group of an
/// inter-communicator. They are given though the operation fails because not all of them have acknowledged all failures.
pub fn iagree(comm: CommId, flag: i32, place: Place<i32>) -> Result<Request> {
    let comm = share(comm)?;
    begin(&comm.clone(), |awaited| async move {
        let (side, is_inter) = with(&comm, |ours| (ours.members.side, ours.members.is_inter));
        let mut values = Values::NEUTRAL;
        values.bits[side] = flag as u32;
        let decision = decide(&comm, values, &awaited).await?;
        let theirs = if is_inter { 1 - side } else { side };
        place(decision.values.bits[theirs] as i32);
        match decision.is_acknowledged {
            true => Ok(Status::EMPTY),
            false => Err(unacknowledged(&comm)),
        }
    })
}

/// `MPIX_Comm_agree`.
pub fn agree(comm: CommId, flag: i32, place: Place<i32>) -> Result<()> {
    wait(iagree(comm, flag, place)?)
}

#[cold]
fn unacknowledged(comm: &Comm) -> Error {
    let what =
        "processes have failed, and not all others have acknowledged that (MPI_Comm_ack_failed)";
    Error::new(Class::ProcAborted, what).on(comm.object())
}

/// `MPIX_Comm_iagree_failed`: the failed processes, the same on all that live.
pub fn iagree_failed(comm: CommId, place: Place<GroupId>) -> Result<Request> {
    let comm: Arc<Comm> = share(comm)?;
    begin(&comm.clone(), |awaited| async move {
        let decision = decide(&comm, Values::NEUTRAL, &awaited).await?;
        let failed = with(&comm, |ours| ours.members.group(decision.failed));
        place(group::register(failed)?);
        Ok(Status::EMPTY)
    })
}

/// `MPIX_Comm_agree_failed`.
pub fn agree_failed(comm: CommId, place: Place<GroupId>) -> Result<()> {
    wait(iagree_failed(comm, place)?)
}

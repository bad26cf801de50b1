//! The failed processes of a communicator as this process knows them, and which of them its program has acknowledged.

use weft_error::{Class, Result, argument};
use weft_handle::{CommId, GroupId};
use weft_objects::comm::{members, share};
use weft_objects::group;

use crate::registry::with;

/// `MPI_Comm_get_failed`: in the order in which this process heard of them.
pub fn failed(comm: CommId) -> Result<GroupId> {
    let comm = share(comm)?;
    let failed = with(&comm, |ours| {
        ours.members.group(ours.failed.iter().copied())
    });
    group::register(failed)
}

/// `MPI_Comm_ack_failed`: acknowledges the first so many of them. How many are acknowledged now.
pub fn acknowledge(comm: CommId, count: i32) -> Result<i32> {
    let Ok(count) = usize::try_from(count) else {
        let what = format_args!("{count} is negative");
        return Err(argument(Class::Arg, "num_to_ack", what));
    };
    let comm = share(comm)?;
    let (peers, count) = with(&comm, |ours| {
        ours.acknowledged = ours.acknowledged.max(count.min(ours.failed.len()));
        let acknowledged = &ours.failed[..ours.acknowledged];
        let peers: Vec<_> = acknowledged
            .iter()
            .map(|&member| ours.members.peer(member))
            .collect();
        (peers, ours.acknowledged as i32)
    });
    // Receives from any source do without them from here on.
    members().acknowledge(comm.number(), peers);
    Ok(count)
}

/// `MPIX_Comm_failure_ack`: acknowledges all that this process knows of.
pub fn acknowledge_all(comm: CommId) -> Result<()> {
    acknowledge(comm, i32::MAX).map(drop)
}

/// `MPIX_Comm_failure_get_acked`.
pub fn acknowledged(comm: CommId) -> Result<GroupId> {
    let comm = share(comm)?;
    let acknowledged = with(&comm, |ours| {
        let acknowledged = &ours.failed[..ours.acknowledged];
        ours.members.group(acknowledged.iter().copied())
    });
    group::register(acknowledged)
}

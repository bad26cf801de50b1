//! One step, in which all post and each waits for all.
//!
//! Behind an operation that one rank has led, as a broadcast's root does, there are two: the leader hears from all, and leaves first. It often leads the
//! next operation too, where who had left before would wait for it, and where ranks share cores until it is given one. That wait is in the barrier
//! so, which takes no longer by it than that operation and the barrier took together: the leader was heard of last in any case.

use crate::cost::{Work, meeting};
use crate::{Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>) -> Option<()> {
    let steps = channel.steps();
    let Some(leader) = channel.leader_before() else {
        return steps.meet().await;
    };
    steps.tell(leader).await?;
    steps.hear_of(leader).await
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, _bytes: f64) -> Work {
    Work::alike(meeting(ranks))
}

//! One step, in which all post and each waits for all.
//!
//! Where ranks share cores, and one has led the operation before, as a broadcast's root does, there are two: the leader hears from all, and leaves first.
//! It often leads the next operation too, where ranks that had left before would wait until it is given a core. That wait is in the barrier so, which
//! takes no longer by it than that operation and the barrier took together.

use crate::{Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>) -> Option<()> {
    let steps = channel.steps();
    let leader = channel.leader_before();
    let Some(leader) = leader.filter(|_| channel.oversubscribed()) else {
        return steps.meet().await;
    };
    steps.tell(leader).await?;
    steps.hear_of(leader).await
}

//! One step, in which all post and each waits for all.

use crate::{Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>) -> Option<()> {
    channel.steps().meet().await
}

//! Through rank 0: it hears from everyone, then answers everyone.

use crate::memory::NOTHING;
use crate::{Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>) {
    if channel.rank() == 0 {
        let others = channel.size() - 1;
        channel
            .windowed(others, |index| channel.receive(index + 1, NOTHING))
            .await;
        channel
            .windowed(others, |index| channel.send(index + 1, NOTHING))
            .await;
    } else {
        channel.exchange(0, NOTHING, 0, NOTHING).await;
    }
}

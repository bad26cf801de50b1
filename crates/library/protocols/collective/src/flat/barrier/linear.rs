//! Through rank 0: it hears from everyone, then answers everyone.

use crate::cost::{Work, hop, others, received, sent};
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

/// The work of its ranks.
pub(crate) fn work(ranks: usize, _bytes: f64) -> Work {
    let further = 2.0 * (others(ranks) - 1.0);
    let hears_and_answers = 2.0 * hop(0.0) + further * sent(0.0);
    Work::rooted(hears_and_answers, received(0.0) + sent(0.0))
}

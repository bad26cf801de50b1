//! Dissemination (Hensgen, Finkel and Manber 1988): in round k each rank tells the one 2^k after it, and so
//! after ceil(log2 n) rounds has heard, directly or not, from all.

use crate::cost::{Work, doublings, pass};
use crate::memory::NOTHING;
use crate::{Channel, PointToPoint};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>) {
    let mut distance = 1;
    while distance < channel.size() {
        let (to, from) = (channel.after(distance), channel.before(distance));
        channel.exchange(to, NOTHING, from, NOTHING).await;
        distance *= 2;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, _bytes: f64) -> Work {
    Work::alike(doublings(ranks) * pass(0.0))
}

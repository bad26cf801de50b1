//! Through rank 0, which hears from everyone, combines, and sends everyone its share.

use super::Shares;
use crate::cost::Work;
use crate::flat::reduce;
use crate::flat::scatter;
use crate::memory::Operand;
use crate::{Channel, PointToPoint, Reduction};

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    let own = reduction
        .output()
        .part(0..shares.range(channel.rank()).len());
    if channel.rank() != 0 {
        reduce::linear::run(channel, reduction, 0).await;
        return receive_share(channel, own).await;
    }
    let Some(scratch) = channel.room(reduction.scratch(1)) else {
        return;
    };
    let result = reduction.in_scratch(&scratch, 0);
    reduce::linear::run(channel, &reduction.with_output(result), 0).await;
    send_shares(channel, result, shares).await;
    result.part(shares.range(0)).copy_to(own);
}

/// Sends each other rank its share of the result.
pub(crate) async fn send_shares<P: PointToPoint>(
    channel: &Channel<'_, P>,
    result: Operand<'_>,
    shares: &Shares,
) {
    let send = |index: usize| {
        let to = channel.after(index + 1);
        let share = result.part(shares.range(to)).memory();
        match share.bytes {
            0 => None,
            _ => channel.send(to, share),
        }
    };
    channel.windowed(channel.size() - 1, send).await;
}

pub(crate) async fn receive_share<P: PointToPoint>(channel: &Channel<'_, P>, own: Operand<'_>) {
    let share = own.memory();
    if share.bytes > 0 {
        channel.wait(channel.receive(0, share)).await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let share = bytes / ranks as f64;
    reduce::linear::work(ranks, bytes) + scatter::linear::work(ranks, share)
}

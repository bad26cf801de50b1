//! Each host's ranks reduce to its leader, the leaders combine, and each broadcasts the result within its host.

use crate::channel::Speaker;
use crate::{Channel, PointToPoint, Reduction, flat};

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, reduction: &Reduction<'_>) {
    let host = channel.within_host();
    let result = reduction.output();
    channel.keep(flat::reduce::reduce(&host, *reduction, 0).await);
    if let Some(leaders) = channel.across(Speaker::At(0)) {
        let partials = reduction.with_input(result);
        channel.keep(flat::allreduce::allreduce(&leaders, partials).await);
    }
    channel.keep(flat::bcast::bcast(&host, result.memory(), 0).await);
}

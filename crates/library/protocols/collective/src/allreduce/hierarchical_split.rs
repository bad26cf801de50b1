//! Every rank takes a share between hosts: a reduce-scatter within each host, an allreduce of each share among the ranks at one
//! position, and an allgather within each host. For long vectors, which the ranks of a host then move and combine side by side.

use crate::channel::Speaker;
use crate::memory::Slices;
use crate::steps::slice;
use crate::{Channel, PointToPoint, Reduction, Shares, flat};

/// All hosts have as many ranks.
pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, reduction: &Reduction<'_>) {
    let host = channel.within_host();
    let (position, positions) = (host.rank(), host.size());
    let elements = |position| slice(reduction.count(), position, positions);
    let ends = (0..positions).map(|position| elements(position).end);
    let shares = Shares::Bounds([0].into_iter().chain(ends).collect());

    let own = reduction.share(elements(position));
    let Some(scratch) = channel.room(own.scratch(1)) else {
        return;
    };
    let result = own.in_scratch(&scratch, 0);
    let to_shares = reduction.with_output(result);
    channel.keep(flat::reduce_scatter::reduce_scatter(&host, to_shares, &shares).await);
    if let Some(peers) = channel.across(Speaker::EachAt(position)) {
        let partials = own.with_input(result).with_output(result);
        channel.keep(flat::allreduce::allreduce(&peers, partials).await);
    }
    let slices = Slices {
        vector: reduction.output(),
        elements,
    };
    channel.keep(flat::allgather::allgatherv(&host, Some(result.memory()), &slices).await);
}

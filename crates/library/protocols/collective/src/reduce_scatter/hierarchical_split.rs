//! The ranks of a host combine what they have for the ranks of each host, each what is for those at its own position; then the
//! ranks at one position combine these among the hosts. For long vectors, which the ranks of a host then move and combine side by
//! side.

use super::Shares;
use crate::channel::Speaker;
use crate::{Channel, PointToPoint, Reduction, flat};

/// Each host's ranks follow each other, and so do their shares; all hosts have as many ranks.
pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    let (host, hosts) = (channel.within_host(), channel.hosts());
    // The shares of the ranks at this position, by host.
    let at_position = |of| shares.of(hosts.rank_at(of, host.rank()));
    let ends = (0..hosts.count()).scan(0, |end, of| {
        *end += at_position(of);
        Some(*end)
    });
    let bounds: Vec<usize> = [0].into_iter().chain(ends).collect();
    let own = reduction.share(0..bounds[hosts.count()]);
    let Some(scratch) = channel.room(own.scratch(1)) else {
        return;
    };
    let partials = own.in_scratch(&scratch, 0);
    for of in 0..hosts.count() {
        let places = hosts.places_on(of);
        let start = shares.range(places.start).start;
        let within = places.clone().map(|rank| shares.range(rank).end - start);
        let within = Shares::Bounds([0].into_iter().chain(within).collect());
        let end = shares.range(places.end - 1).end;
        let part = reduction.share(start..end);
        let part = part.with_output(partials.part(bounds[of]..bounds[of + 1]));
        channel.keep(flat::reduce_scatter::reduce_scatter(&host, part, &within).await);
    }
    if let Some(peers) = channel.across(Speaker::EachAt(host.rank())) {
        let combined = own.with_input(partials);
        let shares = Shares::Bounds(bounds);
        channel.keep(flat::reduce_scatter::reduce_scatter(&peers, combined, &shares).await);
    }
}

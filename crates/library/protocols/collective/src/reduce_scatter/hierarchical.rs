//! Each host's ranks reduce to its leader, the leaders share out the result among the hosts, and each leader what its host has
//! among its ranks.

use super::Shares;
use crate::channel::Speaker;
use crate::memory::Slices;
use crate::{Channel, PointToPoint, Reduction, flat};

/// Each host's ranks follow each other, and so do their shares.
pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) {
    let (host, hosts) = (channel.within_host(), channel.hosts());
    let own = reduction.share(shares.range(channel.rank())).output();
    let own = Some(own.memory());
    let Some(leaders) = channel.across(Speaker::At(0)) else {
        channel.keep(flat::reduce::reduce(&host, *reduction, 0).await);
        let received = match shares {
            Shares::Equal(_) => flat::scatter::scatter(&host, None, own, 0).await,
            Shares::Bounds(_) => flat::scatter::scatterv(&host, None, own, 0).await,
        };
        return channel.keep(received);
    };
    let Some(scratch) = channel.room(reduction.scratch(1)) else {
        return;
    };
    let partial = reduction.in_scratch(&scratch, 0);
    channel.keep(flat::reduce::reduce(&host, reduction.with_output(partial), 0).await);

    // The host's share comes to where the partial result begins.
    let end = |host: usize| shares.range(hosts.places_on(host).end - 1).end;
    let of_hosts = [0].into_iter().chain((0..hosts.count()).map(end));
    let of_hosts = Shares::Bounds(of_hosts.collect());
    let partials = reduction.with_input(partial).with_output(partial);
    channel.keep(flat::reduce_scatter::reduce_scatter(&leaders, partials, &of_hosts).await);

    let places = hosts.places_on(hosts.own());
    let start = shares.range(places.start).start;
    let slices = Slices {
        vector: partial.part(0..of_hosts.of(hosts.own())),
        elements: |position: usize| {
            let share = shares.range(places.start + position);
            share.start - start..share.end - start
        },
    };
    channel.keep(match shares {
        Shares::Equal(_) => flat::scatter::scatter(&host, Some(&slices), own, 0).await,
        Shares::Bounds(_) => flat::scatter::scatterv(&host, Some(&slices), own, 0).await,
    });
}

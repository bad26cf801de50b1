//! A scan within each host; then each host's last rank, which has the result of the whole host, takes part in an exclusive scan
//! among the hosts, and broadcasts what comes before its host there.

use super::ScanKind;
use crate::channel::Speaker;
use crate::{Channel, PointToPoint, Reduction, flat};

/// Each host's ranks follow each other.
pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    kind: ScanKind,
) {
    let (host, hosts) = (channel.within_host(), channel.hosts());
    let lasts = channel.across(Speaker::Last);
    let Some(scratch) = channel.room(reduction.scratch(2)) else {
        return;
    };
    let before = reduction.in_scratch(&scratch, 0);
    let mut total = reduction.in_scratch(&scratch, 1);
    let output = reduction.output();
    match kind {
        ScanKind::Inclusive => {
            channel.keep(flat::scan::scan(&host, *reduction).await);
            total = output;
        }
        ScanKind::Exclusive => {
            // In place, the result takes the place of the operand.
            reduction.input().copy_to(total);
            channel.keep(flat::scan::exscan(&host, *reduction).await);
            if lasts.is_some() && host.rank() > 0 {
                reduction.combine(output, total);
            }
        }
    }
    if let Some(lasts) = lasts {
        let totals = reduction.with_input(total).with_output(before);
        channel.keep(flat::scan::exscan(&lasts, totals).await);
    }
    if hosts.own() == 0 {
        return;
    }
    channel.keep(flat::bcast::bcast(&host, before.memory(), host.size() - 1).await);
    if kind == ScanKind::Exclusive && host.rank() == 0 {
        before.copy_to(output);
    } else {
        reduction.combine(before, output);
    }
}

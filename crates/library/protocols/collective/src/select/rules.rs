//! What a table for several hosts is made of: rules, of which the first that admits a call wins.

use super::{Call, Needs, Placement};

/// Of calls on at most so many hosts, with at most so many ranks on each.
pub(super) struct HostsRule<A> {
    max_hosts: usize,
    max_ranks_a_host: usize,
    max_bytes: usize,
    algorithm: A,
}

pub(super) const ANY: usize = usize::MAX;
pub(super) const KIB: usize = 1 << 10;

pub(super) const fn hosts_rule<A>(
    max_hosts: usize,
    max_ranks_a_host: usize,
    max_bytes: usize,
    algorithm: A,
) -> HostsRule<A> {
    HostsRule {
        max_hosts,
        max_ranks_a_host,
        max_bytes,
        algorithm,
    }
}

/// The algorithm of the first rule that admits the call, if one does.
#[cold]
pub(super) fn first_with_hosts<A: Copy>(
    rules: &[HostsRule<A>],
    (call, placement): (Call, Placement),
    needs: fn(A) -> Needs,
) -> Option<A> {
    let admits = |rule: &&HostsRule<A>| {
        placement.hosts <= rule.max_hosts
            && placement.ranks_a_host <= rule.max_ranks_a_host
            && call.bytes <= rule.max_bytes
            && needs(rule.algorithm).are_met(call)
    };
    rules.iter().find(admits).map(|rule| rule.algorithm)
}

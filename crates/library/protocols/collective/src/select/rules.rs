//! What a table is made of: rules, of which the first that admits a call wins.

use super::{Call, Needs, Placement};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cores {
    Any,
    /// Not so near that bytes are better passed on than copied by the kernel.
    Far,
    Few,
    /// Few, so near that bytes are better passed on than copied by the kernel, but where a rule says so.
    FewNear,
    /// A core for each of them ([`Call::has_cores`]).
    Each,
}

pub(super) struct Rule<A> {
    cores: Cores,
    max_ranks: usize,
    pub max_bytes: usize,
    algorithm: A,
}

pub(super) const fn rule<A>(
    cores: Cores,
    max_ranks: usize,
    max_bytes: usize,
    algorithm: A,
) -> Rule<A> {
    Rule {
        cores,
        max_ranks,
        max_bytes,
        algorithm,
    }
}

pub(super) const ANY: usize = usize::MAX;
pub(super) const KIB: usize = 1 << 10;

impl Cores {
    fn are_met(self, are_few: bool, are_near: bool) -> bool {
        match self {
            Cores::Any => true,
            Cores::Far => !are_near,
            Cores::Few => are_few,
            Cores::FewNear => are_near && are_few,
            Cores::Each => !are_few,
        }
    }
}

/// A rule of a table for several hosts: of calls on at most so many hosts, with at most so many ranks on each.
pub(super) struct HostsRule<A> {
    max_hosts: usize,
    max_ranks_a_host: usize,
    max_bytes: usize,
    algorithm: A,
}

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

/// The algorithm of the first rule for several hosts that admits the call, if one does.
#[cold]
pub(super) fn first_with_hosts<A: Copy>(
    rules: [&[HostsRule<A>]; 2],
    (call, placement): (Call, Placement),
    needs: fn(A) -> Needs,
) -> Option<A> {
    let admits = |rule: &&HostsRule<A>| {
        placement.hosts <= rule.max_hosts
            && placement.ranks_a_host <= rule.max_ranks_a_host
            && call.bytes <= rule.max_bytes
            && needs(rule.algorithm).are_met(call)
    };
    let mut rules = rules.into_iter().flatten();
    rules.find(admits).map(|rule| rule.algorithm)
}

/// The algorithm of the first rule that admits the call, of what was measured and then of a table, whose last rule admits all.
pub(super) fn first<A: Copy>(
    measured: &[Rule<A>],
    rules: &[Rule<A>],
    call: Call,
    needs: fn(A) -> Needs,
) -> A {
    let admits = |rule: &&Rule<A>| {
        rule.cores.are_met(call.oversubscribed, call.are_near)
            && !(call.are_near
                && !matches!(rule.cores, Cores::FewNear | Cores::Each)
                && needs(rule.algorithm) == Needs::Everything)
            && call.ranks <= rule.max_ranks
            && call.bytes <= rule.max_bytes
            && needs(rule.algorithm).are_met(call)
    };
    measured
        .iter()
        .chain(rules)
        .find(admits)
        .or(rules.last())
        .expect("a table has rules")
        .algorithm
}

/// Rules that were measured; there may be none for an operation. Those among ranks of one host come first, and then, among several, one among
/// all ranks alike is `Flat(NAME)`.
macro_rules! measured {
    ($($name:ident { $($ranks:expr, $cores_bytes:expr => $on_cores:ident;)* }
        hosts { $($hosts:expr, $ranks_a_host:expr, $bytes:expr => $algorithm:ident $(($flat:ident))?;)* })*) => {
        pub(super) mod cores {
            use super::*;
            $(pub fn $name() -> &'static [Rule<crate::flat::$name::Algorithm>] {
                const RULES: &[Rule<crate::flat::$name::Algorithm>] =
                    &[$(rule(Cores::Each, $ranks, $cores_bytes, crate::flat::$name::Algorithm::$on_cores)),*];
                RULES
            })*
        }

        $(pub(super) fn $name() -> &'static [HostsRule<crate::$name::Algorithm>] {
            const RULES: &[HostsRule<crate::$name::Algorithm>] = &[
                $(hosts_rule($hosts, $ranks_a_host, $bytes, crate::$name::Algorithm::$algorithm $((crate::flat::$name::Algorithm::$flat))?)),*
            ];
            RULES
        })*
    };
}
pub(super) use measured;

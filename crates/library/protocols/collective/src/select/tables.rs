//! The tables of all operations.
//!
//! What the rules for several hosts count, with H hosts of P ranks: rounds between hosts that wait for one another; messages between hosts,
//! and bytes in them, of the *busiest* rank, as one rank alone moves less than a network does; and bytes copied within a host. A message
//! between hosts costs as much as copying some 32 KiB: a system call or two and a wake-up on each side. `tests/counts.rs` holds
//! the counts to what is said here.

use std::sync::atomic::AtomicUsize;

use super::choice::Described;
use super::measured;
use super::rules::{ANY, Cores, HostsRule, KIB, Rule, first, first_with_hosts, hosts_rule, rule};
use super::{Call, Choice};

macro_rules! tables {
    ($($name:ident { $($cores:ident $ranks:expr, $bytes:expr => $algorithm:ident;)+ }
        hosts { $($hosts:expr, $ranks_a_host:expr, $hosts_bytes:expr => $composed:ident;)+ })*) => {
        /// Of each operation that has more than one algorithm.
        pub static CHOICES: [Choice; [$(stringify!($name)),*].len()] = [$(Choice {
            operation: stringify!($name),
            algorithms: || {
                let all = crate::$name::Algorithm::all().into_iter();
                all.map(|one| Described::new(one, one.needs(), one.is_flat())).collect()
            },
            table: |call| {
                let chosen = by_table::$name(call);
                let all = crate::$name::Algorithm::all();
                all.iter().position(|&one| one == chosen).expect("all() has all")
            },
            bounds: || by_table::flat::bounds::$name().collect(),
            shared: crate::flat::$name::Algorithm::Shared as usize,
            forced: AtomicUsize::new(0),
        }),*];

        /// An operation that has more than one algorithm, by its number in [`CHOICES`].
        #[expect(non_camel_case_types, reason = "the operations' names")]
        #[derive(Clone, Copy)]
        pub enum Operation { $($name),* }

        impl Operation {
            pub(crate) const COUNT: usize = CHOICES.len();
        }

        pub(super) mod by_table {
            use super::*;
            $(pub fn $name(call: Call) -> crate::$name::Algorithm {
                use crate::$name::Algorithm;
                const RULES: &[HostsRule<Algorithm>] = &[
                    $(hosts_rule($hosts, $ranks_a_host, $hosts_bytes, Algorithm::$composed)),+
                ];
                if let Some(placement) = call.placement
                    && let Some(composed) = first_with_hosts([measured::$name(), RULES], (call, placement), Algorithm::needs)
                {
                    return composed;
                }
                Algorithm::Flat(flat::$name(call))
            })*

            pub mod flat {
                use super::*;
                $(pub fn $name(call: Call) -> crate::flat::$name::Algorithm {
                    use crate::flat::$name::Algorithm;
                    const RULES: &[Rule<Algorithm>] =
                        &[$(rule(Cores::$cores, $ranks, $bytes, Algorithm::$algorithm)),+];
                    let measured = if call.has_cores() { measured::cores::$name() } else { &[] };
                    first(measured, RULES, call, Algorithm::needs)
                })*

                pub mod bounds {
                    use super::*;
                    $(pub fn $name() -> impl Iterator<Item = usize> {
                        let on_cores = measured::cores::$name().iter().map(|rule| rule.max_bytes);
                        [$($bytes),+].into_iter().chain(on_cores)
                    })*
                }
            }
        }

        $(pub(crate) fn $name(call: Call) -> crate::$name::Algorithm {
            let forced = CHOICES[Operation::$name as usize].forced();
            let forced = forced.map(|number| crate::$name::Algorithm::all()[number]);
            match forced.filter(|algorithm| algorithm.needs().are_met(call)) {
                Some(algorithm) => algorithm,
                None => by_table::$name(call),
            }
        })*

        /// Of the algorithms among ranks that are alike.
        pub(crate) mod flat {
            use super::*;
            $(pub fn $name(call: Call) -> crate::flat::$name::Algorithm {
                let forced = CHOICES[Operation::$name as usize].forced();
                let all = crate::flat::$name::Algorithm::ALL;
                let forced = forced.and_then(|number| all.get(number).copied());
                match forced.filter(|algorithm| algorithm.needs().are_met(call)) {
                    Some(algorithm) => algorithm,
                    None => by_table::flat::$name(call),
                }
            })*
        }
    };
}

tables! {
    barrier {
        Any ANY, ANY => Shared;
        Few ANY, ANY => Linear;
        Any ANY, ANY => Dissemination;
    } hosts {
        // As many rounds as H ranks need, and one message a round from each host.
        ANY, ANY, ANY => Hierarchical;
    }
    bcast {
        Far 2, 3 * KIB => Shared;
        Far 2, 192 * KIB => Direct;
        Any 2, 8 * KIB => Shared;
        Any 2, 10 * KIB => Linear;
        Any 2, 192 * KIB => Direct;
        Any 2, ANY => Linear;
        FewNear 4, 16 * KIB => Shared;
        FewNear 4, 3072 * KIB => Linear;
        FewNear 8, 192 * KIB => Shared;
        FewNear 8, 1536 * KIB => Linear;
        FewNear 16, 384 * KIB => Shared;
        FewNear 16, ANY => Binomial;
        Few ANY, 64 * KIB => Shared;
        Few 4, ANY => Linear;
        Few ANY, 512 * KIB => Shared;
        Few ANY, 8 * KIB => Linear;
        Few 8, ANY => Binomial;
        Any ANY, 64 * KIB => Binomial;
        Any 16, ANY => Chain;
        Any ANY, 512 * KIB => ScatterRingAllgather;
        Any ANY, ANY => Chain;
    } hosts {
        // Each byte comes to a host once. In streams, up to 4, the busiest rank sends and receives a part of them only, and what is
        // spread within a host does not come behind the last byte. But H - 1 segments of 64 KiB a stream go by while the chain of
        // hosts fills: with half a MiB for each host, that is at most half of the message.
        2, ANY, 1024 * KIB => Hierarchical;
        2, ANY, ANY => HierarchicalStreams;
        4, ANY, 2048 * KIB => Hierarchical;
        4, ANY, ANY => HierarchicalStreams;
        8, ANY, 4096 * KIB => Hierarchical;
        8, ANY, ANY => HierarchicalStreams;
        ANY, ANY, 8192 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalStreams;
    }
    reduce {
        Far 2, 2 * KIB => Shared;
        Far 2, 768 * KIB => LinearDirect;
        Far 2, 768 * KIB => Linear;
        Few 2, 1536 * KIB => Shared;
        Any 2, 10 * KIB => Shared;
        Any 2, ANY => Linear;
        FewNear 4, 16 * KIB => Shared;
        FewNear 4, 1280 * KIB => Linear;
        FewNear 4, ANY => Shared;
        FewNear 8, 16 * KIB => Shared;
        FewNear 8, 384 * KIB => Linear;
        FewNear 8, ANY => Direct;
        FewNear 16, 768 * KIB => Shared;
        FewNear 16, ANY => Direct;
        Few ANY, ANY => Shared;
        Few ANY, 16 * KIB => Linear;
        Any ANY, 16 * KIB => Binomial;
        Any ANY, ANY => ReduceScatterGather;
    } hosts {
        // Each host sends one vector, however many ranks it has.
        ANY, ANY, ANY => Hierarchical;
    }
    allreduce {
        Far 2, 768 => Shared;
        Far 2, 8 * KIB => RecursiveDoubling;
        Any 2, 2 * KIB => Shared;
        Few 2, 8 * KIB => RecursiveDoubling;
        FewNear 4, 6 * KIB => Shared;
        FewNear 4, 24 * KIB => Linear;
        FewNear 4, ANY => Rabenseifner;
        FewNear 8, 192 * KIB => Shared;
        FewNear 8, ANY => Rabenseifner;
        FewNear 16, 768 * KIB => Shared;
        FewNear 16, ANY => Direct;
        Few 4, 64 * KIB => Shared;
        FewNear ANY, 1536 * KIB => Shared;
        Few 4, 8 * KIB => Linear;
        Few 4, ANY => Rabenseifner;
        FewNear ANY, ANY => Rabenseifner;
        Few ANY, ANY => Shared;
        Few ANY, 8 * KIB => Linear;
        Any 2, 8 * KIB => RecursiveDoubling;
        Any 2, ANY => Rabenseifner;
        Any ANY, 16 * KIB => RecursiveDoubling;
        Any ANY, ANY => Rabenseifner;
    } hosts {
        // Split, the busiest rank moves a P-th of the bytes in as many rounds, for a reduce-scatter and an allgather within the host
        // in place of a reduction and a broadcast; P times as many messages, which pay once they are longer than what they cost.
        ANY, ANY, 16 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalSplit;
        ANY, ANY, ANY => Hierarchical;
    }
    reduce_scatter {
        Far 2, 768 => Shared;
        Far 2, 16 * KIB => Pairwise;
        Any 2, 16 * KIB => Shared;
        Any 2, ANY => Pairwise;
        FewNear 4, 48 * KIB => Shared;
        FewNear 8, 96 * KIB => Shared;
        FewNear 8, ANY => Pairwise;
        FewNear 16, 192 * KIB => Shared;
        FewNear 16, ANY => Direct;
        FewNear ANY, ANY => Shared;
        Few 4, 512 * KIB => Shared;
        Few ANY, KIB => Linear;
        Few ANY, 64 * KIB => Shared;
        Few ANY, ANY => Direct;
        Few ANY, 8 * KIB => Linear;
        Any ANY, 512 * KIB => RecursiveHalving;
        Any ANY, ANY => Pairwise;
    } hosts {
        // By bytes of the whole vector. Split, the busiest rank moves a P-th of the bytes in as many rounds, and no leader scatters what
        // is others'; but within the host there is a reduce-scatter for each host in place of one reduction. With 8 KiB
        // a host, each of these costs less than what it saves between hosts.
        4, ANY, 32 * KIB => Hierarchical;
        4, ANY, ANY => HierarchicalSplit;
        16, ANY, 128 * KIB => Hierarchical;
        16, ANY, ANY => HierarchicalSplit;
        64, ANY, 512 * KIB => Hierarchical;
        64, ANY, ANY => HierarchicalSplit;
        ANY, ANY, 2048 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalSplit;
        ANY, ANY, ANY => Hierarchical;
    }
    gather {
        Far 2, 4 * KIB => Shared;
        Far 2, 64 * KIB => Direct;
        Any 2, 8 * KIB => Shared;
        Any 2, 18 * KIB => Linear;
        Any 2, 64 * KIB => Direct;
        Any 2, ANY => Linear;
        FewNear 16, 16 * KIB => Shared;
        FewNear 16, ANY => Linear;
        FewNear ANY, 40 * KIB => Shared;
        FewNear ANY, ANY => Linear;
        Few ANY, 48 * KIB => Shared;
        Few 4, 96 * KIB => Direct;
        Few 4, ANY => Linear;
        Few ANY, 512 * KIB => Direct;
        Few ANY, ANY => Linear;
        Any 8, ANY => Linear;
        Any ANY, KIB => Binomial;
        Any ANY, ANY => Linear;
    } hosts {
        // The root hears from H - 1 ranks in place of (H - 1) P; a block is copied once more on its way, which costs less than
        // its message up to half of what a message costs.
        ANY, ANY, 16 * KIB => Hierarchical;
    }
    scatter {
        Far 2, 3 * KIB => Shared;
        Far 2, ANY => Direct;
        Any 2, 8 * KIB => Shared;
        Any 2, 10 * KIB => Linear;
        Any 2, ANY => Direct;
        Few 4, 10 * KIB => Shared;
        Few ANY, 5 * KIB => Shared;
        Few ANY, 40 * KIB => Linear;
        FewNear 8, ANY => Linear;
        FewNear 16, ANY => Direct;
        Few ANY, ANY => Direct;
        Few ANY, ANY => Linear;
        Any 8, ANY => Linear;
        Any ANY, KIB => Binomial;
        Any ANY, ANY => Linear;
    } hosts {
        // As gather.
        ANY, ANY, 16 * KIB => Hierarchical;
    }
    allgather {
        Far 2, 1536 => Shared;
        Far 2, 4 * KIB => Ring;
        Any 2, 4 * KIB => Shared;
        Any 2, 14 * KIB => Ring;
        Any 2, ANY => Direct;
        Any 2, ANY => Ring;
        FewNear 3, 16 * KIB => Shared;
        FewNear 3, ANY => Ring;
        FewNear 4, 24 * KIB => Shared;
        FewNear 4, 384 * KIB => Ring;
        FewNear 4, 3072 * KIB => Direct;
        FewNear ANY, ANY => Shared;
        Few ANY, 128 * KIB => Shared;
        Few 4, ANY => Direct;
        Few ANY, ANY => Shared;
        Few ANY, KIB => Linear;
        Any ANY, 8 * KIB => Bruck;
        Any ANY, ANY => Ring;
    } hosts {
        // Each block comes to a host once. In rings the busiest rank moves a P-th of the bytes, and what has come is spread within the
        // host meanwhile, in H - 1 rounds where the leaders need a logarithm.
        ANY, ANY, 64 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalRing;
    }
    alltoall {
        Far 2, KIB => Shared;
        Far 2, 4 * KIB => Pairwise;
        Any 2, 4 * KIB => Shared;
        Any 2, 14 * KIB => Pairwise;
        Any 2, ANY => Direct;
        Any 2, ANY => Pairwise;
        Few ANY, 8 * KIB => Shared;
        FewNear 4, 384 * KIB => Linear;
        FewNear 8, 80 * KIB => Linear;
        FewNear 8, ANY => Pairwise;
        FewNear ANY, 384 * KIB => Linear;
        FewNear ANY, ANY => Pairwise;
        Few 4, 24 * KIB => Linear;
        Few ANY, 16 * KIB => Shared;
        Few ANY, ANY => Direct;
        Few 64, ANY => Linear;
        Any 4, ANY => Linear;
        Any ANY, 256 => Bruck;
        Any ANY, 32 * KIB => Linear;
        Any ANY, ANY => Pairwise;
    } hosts {
        // H - 1 messages of each rank in place of (H - 1) P. Split, they carry a P-th of what a leader's carry, after one step within
        // the host in place of a gather and a scatter; a leader alone sends fewer in all, and is for hosts with unlike
        // numbers of ranks. Both copy each block four times, which saves nothing from an eighth of a message's cost on.
        ANY, ANY, 4 * KIB => HierarchicalSplit;
        ANY, ANY, 4 * KIB => Hierarchical;
    }
    scan {
        Any 2, ANY => Shared;
        FewNear 8, 48 * KIB => Shared;
        FewNear 8, ANY => Linear;
        Few ANY, ANY => Shared;
        Few ANY, 8 * KIB => Linear;
        Any ANY, ANY => RecursiveDoubling;
    } hosts {
        // As many rounds as H ranks need, among one rank of each host.
        ANY, ANY, ANY => Hierarchical;
    }
}

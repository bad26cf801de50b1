//! Of each operation: the algorithms, the cheapest of them among ranks that are alike, and the rules for several hosts.
//!
//! What these rules count, with H hosts of P ranks: rounds between hosts that wait for one another; messages between hosts,
//! and bytes in them, of the *busiest* rank, as one rank alone moves less than a network does; and bytes copied within a host. A message
//! between hosts costs as much as copying some 32 KiB: a system call or two and a wake-up on each side. `tests/counts.rs` holds
//! the counts to what is said here.

use std::sync::atomic::AtomicUsize;

use super::choice::Described;
use super::rules::{ANY, HostsRule, KIB, first_with_hosts, hosts_rule};
use super::{Call, Choice, cheapest, counts, memo};

macro_rules! tables {
    ($($name:ident { $($hosts:expr, $ranks_a_host:expr, $hosts_bytes:expr => $composed:ident;)+ })*) => {
        /// Of each operation that has more than one algorithm.
        pub static CHOICES: [Choice; [$(stringify!($name)),*].len()] = [$(Choice {
            operation: stringify!($name),
            algorithms: || {
                let all = crate::$name::Algorithm::all().into_iter();
                all.map(|one| Described::new(one, one.needs())).collect()
            },
            chosen: |call| {
                let chosen = unforced::$name(call);
                let all = crate::$name::Algorithm::all();
                all.iter().position(|&one| one == chosen).expect("all() has all")
            },
            counts: |call| {
                use crate::flat::$name::Algorithm;
                counts(Algorithm::ALL, call, Algorithm::needs, Algorithm::work).collect()
            },
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

        const _: () = assert!(Operation::COUNT == memo::OPERATIONS);

        /// What is chosen while no algorithm is forced.
        pub(super) mod unforced {
            use super::*;
            $(pub fn $name(call: Call) -> crate::$name::Algorithm {
                use crate::$name::Algorithm;
                const RULES: &[HostsRule<Algorithm>] = &[
                    $(hosts_rule($hosts, $ranks_a_host, $hosts_bytes, Algorithm::$composed)),+
                ];
                if let Some(placement) = call.placement
                    && let Some(composed) = first_with_hosts(RULES, (call, placement), Algorithm::needs)
                {
                    return composed;
                }
                Algorithm::Flat(flat::$name(call))
            })*

            pub mod flat {
                use super::*;
                $(pub fn $name(call: Call) -> crate::flat::$name::Algorithm {
                    use crate::flat::$name::Algorithm;
                    let chosen = memo::chosen(super::super::Operation::$name as usize, call, |call| {
                        cheapest(counts(Algorithm::ALL, call, Algorithm::needs, Algorithm::work), call)
                    });
                    Algorithm::ALL[usize::from(chosen)]
                })*
            }
        }

        $(pub(crate) fn $name(call: Call) -> crate::$name::Algorithm {
            let forced = CHOICES[Operation::$name as usize].forced();
            let forced = forced.map(|number| crate::$name::Algorithm::all()[number]);
            match forced.filter(|algorithm| algorithm.needs().are_met(call)) {
                Some(algorithm) => algorithm,
                None => unforced::$name(call),
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
                    None => unforced::flat::$name(call),
                }
            })*
        }
    };
}

tables! {
    barrier {
        // As many rounds as H ranks need, and one message a round from each host.
        ANY, ANY, ANY => Hierarchical;
    }
    bcast {
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
        // Each host sends one vector, however many ranks it has.
        ANY, ANY, ANY => Hierarchical;
    }
    allreduce {
        // Split, the busiest rank moves a P-th of the bytes in as many rounds, for a reduce-scatter and an allgather within the host
        // in place of a reduction and a broadcast; P times as many messages, which pay once each has the 4 KiB that an adapter takes in the
        // time of a message.
        ANY, 4, 16 * KIB => Hierarchical;
        ANY, 4, ANY => HierarchicalSplit;
        ANY, 16, 64 * KIB => Hierarchical;
        ANY, 16, ANY => HierarchicalSplit;
        ANY, 64, 256 * KIB => Hierarchical;
        ANY, 64, ANY => HierarchicalSplit;
        ANY, ANY, 1024 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalSplit;
        ANY, ANY, ANY => Hierarchical;
    }
    reduce_scatter {
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
        // The root hears from H - 1 ranks in place of (H - 1) P; a block is copied once more on its way, which costs less than
        // its message up to half of what a message costs.
        ANY, ANY, 16 * KIB => Hierarchical;
    }
    scatter {
        // As gather.
        ANY, ANY, 16 * KIB => Hierarchical;
    }
    allgather {
        // Each block comes to a host once. In rings the busiest rank moves a P-th of the bytes, and what has come is spread within the
        // host meanwhile, in H - 1 rounds where the leaders need a logarithm.
        ANY, ANY, 64 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalRing;
    }
    alltoall {
        // H - 1 messages of each rank in place of (H - 1) P. Split, they carry a P-th of what a leader's carry, after one step within
        // the host in place of a gather and a scatter; a leader alone sends fewer in all, and is for hosts with unlike
        // numbers of ranks. Both copy each block four times, which saves nothing from an eighth of a message's cost on.
        ANY, ANY, 4 * KIB => HierarchicalSplit;
        ANY, ANY, 4 * KIB => Hierarchical;
    }
    scan {
        // As many rounds as H ranks need, among one rank of each host.
        ANY, ANY, ANY => Hierarchical;
    }
}

//! Which algorithm runs: tables, read from the top, the first rule that admits the call wins.
//!
//! With a core for every rank, rounds of messages are cheap, and what counts is their number for short
//! messages and the bytes each rank moves for long ones. Without, each round costs a turn of the scheduler
//! on every rank, and the total work counts: short operations go through one root, which hears from everyone
//! and answers everyone, so that each rank needs to run about once. Where the ranks share memory there is no message, and
//! a rank that posts what others need may go on; a rule whose algorithm needs what the ranks do not share is passed over.
//!
//! Where the ranks are on several hosts, with several on one at least, an operation has another table, which is read first. It says
//! what the operation is composed of; the parts are chosen by the first table, where ranks on different hosts have a core each. A
//! reduction that does not commute is composed only where each host's ranks follow each other. Else, and where no rule admits the
//! call, an algorithm of the first table runs among all ranks.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Hosts;

/// What all ranks of a call know of it.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// Packed bytes of the message, or of one block.
    pub bytes: usize,
    pub ranks: usize,
    pub oversubscribed: bool,
    pub sharing: Sharing,
    /// None if an algorithm that knows hosts has nothing to gain, or would not keep the order of a reduction.
    pub placement: Option<Placement>,
}

/// How ranks are placed on several hosts, of which one has several at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    pub hosts: usize,
    /// The most that a host has.
    pub ranks_a_host: usize,
    /// Whether all have as many.
    pub is_even: bool,
    /// Whether each host's ranks follow each other.
    pub is_contiguous: bool,
}

impl Placement {
    pub fn of(hosts: &Hosts) -> Option<Placement> {
        let placement = Placement {
            hosts: hosts.count(),
            ranks_a_host: hosts.most_ranks(),
            is_even: hosts.is_even(),
            is_contiguous: hosts.is_contiguous(),
        };
        (placement.ranks_a_host > 1).then_some(placement)
    }
}

/// What an algorithm asks of the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Board,
    Everything,
    /// That they are on several hosts.
    Hosts,
    /// And each host's ranks follow each other.
    ContiguousHosts,
    /// And all hosts have as many ranks.
    EvenHosts,
    /// Both.
    EvenContiguousHosts,
}

impl Needs {
    fn are_met(self, call: Call) -> bool {
        let placed = |enough: fn(Placement) -> bool| call.placement.is_some_and(enough);
        match self {
            Needs::Nothing => true,
            Needs::Board => call.sharing >= Sharing::Board,
            Needs::Everything => call.sharing >= Sharing::Everything,
            Needs::Hosts => placed(|_| true),
            Needs::ContiguousHosts => placed(|placement| placement.is_contiguous),
            Needs::EvenHosts => placed(|placement| placement.is_even),
            Needs::EvenContiguousHosts => {
                placed(|placement| placement.is_even && placement.is_contiguous)
            }
        }
    }
}

/// What the ranks share, alike on all of them; each more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sharing {
    Nothing,
    /// A board, in memory that all map.
    Board,
    /// And each may copy from every other's memory.
    Everything,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cores {
    /// One for every rank.
    Enough,
    Few,
    Any,
}

struct Rule<A> {
    cores: Cores,
    max_ranks: usize,
    max_bytes: usize,
    algorithm: A,
}

const fn rule<A>(cores: Cores, max_ranks: usize, max_bytes: usize, algorithm: A) -> Rule<A> {
    Rule {
        cores,
        max_ranks,
        max_bytes,
        algorithm,
    }
}

const ANY: usize = usize::MAX;
const KIB: usize = 1 << 10;
/// What is posted together with its control word.
const LINES: usize = weft_sync::board::INLINE_BYTES;
/// And in its cache line.
const LINE: usize = weft_sync::board::LINE_BYTES;

/// A rule of the table for several hosts.
struct HostsRule<A> {
    max_hosts: usize,
    max_ranks_a_host: usize,
    max_bytes: usize,
    algorithm: A,
}

const fn hosts_rule<A>(
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
fn first_with_hosts<A: Copy>(
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

/// The algorithm of the first rule that admits the call; the last rule of a table admits all.
fn first<A: Copy>(rules: &[Rule<A>], call: Call, needs: fn(A) -> Needs) -> A {
    let cores = if call.oversubscribed {
        Cores::Few
    } else {
        Cores::Enough
    };
    let admits = |rule: &&Rule<A>| {
        (rule.cores == Cores::Any || rule.cores == cores)
            && call.ranks <= rule.max_ranks
            && call.bytes <= rule.max_bytes
            && needs(rule.algorithm).are_met(call)
    };
    rules
        .iter()
        .find(admits)
        .or(rules.last())
        .expect("a table has rules")
        .algorithm
}

/// Who decides which algorithm an operation runs by: its table, or whoever measures them.
pub struct Choice {
    pub operation: &'static str,
    algorithms: fn() -> Vec<String>,
    table: fn(Call) -> usize,
    /// One more than the number of an algorithm; 0 while the table decides.
    forced: AtomicUsize,
}

impl Choice {
    /// The names of the algorithms, by number.
    pub fn algorithms(&self) -> Vec<String> {
        (self.algorithms)()
    }

    /// The algorithm that all calls from now on run by, or none to let the table decide. The same on all ranks, and no
    /// call under way. Where it needs more than the ranks share, the table decides.
    pub fn force(&self, algorithm: Option<usize>) {
        let number = algorithm.map_or(0, |number| number + 1);
        self.forced.store(number, Ordering::Relaxed);
    }

    pub fn forced(&self) -> Option<usize> {
        self.forced.load(Ordering::Relaxed).checked_sub(1)
    }

    /// What the table says for a message, or block, of that many bytes.
    pub fn by_table(
        &self,
        bytes: usize,
        ranks: usize,
        oversubscribed: bool,
        sharing: Sharing,
        placement: Option<Placement>,
    ) -> usize {
        (self.table)(Call {
            bytes,
            ranks,
            oversubscribed,
            sharing,
            placement,
        })
    }
}

/// `RecursiveDoubling` as `recursive_doubling`.
fn name_of(algorithm: impl Debug) -> String {
    let mut name = String::new();
    for letter in format!("{algorithm:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

macro_rules! tables {
    ($($name:ident { $($cores:ident $ranks:expr, $bytes:expr => $algorithm:ident;)+ }
        hosts { $($hosts:expr, $ranks_a_host:expr, $hosts_bytes:expr => $composed:ident;)+ })*) => {
        /// Of each operation that has more than one algorithm.
        pub static CHOICES: [Choice; [$(stringify!($name)),*].len()] = [$(Choice {
            operation: stringify!($name),
            algorithms: || crate::$name::Algorithm::all().iter().map(name_of).collect(),
            table: |call| {
                let chosen = tables::$name(call);
                let all = crate::$name::Algorithm::all();
                all.iter().position(|&one| one == chosen).expect("all() has all")
            },
            forced: AtomicUsize::new(0),
        }),*];

        #[expect(non_camel_case_types, reason = "the operations' names, by their numbers in CHOICES")]
        #[derive(Clone, Copy)]
        enum Number { $($name),* }

        mod tables {
            use super::*;
            $(pub(super) fn $name(call: Call) -> crate::$name::Algorithm {
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

            pub(super) mod flat {
                use super::*;
                $(pub fn $name(call: Call) -> crate::flat::$name::Algorithm {
                    use crate::flat::$name::Algorithm;
                    const RULES: &[Rule<Algorithm>] =
                        &[$(rule(Cores::$cores, $ranks, $bytes, Algorithm::$algorithm)),+];
                    first(RULES, call, Algorithm::needs)
                })*
            }
        }

        $(pub(crate) fn $name(call: Call) -> crate::$name::Algorithm {
            let forced = CHOICES[Number::$name as usize].forced();
            let forced = forced.map(|number| crate::$name::Algorithm::all()[number]);
            match forced.filter(|algorithm| algorithm.needs().are_met(call)) {
                Some(algorithm) => algorithm,
                None => tables::$name(call),
            }
        })*

        /// Of the algorithms among ranks that are alike.
        pub(crate) mod flat {
            use super::*;
            $(pub fn $name(call: Call) -> crate::flat::$name::Algorithm {
                let forced = CHOICES[Number::$name as usize].forced();
                let all = crate::flat::$name::Algorithm::ALL;
                let forced = forced.and_then(|number| all.get(number).copied());
                match forced.filter(|algorithm| algorithm.needs().are_met(call)) {
                    Some(algorithm) => algorithm,
                    None => tables::flat::$name(call),
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
        ANY, ANY, ANY => Hierarchical;
    }
    bcast {
        Any 2, LINE => Shared;
        Any 2, 24 * KIB => Linear;
        Any 2, 512 * KIB => Direct;
        Any 2, ANY => Linear;
        Few ANY, 64 * KIB => Shared;
        Few 4, 512 * KIB => Direct;
        Few ANY, 512 * KIB => Shared;
        Few ANY, 8 * KIB => Linear;
        Few 8, ANY => Binomial;
        Any ANY, 64 * KIB => Binomial;
        Any 16, ANY => Chain;
        Any ANY, 512 * KIB => ScatterRingAllgather;
        Any ANY, ANY => Chain;
    } hosts {
        8, ANY, ANY => Hierarchical;
        ANY, ANY, 1024 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalStreams;
    }
    reduce {
        Any 2, LINE => Shared;
        Any 2, ANY => Linear;
        Few ANY, ANY => Shared;
        Few ANY, 16 * KIB => Linear;
        Any ANY, 16 * KIB => Binomial;
        Any ANY, ANY => ReduceScatterGather;
    } hosts {
        ANY, ANY, ANY => Hierarchical;
    }
    allreduce {
        Any 2, LINE => Shared;
        Few 2, 8 * KIB => RecursiveDoubling;
        Few 4, 64 * KIB => Shared;
        Few 4, 8 * KIB => Linear;
        Few 4, ANY => Rabenseifner;
        Few ANY, ANY => Shared;
        Few ANY, 8 * KIB => Linear;
        Any 2, 8 * KIB => RecursiveDoubling;
        Any 2, ANY => Rabenseifner;
        Any ANY, 16 * KIB => RecursiveDoubling;
        Any ANY, ANY => Rabenseifner;
    } hosts {
        ANY, ANY, 16 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalSplit;
        ANY, ANY, ANY => Hierarchical;
    }
    reduce_scatter {
        Any 2, 512 * KIB => Pairwise;
        Any 2, ANY => Direct;
        Any 2, ANY => Pairwise;
        Few 4, 512 * KIB => Shared;
        Few ANY, KIB => Linear;
        Few ANY, 8 * KIB => Shared;
        Few ANY, ANY => Direct;
        Few ANY, 8 * KIB => Linear;
        Any ANY, 512 * KIB => RecursiveHalving;
        Any ANY, ANY => Pairwise;
    } hosts {
        ANY, ANY, ANY => Hierarchical;
    }
    gather {
        Any 2, LINE => Shared;
        Any 2, 24 * KIB => Linear;
        Any 2, 64 * KIB => Direct;
        Any 2, ANY => Linear;
        Few ANY, 48 * KIB => Shared;
        Few ANY, 512 * KIB => Direct;
        Few ANY, ANY => Linear;
        Any 8, ANY => Linear;
        Any ANY, KIB => Binomial;
        Any ANY, ANY => Linear;
    } hosts {
        ANY, ANY, 16 * KIB => Hierarchical;
    }
    scatter {
        Any 2, LINE => Shared;
        Any 2, 24 * KIB => Linear;
        Any 2, ANY => Direct;
        Few ANY, 16 * KIB => Shared;
        Few ANY, ANY => Direct;
        Few ANY, ANY => Linear;
        Any 8, ANY => Linear;
        Any ANY, KIB => Binomial;
        Any ANY, ANY => Linear;
    } hosts {
        ANY, ANY, 16 * KIB => Hierarchical;
    }
    allgather {
        Any 2, LINES => Shared;
        Any 2, 24 * KIB => Ring;
        Any 2, ANY => Direct;
        Any 2, ANY => Ring;
        Few ANY, 128 * KIB => Shared;
        Few 4, ANY => Direct;
        Few ANY, ANY => Shared;
        Few ANY, KIB => Linear;
        Any ANY, 8 * KIB => Bruck;
        Any ANY, ANY => Ring;
    } hosts {
        ANY, ANY, 64 * KIB => Hierarchical;
        ANY, ANY, ANY => HierarchicalRing;
    }
    alltoall {
        Any 2, LINE => Shared;
        Any 2, 24 * KIB => Pairwise;
        Any 2, ANY => Direct;
        Any 2, ANY => Pairwise;
        Few ANY, 16 * KIB => Shared;
        Few ANY, ANY => Direct;
        Few 64, ANY => Linear;
        Any 4, ANY => Linear;
        Any ANY, 256 => Bruck;
        Any ANY, 32 * KIB => Linear;
        Any ANY, ANY => Pairwise;
    } hosts {
        ANY, ANY, 4 * KIB => Hierarchical;
    }
    scan {
        Few ANY, 8 * KIB => Shared;
        Few ANY, 8 * KIB => Linear;
        Any ANY, ANY => RecursiveDoubling;
    } hosts {
        ANY, ANY, ANY => Hierarchical;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allreduce::Algorithm as WithHosts;
    use crate::flat::allreduce::Algorithm;

    #[test]
    fn a_choice_names_its_algorithms_and_obeys() {
        let choice = CHOICES
            .iter()
            .find(|choice| choice.operation == "allreduce")
            .unwrap();
        let names = choice.algorithms();
        let number = |name: &str| names.iter().position(|one| one == name).unwrap();
        assert_eq!(
            choice.by_table(8, 4, false, Sharing::Nothing, None),
            number("recursive_doubling")
        );
        assert_eq!(
            choice.by_table(8, 4, true, Sharing::Nothing, None),
            number("linear")
        );
        assert_eq!(
            choice.by_table(ANY, 4, false, Sharing::Nothing, None),
            number("rabenseifner")
        );
        assert_eq!(choice.forced(), None);
        // Other tests run beside this one: any algorithm gives them the right result.
        choice.force(Some(number("linear")));
        let call = Call {
            bytes: ANY,
            ranks: 4,
            oversubscribed: false,
            sharing: Sharing::Nothing,
            placement: None,
        };
        assert_eq!(flat::allreduce(call), Algorithm::Linear);
        assert_eq!(super::allreduce(call), WithHosts::Flat(Algorithm::Linear));
        choice.force(None);
        assert_eq!(flat::allreduce(call), Algorithm::Rabenseifner);
    }
    #[test]
    fn hosts_have_rules_of_their_own() {
        let on = |ranks_a_host, is_even, is_contiguous| Placement {
            hosts: 3,
            ranks_a_host,
            is_even,
            is_contiguous,
        };
        let call = |bytes, placement| Call {
            bytes,
            ranks: 6,
            oversubscribed: false,
            sharing: Sharing::Nothing,
            placement: Some(placement),
        };
        let (even, uneven) = (on(2, true, true), on(2, false, true));
        let short = tables::allreduce(call(8, even));
        assert_eq!(short, WithHosts::Hierarchical);
        let long = tables::allreduce(call(ANY, even));
        assert_eq!(long, WithHosts::HierarchicalSplit);
        let long = tables::allreduce(call(ANY, uneven));
        assert_eq!(long, WithHosts::Hierarchical);
        // A scan's results follow the order of the ranks, whatever the operation.
        use crate::flat::scan::Algorithm::RecursiveDoubling;
        let scan = tables::scan(call(8, on(2, true, false)));
        assert_eq!(scan, crate::scan::Algorithm::Flat(RecursiveDoubling));
    }
}

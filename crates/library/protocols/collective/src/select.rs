//! Which algorithm runs: tables, read from the top, the first rule that admits the call wins.
//!
//! With a core for every rank, rounds of messages are cheap, and what counts is their number for short
//! messages and the bytes each rank moves for long ones. Without, each round costs a turn of the scheduler
//! on every rank, and the total work counts: short operations go through one root, which hears from everyone
//! and answers everyone, so that each rank needs to run about once. Where the ranks share memory there is no message, and
//! a rank that posts what others need may go on; a rule whose algorithm needs what the ranks do not share is passed over.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all ranks of a call know of it.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// Packed bytes of the message, or of one block.
    pub bytes: usize,
    pub ranks: usize,
    pub oversubscribed: bool,
    pub sharing: Sharing,
}

/// What the ranks share, alike on all of them; each more than the one before. And what an algorithm asks for.
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

/// The algorithm of the first rule that admits the call; the last rule of a table admits all.
fn first<A: Copy>(rules: &[Rule<A>], call: Call, needs: fn(A) -> Sharing) -> A {
    let cores = if call.oversubscribed {
        Cores::Few
    } else {
        Cores::Enough
    };
    let admits = |rule: &&Rule<A>| {
        (rule.cores == Cores::Any || rule.cores == cores)
            && call.ranks <= rule.max_ranks
            && call.bytes <= rule.max_bytes
            && needs(rule.algorithm) <= call.sharing
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
    ) -> usize {
        (self.table)(Call {
            bytes,
            ranks,
            oversubscribed,
            sharing,
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
    ($($name:ident { $($cores:ident $ranks:expr, $bytes:expr => $algorithm:ident;)+ })*) => {
        /// Of each operation that has more than one algorithm.
        pub static CHOICES: [Choice; [$(stringify!($name)),*].len()] = [$(Choice {
            operation: stringify!($name),
            algorithms: || crate::$name::Algorithm::ALL.iter().map(name_of).collect(),
            table: |call| {
                let chosen = tables::$name(call);
                let all = crate::$name::Algorithm::ALL;
                all.iter().position(|&one| one == chosen).expect("ALL has all")
            },
            forced: AtomicUsize::new(0),
        }),*];

        #[expect(non_camel_case_types, reason = "the operations' names, by their numbers in CHOICES")]
        #[derive(Clone, Copy)]
        enum Number { $($name),* }

        mod tables {
            use super::*;
            $(pub(super) fn $name(call: Call) -> crate::$name::Algorithm {
                const RULES: &[Rule<crate::$name::Algorithm>] = &[
                    $(rule(Cores::$cores, $ranks, $bytes, crate::$name::Algorithm::$algorithm)),+
                ];
                first(RULES, call, crate::$name::Algorithm::needs)
            })*
        }

        $(pub(crate) fn $name(call: Call) -> crate::$name::Algorithm {
            let forced = CHOICES[Number::$name as usize].forced();
            let forced = forced.map(|number| crate::$name::Algorithm::ALL[number]);
            match forced.filter(|algorithm| algorithm.needs() <= call.sharing) {
                Some(algorithm) => algorithm,
                None => tables::$name(call),
            }
        })*
    };
}

tables! {
    barrier {
        Any ANY, ANY => Shared;
        Few ANY, ANY => Linear;
        Any ANY, ANY => Dissemination;
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
    }
    reduce {
        Any 2, LINE => Shared;
        Any 2, ANY => Linear;
        Few ANY, ANY => Shared;
        Few ANY, 16 * KIB => Linear;
        Any ANY, 16 * KIB => Binomial;
        Any ANY, ANY => ReduceScatterGather;
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
    }
    scan {
        Few ANY, 8 * KIB => Shared;
        Few ANY, 8 * KIB => Linear;
        Any ANY, ANY => RecursiveDoubling;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_names_its_algorithms_and_obeys() {
        let choice = CHOICES
            .iter()
            .find(|choice| choice.operation == "allreduce")
            .unwrap();
        let names = choice.algorithms();
        let number = |name: &str| names.iter().position(|one| one == name).unwrap();
        assert_eq!(
            choice.by_table(8, 4, false, Sharing::Nothing),
            number("recursive_doubling")
        );
        assert_eq!(
            choice.by_table(8, 4, true, Sharing::Nothing),
            number("linear")
        );
        assert_eq!(
            choice.by_table(ANY, 4, false, Sharing::Nothing),
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
        };
        assert_eq!(allreduce(call), crate::allreduce::Algorithm::Linear);
        choice.force(None);
        assert_eq!(allreduce(call), crate::allreduce::Algorithm::Rabenseifner);
    }
}

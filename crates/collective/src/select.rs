//! Which algorithm runs: tables, read from the top, the first rule that admits the call wins.
//!
//! With a core for every rank, rounds of messages are cheap, and what counts is their number for short
//! messages and the bytes each rank moves for long ones. Without, each round costs a turn of the scheduler
//! on every rank, and the total work counts: short operations go through one root, which hears from everyone
//! and answers everyone, so that each rank needs to run about once.

/// What all ranks of a call know of it.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// Packed bytes of the message, or of one block.
    pub bytes: usize,
    pub ranks: usize,
    pub oversubscribed: bool,
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

/// The algorithm of the first rule that admits the call; the last rule of a table admits all.
fn first<A: Copy>(rules: &[Rule<A>], call: Call) -> A {
    let cores = if call.oversubscribed {
        Cores::Few
    } else {
        Cores::Enough
    };
    let admits = |rule: &&Rule<A>| {
        (rule.cores == Cores::Any || rule.cores == cores)
            && call.ranks <= rule.max_ranks
            && call.bytes <= rule.max_bytes
    };
    rules
        .iter()
        .find(admits)
        .or(rules.last())
        .expect("a table has rules")
        .algorithm
}

macro_rules! tables {
    ($($name:ident { $($cores:ident $ranks:expr, $bytes:expr => $algorithm:ident;)+ })*) => {$(
        pub(crate) fn $name(call: Call) -> crate::$name::Algorithm {
            const RULES: &[Rule<crate::$name::Algorithm>] = &[
                $(rule(Cores::$cores, $ranks, $bytes, crate::$name::Algorithm::$algorithm)),+
            ];
            first(RULES, call)
        }
    )*};
}

tables! {
    barrier {
        Few ANY, ANY => Linear;
        Any ANY, ANY => Dissemination;
    }
    bcast {
        Any 2, ANY => Linear;
        Few ANY, 8 * KIB => Linear;
        Any ANY, 64 * KIB => Binomial;
        Any 16, ANY => Chain;
        Any ANY, 512 * KIB => ScatterRingAllgather;
        Any ANY, ANY => Chain;
    }
    reduce {
        Few ANY, 16 * KIB => Linear;
        Any ANY, 16 * KIB => Binomial;
        Any ANY, ANY => ReduceScatterGather;
    }
    allreduce {
        Few ANY, 8 * KIB => Linear;
        Any ANY, 16 * KIB => RecursiveDoubling;
        Any ANY, ANY => Rabenseifner;
    }
    reduce_scatter {
        Few ANY, 8 * KIB => Linear;
        Any ANY, 512 * KIB => RecursiveHalving;
        Any ANY, ANY => Pairwise;
    }
    gather {
        Few ANY, ANY => Linear;
        Any 8, ANY => Linear;
        Any ANY, KIB => Binomial;
        Any ANY, ANY => Linear;
    }
    scatter {
        Few ANY, ANY => Linear;
        Any 8, ANY => Linear;
        Any ANY, KIB => Binomial;
        Any ANY, ANY => Linear;
    }
    allgather {
        Few ANY, KIB => Linear;
        Any ANY, 8 * KIB => Bruck;
        Any ANY, ANY => Ring;
    }
    alltoall {
        Few 64, ANY => Linear;
        Any 4, ANY => Linear;
        Any ANY, 256 => Bruck;
        Any ANY, 32 * KIB => Linear;
        Any ANY, ANY => Pairwise;
    }
    scan {
        Few ANY, 8 * KIB => Linear;
        Any ANY, ANY => RecursiveDoubling;
    }
}

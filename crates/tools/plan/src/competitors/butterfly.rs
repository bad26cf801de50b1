//! Algorithms of a power of two ranks in which each exchanges with one other in each round, what it has or half of
//! it: recursive doubling and halving, Rabenseifner's allreduce of both (2004), and the same with Bine's pairs (De
//! Sensi et al. 2025).

use weft_goal::Program;

use super::setting::Setting;
use crate::Collective;

/// With whom a rank is paired in a round, among so many ranks.
type Pairs = fn(usize, u32, usize) -> usize;

#[derive(Clone, Copy)]
pub struct Butterfly {
    pub rounds: u32,
    pub pairs: Pairs,
}

/// How many rounds so many ranks have, if they are a power of two.
pub fn rounds(ranks: usize) -> Option<u32> {
    ranks.is_power_of_two().then(|| ranks.ilog2())
}

/// By the bits of the ranks' numbers.
pub fn bits_peer(rank: usize, round: u32, _: usize) -> usize {
    rank ^ 1 << round
}

/// The distance is 1, -1, 3, -5, 11 and so on for even ranks, and the opposite for odd ones.
pub fn bine_peer(rank: usize, round: u32, ranks: usize) -> usize {
    let distance = (1 - (-2i64).pow(round + 1)) / 3;
    let distance = match rank.is_multiple_of(2) {
        true => distance,
        false => -distance,
    };
    (rank as i64 + distance).rem_euclid(ranks as i64) as usize
}

type OfRank = fn(Butterfly, Setting, usize, &mut Program);

/// Those of a collective.
pub fn of(collective: Collective) -> &'static [(&'static str, Pairs, OfRank)] {
    match collective {
        Collective::Barrier => &[(
            "recursive_doubling",
            bits_peer,
            |butterfly, setting, rank, program| {
                butterfly.exchange_all(
                    Setting {
                        bytes: 0,
                        ..setting
                    },
                    rank,
                    program,
                );
            },
        )],
        Collective::Allreduce => &[
            ("recursive_doubling", bits_peer, Butterfly::exchange_all),
            ("rabenseifner", bits_peer, Butterfly::allreduce),
            ("bine", bine_peer, Butterfly::allreduce),
        ],
        Collective::ReduceScatter => &[
            ("recursive_halving", bits_peer, Butterfly::reduce_scatter),
            ("bine", bine_peer, Butterfly::reduce_scatter),
        ],
        Collective::Allgather => &[
            ("recursive_doubling", bits_peer, Butterfly::allgather_blocks),
            ("bine", bine_peer, Butterfly::allgather_blocks),
        ],
        Collective::Scan => &[("recursive_doubling", bits_peer, Butterfly::exchange_all)],
        Collective::Bcast
        | Collective::Reduce
        | Collective::Gather
        | Collective::Scatter
        | Collective::Alltoall => &[],
    }
}

impl Butterfly {
    fn peer(self, rank: usize, round: u32, ranks: usize) -> usize {
        (self.pairs)(rank, round, ranks)
    }

    /// All of the message in each round.
    fn exchange_all(self, setting: Setting, rank: usize, program: &mut Program) {
        for round in 0..self.rounds {
            let peer = self.peer(rank, round, setting.ranks);
            program.exchange((peer, setting.bytes), (peer, setting.bytes));
            program.calc(setting.combining_ns(setting.bytes));
        }
    }

    pub fn reduce_scatter(self, setting: Setting, rank: usize, program: &mut Program) {
        for round in (0..self.rounds).rev() {
            let peer = self.peer(rank, round, setting.ranks);
            let bytes = setting.cut(0..1 << round);
            program.exchange((peer, bytes), (peer, bytes));
            program.calc(setting.combining_ns(bytes));
        }
    }

    /// Of the message's cuts.
    pub fn allgather(self, setting: Setting, rank: usize, program: &mut Program) {
        for round in 0..self.rounds {
            let peer = self.peer(rank, round, setting.ranks);
            let bytes = setting.cut(0..1 << round);
            program.exchange((peer, bytes), (peer, bytes));
        }
    }

    fn allgather_blocks(self, setting: Setting, rank: usize, program: &mut Program) {
        let bytes = setting.bytes * setting.ranks as u64;
        self.allgather(Setting { bytes, ..setting }, rank, program);
    }

    fn allreduce(self, setting: Setting, rank: usize, program: &mut Program) {
        self.reduce_scatter(setting, rank, program);
        self.allgather(setting, rank, program);
    }
}

//! Trees in which whoever has the message passes it to one more in each round: binomial by the bits of the ranks'
//! numbers, and Bine (De Sensi et al. 2025), whose distances are sums of powers of -2 and so shorter.

use weft_goal::Program;

use super::butterfly::bine_peer;
use super::setting::Setting;
use crate::Collective;

pub struct Tree {
    rounds: u32,
    peer: fn(u32, usize, u32, usize) -> usize,
    /// In which round each rank is reached; the root in none.
    reached: Vec<Option<u32>>,
    /// How many ranks each has under it, itself included.
    ranks_under: Vec<usize>,
}

impl Tree {
    pub fn binomial(ranks: usize) -> Tree {
        let rounds = ranks.next_power_of_two().ilog2();
        Tree::new(ranks, rounds, |rounds, rank, round, _| {
            rank ^ 1 << (rounds - 1 - round)
        })
    }

    /// Of a power of two.
    pub fn bine(ranks: usize) -> Option<Tree> {
        let rounds = super::butterfly::rounds(ranks)?;
        Some(Tree::new(ranks, rounds, |rounds, rank, round, ranks| {
            bine_peer(rank, rounds - 1 - round, ranks)
        }))
    }

    /// `peer` says with whom a rank is paired in a round: of so many, a rank, the round, and so many ranks.
    fn new(ranks: usize, rounds: u32, peer: fn(u32, usize, u32, usize) -> usize) -> Tree {
        let mut tree = Tree {
            rounds,
            peer,
            reached: vec![None; ranks],
            ranks_under: vec![1; ranks],
        };
        let mut order = vec![0];
        for round in 0..rounds {
            for at in 0..order.len() {
                let child = tree.peer(order[at], round);
                if child < ranks && child != 0 && tree.reached[child].is_none() {
                    tree.reached[child] = Some(round);
                    order.push(child);
                }
            }
        }
        assert_eq!(order.len(), ranks, "a tree reaches all ranks");
        for &rank in order[1..].iter().rev() {
            if let Some(parent) = tree.parent(rank) {
                tree.ranks_under[parent] += tree.ranks_under[rank];
            }
        }
        tree
    }

    fn peer(&self, rank: usize, round: u32) -> usize {
        (self.peer)(self.rounds, rank, round, self.reached.len())
    }

    fn parent(&self, rank: usize) -> Option<usize> {
        self.reached[rank].map(|round| self.peer(rank, round))
    }

    /// In the order of their rounds.
    fn children(&self, rank: usize) -> impl DoubleEndedIterator<Item = usize> {
        let first = self.reached[rank].map_or(0, |round| round + 1);
        (first..self.rounds).filter_map(move |round| {
            let child = self.peer(rank, round);
            let is_child = child != 0 && self.reached.get(child) == Some(&Some(round));
            is_child.then_some(child)
        })
    }

    fn down(&self, rank: usize, program: &mut Program, bytes: impl Fn(usize) -> u64) {
        if let Some(parent) = self.parent(rank) {
            program.receive_and_wait(parent, bytes(rank));
        }
        let sent: Vec<u32> = (self.children(rank))
            .map(|child| program.send(child, bytes(child)))
            .collect();
        sent.into_iter().for_each(|send| program.wait(send));
    }

    fn up(&self, rank: usize, program: &mut Program, bytes: impl Fn(usize) -> u64, then_ns: u64) {
        let receive = |child| (child, program.receive(child, bytes(child)));
        let received: Vec<_> = self.children(rank).rev().map(receive).collect();
        for (_, receive) in received {
            program.wait(receive);
            program.calc(then_ns);
        }
        if let Some(parent) = self.parent(rank) {
            program.send_and_wait(parent, bytes(rank));
        }
    }
}

type OfRank = fn(&Tree, Setting, usize, &mut Program);

/// What a rank does by a tree, if that is a way.
pub fn of(collective: Collective) -> Option<OfRank> {
    Some(match collective {
        Collective::Barrier => |tree, _, rank, program| {
            tree.up(rank, program, |_| 0, 0);
            tree.down(rank, program, |_| 0);
        },
        Collective::Bcast => |tree, setting, rank, program| {
            tree.down(rank, program, |_| setting.bytes);
        },
        Collective::Reduce => |tree, setting, rank, program| {
            let ns = setting.combining_ns(setting.bytes);
            tree.up(rank, program, |_| setting.bytes, ns);
        },
        Collective::Allreduce => |tree, setting, rank, program| {
            let ns = setting.combining_ns(setting.bytes);
            tree.up(rank, program, |_| setting.bytes, ns);
            tree.down(rank, program, |_| setting.bytes);
        },
        Collective::Scatter => |tree, setting, rank, program| {
            tree.down(rank, program, |rank| tree.blocks(rank, setting));
        },
        Collective::Gather => |tree, setting, rank, program| {
            tree.up(rank, program, |rank| tree.blocks(rank, setting), 0);
        },
        Collective::ReduceScatter
        | Collective::Allgather
        | Collective::Alltoall
        | Collective::Scan => return None,
    })
}

impl Tree {
    /// The bytes of the blocks of all ranks under one.
    pub fn blocks(&self, rank: usize, setting: Setting) -> u64 {
        self.ranks_under[rank] as u64 * setting.bytes
    }

    /// Scatters the message's cuts, for what goes on with them.
    pub fn scatter_cuts(&self, setting: Setting, rank: usize, program: &mut Program) {
        self.down(rank, program, |rank| self.cuts(rank, setting));
    }

    pub fn gather_cuts(&self, setting: Setting, rank: usize, program: &mut Program) {
        self.up(rank, program, |rank| self.cuts(rank, setting), 0);
    }

    fn cuts(&self, rank: usize, setting: Setting) -> u64 {
        setting.cut(0..self.ranks_under[rank])
    }
}

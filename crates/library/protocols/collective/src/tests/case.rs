//! Every algorithm in two operations that follow each other, for tests in which something goes wrong: each rank is to have, of
//! each operation, an error or the whole right result.

use crate::select::Needs;
use crate::{
    Channel, Outcome, PlainReduction, PointToPoint, PredefinedOp, Reduction, Shares, Short,
    Uniform, allgather, allreduce, alltoall, barrier, bcast, gather, reduce, reduce_scatter, scan,
    scatter,
};
use std::cell::{Cell, RefCell};
use weft_datatype::{Datatype, Op, Predefined};
use weft_memory::Memory;

#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Barrier(barrier::Algorithm),
    Bcast(bcast::Algorithm),
    Reduce(reduce::Algorithm),
    Allreduce(allreduce::Algorithm),
    Gather(gather::Algorithm),
    Scatter(scatter::Algorithm),
    Allgather(allgather::Algorithm),
    Alltoall(alltoall::Algorithm),
    Scan(scan::Algorithm, scan::ScanKind),
    ReduceScatter(reduce_scatter::Algorithm),
}

use Operation::*;

pub fn all() -> Vec<Operation> {
    let mut all = Vec::new();
    all.extend(barrier::Algorithm::all().into_iter().map(Barrier));
    all.extend(bcast::Algorithm::all().into_iter().map(Bcast));
    all.extend(reduce::Algorithm::all().into_iter().map(Reduce));
    all.extend(allreduce::Algorithm::all().into_iter().map(Allreduce));
    all.extend(gather::Algorithm::all().into_iter().map(Gather));
    all.extend(scatter::Algorithm::all().into_iter().map(Scatter));
    all.extend(allgather::Algorithm::all().into_iter().map(Allgather));
    all.extend(alltoall::Algorithm::all().into_iter().map(Alltoall));
    for kind in [scan::ScanKind::Inclusive, scan::ScanKind::Exclusive] {
        all.extend(
            scan::Algorithm::all()
                .into_iter()
                .map(|one| Scan(one, kind)),
        );
    }
    all.extend(
        reduce_scatter::Algorithm::all()
            .into_iter()
            .map(ReduceScatter),
    );
    all
}

impl Operation {
    /// What it asks of the ranks.
    pub fn needs(self) -> Needs {
        match self {
            Barrier(algorithm) => algorithm.needs(),
            Bcast(algorithm) => algorithm.needs(),
            Reduce(algorithm) => algorithm.needs(),
            Allreduce(algorithm) => algorithm.needs(),
            Gather(algorithm) => algorithm.needs(),
            Scatter(algorithm) => algorithm.needs(),
            Allgather(algorithm) => algorithm.needs(),
            Alltoall(algorithm) => algorithm.needs(),
            Scan(algorithm, _) => algorithm.needs(),
            ReduceScatter(algorithm) => algorithm.needs(),
        }
    }
}

/// A run of both operations.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub operation: Operation,
    pub size: usize,
    /// Integers of a block.
    pub count: usize,
    pub root: usize,
    /// Which ranks try whether the operation is short first.
    pub tries: fn(usize) -> bool,
}

/// A rank's memory in one operation: as many blocks as ranks, for each direction.
struct Buffers {
    input: Vec<i32>,
    output: Vec<i32>,
}

impl Buffers {
    fn memory(&mut self) -> [*mut u8; 2] {
        [&mut self.input, &mut self.output].map(|integers| integers.as_mut_ptr().cast())
    }
}

const JUNK: i32 = -77;

fn value(round: usize, from: usize, to: usize, index: usize) -> i32 {
    (round * 10_000_000 + from * 100_000 + to * 1000 + index) as i32
}

impl Case {
    fn buffers(&self, round: usize, rank: usize) -> Buffers {
        let block = |to| (0..self.count).map(move |index| value(round, rank, to, index));
        let mut buffers = Buffers {
            input: (0..self.size).flat_map(block).collect(),
            output: vec![JUNK; self.size * self.count],
        };
        if matches!(self.operation, Bcast(_)) && rank == self.root {
            buffers.output.copy_from_slice(&buffers.input);
        }
        buffers
    }

    async fn run<P: PointToPoint>(
        &self,
        channel: &Channel<'_, P>,
        [input, output]: [*mut u8; 2],
    ) -> Result<(), P::Error> {
        let Case {
            size, count, root, ..
        } = *self;
        let datatype = Datatype::from(Predefined::Int32);
        let op = PredefinedOp::new(Op::Sum, Predefined::Int32).unwrap();
        let is_root = channel.rank() == root;
        let (one, result) = (
            datatype.memory(input, count).unwrap(),
            datatype.memory(output, count).unwrap(),
        );
        let blocks = |base| Uniform::new(&datatype, base, count, size).unwrap();
        let (from, into) = (blocks(input), blocks(output));
        let elements = if matches!(self.operation, ReduceScatter(_)) {
            size * count
        } else {
            count
        };
        if let Some(arena) = channel.arena()
            && (self.tries)(channel.rank())
            && self.try_short(
                &Short::new(arena.board(), channel.tag(), 1),
                channel.leader_before(),
                [input, output],
            )
        {
            return Ok(());
        }
        // SAFETY: the buffers outlive the operation, and the operation is for the type.
        let reduction = unsafe {
            Reduction::new(&op, &datatype, elements, Some(input.cast()), output).unwrap()
        };
        match self.operation {
            Barrier(algorithm) => barrier::run(channel, algorithm).await,
            Bcast(algorithm) => bcast::run(channel, result, root, algorithm).await,
            Reduce(algorithm) => reduce::run(channel, reduction, root, algorithm).await,
            Allreduce(algorithm) => allreduce::run(channel, reduction, algorithm).await,
            Gather(algorithm) => {
                let into = is_root.then_some(&into as _);
                gather::run(channel, Some(one), into, root, algorithm).await
            }
            Scatter(algorithm) => {
                let from = is_root.then_some(&from as _);
                scatter::run(channel, from, Some(result), root, algorithm).await
            }
            Allgather(algorithm) => allgather::run(channel, Some(one), &into, algorithm).await,
            Alltoall(algorithm) => alltoall::run(channel, Some(&from), &into, algorithm).await,
            Scan(algorithm, kind) => scan::run(channel, reduction, kind, algorithm).await,
            ReduceScatter(algorithm) => {
                reduce_scatter::run(channel, reduction, &Shares::Equal(count), algorithm).await
            }
        }
    }

    /// Whether the operation is over after a short attempt.
    fn try_short(
        &self,
        short: &Short<'_>,
        leader: Option<usize>,
        [input, output]: [*mut u8; 2],
    ) -> bool {
        let Case {
            size, count, root, ..
        } = *self;
        let bytes = count * size_of::<i32>();
        let is_root = short.rank() == root;
        let memory = |base, blocks| Memory::contiguous(base, blocks * bytes);
        let (one, result) = (memory(input, 1), memory(output, 1));
        let (from, into) = (memory(input, size), memory(output, size));
        let op = PredefinedOp::new(Op::Sum, Predefined::Int32).unwrap();
        let reduction = |elements| {
            // SAFETY: the buffers outlive the operation, and the operation is for the type.
            unsafe { PlainReduction::new(op, (elements, size_of::<i32>()), input, output) }
        };
        match self.operation {
            Barrier(_) => match leader {
                None => short.barrier(),
                Some(leader) => short.barrier_behind(leader),
            },
            Bcast(_) => short.bcast(&result, root),
            Reduce(_) => short.reduce(&reduction(count), root),
            Allreduce(_) => short.allreduce(&reduction(count)),
            Gather(_) if is_root => short.gather_root(Some(&one), &into, bytes),
            Gather(_) => short.gather_leaf(&one),
            Scatter(_) if is_root => short.scatter_root(&from, Some(&result), bytes),
            Scatter(_) => short.scatter_leaf(&result, root),
            Allgather(_) => short.allgather(Some(&one), |rank| {
                Memory::contiguous(output.wrapping_add(rank * bytes), bytes)
            }),
            Alltoall(_) => short.alltoall(&from, &into, bytes),
            Scan(..) => false,
            ReduceScatter(_) => {
                let start = short.rank() * count;
                short.reduce_scatter(&reduction(size * count), start..start + count, count)
            }
        }
    }

    /// What a rank has if it succeeded; none where nothing is said.
    fn expected(&self, round: usize, rank: usize) -> Option<Vec<i32>> {
        let all = 0..self.size;
        let sum = |ranks: std::ops::Range<usize>, to: usize| -> Vec<i32> {
            let sum = |index| {
                ranks
                    .clone()
                    .map(|from| value(round, from, to, index))
                    .sum()
            };
            (0..self.count).map(sum).collect()
        };
        let each = |to: usize| {
            all.clone()
                .flat_map(|from| sum(from..from + 1, to))
                .collect()
        };
        Some(match self.operation {
            Barrier(_) => return None,
            Bcast(_) => sum(self.root..self.root + 1, 0),
            Reduce(_) | Gather(_) if rank != self.root => return None,
            Reduce(_) | Allreduce(_) => sum(all, 0),
            Gather(_) | Allgather(_) => each(0),
            Scatter(_) => sum(self.root..self.root + 1, rank),
            Alltoall(_) => each(rank),
            Scan(_, scan::ScanKind::Inclusive) => sum(0..rank + 1, 0),
            Scan(_, scan::ScanKind::Exclusive) if rank == 0 => return None,
            Scan(_, scan::ScanKind::Exclusive) => sum(0..rank, 0),
            ReduceScatter(_) => sum(all, rank),
        })
    }
}

/// Both operations of all ranks, with their memory.
pub struct Rounds<'c> {
    case: &'c Case,
    buffers: [Vec<RefCell<Buffers>>; 2],
    /// How many ranks have begun each.
    entered: [Cell<usize>; 2],
}

impl Rounds<'_> {
    pub fn of(case: &Case) -> Rounds<'_> {
        let buffers =
            |round| (0..case.size).map(move |rank| RefCell::new(case.buffers(round, rank)));
        Rounds {
            case,
            buffers: [0, 1].map(|round| buffers(round).collect()),
            entered: [0, 1].map(|_| Cell::new(0)),
        }
    }

    /// The part of one rank.
    pub async fn run<P: PointToPoint<Error: Copy>>(&self, peers: &P) -> [Result<(), P::Error>; 2] {
        let mut results = [Ok(()); 2];
        for (round, result) in results.iter_mut().enumerate() {
            let entered = &self.entered[round];
            entered.set(entered.get() + 1);
            let outcome = Outcome::default();
            let channel = Channel::new(peers, round as u32, &outcome);
            let own = self.buffers[round][peers.rank()].borrow_mut().memory();
            *result = self.case.run(&channel, own).await;
            if matches!(self.case.operation, Barrier(_)) && result.is_ok() {
                assert_eq!(entered.get(), self.case.size);
            }
        }
        results
    }

    /// A rank succeeded: that it has the whole right result.
    pub fn check(&self, rank: usize, round: usize, what: &dyn std::fmt::Debug) {
        if let Some(wanted) = self.case.expected(round, rank) {
            let found = &self.buffers[round][rank].borrow().output;
            assert_eq!(
                found[..wanted.len()],
                wanted,
                "{:?}, rank {rank}, round {round}, {what:?}",
                self.case
            );
        }
    }
}

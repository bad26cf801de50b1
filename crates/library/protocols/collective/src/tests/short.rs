//! Short operations beside the same ones gone through the long way: some ranks try, at any moment, and each goes on as it finds the others.

use super::case::{Case, Operation, Rounds};
use super::world::World;
use crate::{
    Channel, Outcome, PointToPoint, Sharing, Short, ShortLimits, allgather, allreduce, alltoall,
    barrier, bcast, flat, gather, reduce, reduce_scatter, scatter,
};

/// What can be short, its number, and of how many bytes it is where a block has so many, among so many ranks.
type Tried = (Operation, crate::Operation, fn(usize, usize) -> usize);

fn operations() -> [Tried; 9] {
    macro_rules! by_board {
        ($($kind:ident $name:ident $bytes:expr;)*) => {
            [$((
                Operation::$kind($name::Algorithm::Flat(flat::$name::Algorithm::Shared)),
                crate::Operation::$name,
                $bytes,
            )),*]
        };
    }
    by_board! {
        Barrier barrier |_, _| 0;
        Bcast bcast |block, _| block;
        Reduce reduce |block, _| block;
        Allreduce allreduce |block, _| block;
        Gather gather |block, _| block;
        Scatter scatter |block, _| block;
        Allgather allgather |block, _| block;
        Alltoall alltoall |block, _| block;
        ReduceScatter reduce_scatter |block, size| block * size;
    }
}

/// So many ranks have their tables by the board for any length that is short at all.
fn possible(size: usize) -> ShortLimits {
    ShortLimits::new(size, true, Sharing::Board)
}

#[test]
fn every_rank_has_the_result_whoever_tries() {
    const TRIES: [fn(usize) -> bool; 4] = [
        |_| true,
        |rank| rank == 0,
        |rank| rank > 0,
        |rank| rank % 2 == 1,
    ];
    let mut run = 0;
    for (operation, number, bytes) in operations() {
        for size in 2..=7 {
            for count in [1, 3, 12, 28, 29, 200, 1000, 4096] {
                if !possible(size).admit(number, bytes(count * 4, size), Some(false)) {
                    continue;
                }
                for seed in 0..8 {
                    let case = Case {
                        operation,
                        size,
                        count,
                        root: seed as usize % size,
                        tries: TRIES[seed as usize % TRIES.len()],
                    };
                    let rounds = Rounds::of(&case);
                    let world = World::new(size, seed);
                    let results = world.run_ranks(async |rank| rounds.run(rank).await);
                    for (rank, results) in results.into_iter().enumerate() {
                        for (round, result) in results.into_iter().enumerate() {
                            assert_eq!(result, Ok(()), "{case:?}, rank {rank}");
                            rounds.check(rank, round, &seed);
                        }
                    }
                    run += 1;
                }
            }
        }
    }
    assert!(run > 700);
}

/// An operation that was begun, and whose call then found an error in its arguments, leaves nothing to the next one.
#[test]
fn what_was_begun_is_of_one_operation() {
    for seed in 0..20 {
        let world = World::new(2, seed);
        let results = world.run_ranks(async |rank| {
            let gives_up = rank.rank() == 1;
            if gives_up {
                Short::new(rank.arena().unwrap().board(), 0, 1).barrier();
            }
            let mut results = Vec::new();
            for number in u32::from(gives_up)..3 {
                let outcome = Outcome::default();
                let channel = Channel::new(rank, number, &outcome);
                let algorithm = barrier::Algorithm::Flat(flat::barrier::Algorithm::Shared);
                results.push(barrier::run(&channel, algorithm).await);
            }
            results
        });
        assert!(results.iter().flatten().all(Result::is_ok), "{results:?}");
    }
}

#[test]
fn limits_are_where_the_tables_change() {
    for size in [2, 3, 4, 5, 8, 16, 31, 32, 64, 65] {
        for oversubscribed in [false, true] {
            for sharing in [Sharing::Board, Sharing::Everything] {
                let limits = ShortLimits::new(size, oversubscribed, sharing);
                for (operation, number, _) in operations() {
                    let choice = &crate::CHOICES[number as usize];
                    let shared = format!("{operation:?}");
                    assert!(shared.contains("Shared"));
                    for bytes in (0..1 << 15)
                        .step_by(997)
                        .chain([48, 49, 112, 113, 4096, 16384])
                    {
                        let placed = choice.chosen(bytes, size, oversubscribed, sharing, None);
                        let [unknown, far, near] = [None, Some(false), Some(true)]
                            .map(|are_near| limits.admit(number, bytes, are_near));
                        // One that was begun before ranks knew how near they are goes on by the board.
                        assert_eq!(unknown, far && near, "{operation:?} {bytes} {size}");
                        if far {
                            assert_eq!(
                                choice.algorithms()[placed],
                                "shared",
                                "{operation:?} {bytes}"
                            );
                        }
                    }
                }
            }
        }
    }
}

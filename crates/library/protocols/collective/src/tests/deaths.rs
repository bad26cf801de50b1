//! A rank dies at any moment of two operations that follow each other: each of the others has, of each, an error or the whole
//! right result, and none waits for ever.

use super::case::{Case, Operation, Rounds, all};
use super::placements::worlds;
use super::world::{Error, LOST, World};
use crate::select::Needs;
use crate::{allreduce, flat};

/// Whether the operation by this algorithm is short, with so many integers in all.
fn is_short(operation: Operation, count: usize) -> bool {
    use flat::allreduce::Algorithm::{SharedRooted, SharedSlices};
    let takes_more_steps = matches!(
        operation,
        Operation::Allreduce(allreduce::Algorithm::Flat(SharedRooted | SharedSlices))
    );
    operation.needs() == Needs::Board && !takes_more_steps && count < 1000
}

/// The number of errors and of results, with a rank that dies after so many turns.
pub(super) fn run_with_death(
    case: &Case,
    mut world: World,
    seed: u64,
    [dying, after]: [usize; 2],
) -> [usize; 2] {
    world.dies = Some((dying, after));
    let rounds = Rounds::of(case);
    let results = world.run_while_alive(async |rank| rounds.run(rank).await);
    let mut counts = [0, 0];
    for (rank, results) in results.into_iter().enumerate() {
        for (round, result) in results.into_iter().flatten().enumerate() {
            counts[usize::from(result.is_ok())] += 1;
            match result {
                Ok(()) => rounds.check(rank, round, &(seed, dying, after)),
                Err(error) => assert!(matches!(error, Error::Lost | Error::Told(LOST))),
            }
        }
    }
    counts
}

#[test]
fn survivors_have_the_whole_result_or_an_error() {
    for operation in all() {
        let mut counts = [0, 0];
        for (size, count) in [(2, 3), (3, 9000), (4, 3), (5, 40), (7, 3), (8, 700)] {
            for seed in 0..8 {
                let (root, dying) = (seed as usize % size, (seed as usize * 5 + 1) % size);
                let case = Case {
                    operation,
                    size,
                    count,
                    root,
                    tries: match is_short(operation, size * count) {
                        true => |rank| rank % 2 == 0,
                        false => |_| false,
                    },
                };
                let after = (seed * seed) as usize % (size * 16);
                // With other moments go other placements.
                let mut worlds = worlds(size, seed, operation.needs());
                let world = worlds.swap_remove(seed as usize % worlds.len());
                let death = [dying, after];
                let [errors, results] = run_with_death(&case, world, seed, death);
                counts = [counts[0] + errors, counts[1] + results];
            }
        }
        assert!(
            counts.iter().all(|&count| count > 0),
            "{operation:?}: {counts:?}"
        );
    }
}

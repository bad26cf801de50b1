//! Reductions whose result is shared out, with an operation that shows how operands were combined.

use super::order::{self, Composed, HOLE, Shown, element_type, operand};
use super::placements::{all_worlds, worlds};
use crate::Reduction;
use crate::reduce_scatter::{self, Algorithm, Shares};
use std::cell::RefCell;

const LONG: usize = 3;

/// Counts of each rank: all alike, or none for some and several for others, or several segments for one and less than one for others.
fn shares(size: usize, kind: usize) -> Shares {
    let count = |rank: usize| match kind {
        0 => 2,
        1 => rank % 3,
        LONG => [33_000, 9, 0][rank % 3],
        _ => 5 * usize::from(rank + 1 == size),
    };
    if kind == 0 {
        return Shares::Equal(2);
    }
    let mut bounds = vec![0];
    for rank in 0..size {
        bounds.push(bounds[rank] + count(rank));
    }
    Shares::Bounds(bounds)
}

fn check(
    size: usize,
    kind: usize,
    commutative: bool,
    in_place: bool,
    algorithm: Option<Algorithm>,
) {
    let seed = (size * 7 + kind) as u64;
    let worlds = match algorithm {
        Some(algorithm) => worlds(size, seed, algorithm.needs()),
        None => all_worlds(size, seed),
    };
    for world in worlds {
        let (datatype, op) = (element_type(size.is_multiple_of(2)), Shown { commutative });
        let shares = shares(size, kind);
        let count = shares.range(size - 1).end;
        let inputs: Vec<_> = (0..size).map(|rank| operand(rank, count)).collect();
        let outputs: Vec<_> = (0..size)
            .map(|rank| {
                RefCell::new(match in_place {
                    true => inputs[rank].clone(),
                    false => vec![[0, HOLE, 0]; count],
                })
            })
            .collect();
        let results = world.run(async |channel, rank| {
            let input = (!in_place).then(|| inputs[rank].as_ptr().cast());
            let output = outputs[rank].borrow_mut().as_mut_ptr().cast();
            // SAFETY: the buffers outlive the operation, and the operation is for the type.
            let reduction =
                unsafe { Reduction::new(&op, &datatype, count, input, output).unwrap() };
            match algorithm {
                Some(algorithm) => {
                    reduce_scatter::run(channel, reduction, &shares, algorithm).await
                }
                None => crate::reduce_scatter(channel, reduction, &shares).await,
            }
        });
        assert!(results.iter().all(Result::is_ok) && world.is_quiet());
        let all = match world.is_contiguous() {
            true => Composed::of(&world, inputs.clone()).all(),
            false => order::all(&inputs),
        };
        for rank in 0..size {
            let own = shares.range(rank);
            let output = outputs[rank].borrow();
            assert_eq!(
                output[..own.len()],
                all[own.clone()],
                "{algorithm:?}: rank {rank} of {size}, counts {kind}"
            );
            if !in_place {
                assert!(output[own.len()..].iter().all(|map| *map == [0, HOLE, 0]));
            }
            assert_eq!(inputs[rank], operand(rank, count));
        }
    }
}

#[test]
fn every_rank_gets_its_share_combined_in_order() {
    let sizes = (1..=9).chain([12, 17]);
    let short = sizes.flat_map(|size| [0, 1, 2].map(|kind| (size, kind)));
    for (size, kind) in short.chain([(2, LONG), (3, LONG)]) {
        for commutative in [false, true] {
            for in_place in [false, true] {
                for algorithm in Algorithm::all() {
                    check(size, kind, commutative, in_place, Some(algorithm));
                }
                check(size, kind, commutative, in_place, None);
            }
        }
    }
}

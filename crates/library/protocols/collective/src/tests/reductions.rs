//! Reductions: with an operation that shows how operands were combined, and the selected ones.

use super::order::{Composed, HOLE, Shown, element_type, operand};
use super::placements::{all_worlds, worlds};
use crate::select::Needs;
use crate::{MOST_RANKS, PredefinedOp, Reduction, allreduce, reduce, scan};
use std::cell::RefCell;
use weft_datatype::{Datatype, Op, Predefined};

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Reduce(reduce::Algorithm, usize),
    Allreduce(allreduce::Algorithm),
    Scan(scan::Algorithm, scan::ScanKind),
}

impl Form {
    fn needs(self) -> Needs {
        match self {
            Form::Reduce(algorithm, _) => algorithm.needs(),
            Form::Allreduce(algorithm) => algorithm.needs(),
            Form::Scan(algorithm, _) => algorithm.needs(),
        }
    }
}

fn check(size: usize, count: usize, commutative: bool, in_place: bool, form: Form) {
    for world in worlds(size, (size * 31 + count) as u64, form.needs()) {
        if !commutative && !world.is_contiguous() {
            continue;
        }
        let (datatype, op) = (
            element_type((size + count).is_multiple_of(2)),
            Shown { commutative },
        );
        let inputs: Vec<_> = (0..size).map(|rank| operand(rank, count)).collect();
        let order = Composed::of(&world, inputs.clone());
        let all = (size > 0).then(|| order.all());
        let outputs: Vec<_> = (0..size)
            .map(|_| RefCell::new(vec![[0, HOLE, 0]; count]))
            .collect();
        let gets = |rank: usize| !matches!(form, Form::Reduce(_, root) if root != rank);
        if in_place {
            (0..size)
                .filter(|&rank| gets(rank))
                .for_each(|rank| outputs[rank].replace(inputs[rank].clone()).clear());
        }
        let before: Vec<_> = outputs
            .iter()
            .map(|output| output.borrow().clone())
            .collect();
        let results = world.run(async |channel, rank| {
            let input = (!in_place || !gets(rank)).then(|| inputs[rank].as_ptr().cast());
            let output = if gets(rank) {
                outputs[rank].borrow_mut().as_mut_ptr().cast()
            } else {
                std::ptr::null_mut()
            };
            // SAFETY: the buffers outlive the operation, and the operation is for the type.
            let reduction =
                unsafe { Reduction::new(&op, &datatype, count, input, output).unwrap() };
            match form {
                Form::Reduce(algorithm, root) => {
                    reduce::run(channel, reduction, root, algorithm).await
                }
                Form::Allreduce(algorithm) => allreduce::run(channel, reduction, algorithm).await,
                Form::Scan(algorithm, kind) => scan::run(channel, reduction, kind, algorithm).await,
            }
        });
        assert!(results.iter().all(Result::is_ok) && world.is_quiet());
        for rank in 0..size {
            let wanted = match form {
                Form::Scan(_, kind) => order
                    .prefix(rank, kind == scan::ScanKind::Inclusive)
                    .unwrap_or_else(|| before[0].clone()),
                _ if gets(rank) => all.clone().unwrap(),
                _ => before[rank].clone(),
            };
            assert_eq!(
                *outputs[rank].borrow(),
                wanted,
                "rank {rank} of {size}, {count} elements"
            );
            assert_eq!(inputs[rank], operand(rank, count));
        }
    }
}

fn cases(mut test: impl FnMut(usize, usize, bool, bool)) {
    let sizes = (1..=9).chain([12, 17]);
    let short = sizes.flat_map(|size| [0, 1, 3, 20].map(|count| (size, count)));
    // Several segments.
    let long = [(2, 33_000), (3, 33_000)];
    for (size, count) in short.chain(long) {
        for commutative in [false, true] {
            // Whether it commutes says only whether ranks that are scattered over hosts combine by host.
            if commutative && count != 3 {
                continue;
            }
            for in_place in [false, true] {
                test(size, count, commutative, in_place);
            }
        }
    }
}

/// All roots of few ranks; of many the last, one that is a leaf with another, and one that is not where their number is odd.
fn roots(size: usize) -> Vec<usize> {
    match size <= 5 {
        true => (0..size).collect(),
        false => vec![0, size / 2, size - 1],
    }
}

#[test]
fn reduce_combines_in_order() {
    cases(|size, count, commutative, in_place| {
        for algorithm in reduce::Algorithm::all() {
            for root in roots(size) {
                check(
                    size,
                    count,
                    commutative,
                    in_place,
                    Form::Reduce(algorithm, root),
                );
            }
        }
    });
}

#[test]
fn allreduce_combines_in_order() {
    cases(|size, count, commutative, in_place| {
        for algorithm in allreduce::Algorithm::all() {
            check(
                size,
                count,
                commutative,
                in_place,
                Form::Allreduce(algorithm),
            );
        }
    });
}

/// On the largest board, of fewer elements than ranks and of more.
#[test]
fn as_many_ranks_as_share_an_arena_combine_in_order() {
    let all = allreduce::Algorithm::all().into_iter();
    for algorithm in all.filter(|algorithm| algorithm.needs() == Needs::Board) {
        for count in [3, 300] {
            check(MOST_RANKS, count, false, true, Form::Allreduce(algorithm));
        }
    }
}

#[test]
fn scans_combine_in_order() {
    cases(|size, count, commutative, in_place| {
        for algorithm in scan::Algorithm::all() {
            for kind in [scan::ScanKind::Inclusive, scan::ScanKind::Exclusive] {
                check(
                    size,
                    count,
                    commutative,
                    in_place,
                    Form::Scan(algorithm, kind),
                );
            }
        }
    });
}

/// The selected algorithms, with and without cores for all, on lengths of each kind.
#[test]
fn selected_algorithms_work() {
    let datatype = Datatype::from(Predefined::Int64);
    let op = PredefinedOp::new(Op::Sum, Predefined::Int64).unwrap();
    for oversubscribed in [false, true] {
        for (size, count) in [(2, 1), (7, 1), (5, 4000)] {
            for mut world in all_worlds(size, 9) {
                world.oversubscribed = oversubscribed;
                let buffers: Vec<_> = (0..size)
                    .map(|rank| RefCell::new(vec![rank as i64 + 1; count]))
                    .collect();
                let results = world.run(async |channel, rank| {
                    let buffer = buffers[rank].borrow_mut().as_mut_ptr().cast::<u8>();
                    // SAFETY: the buffers outlive the operations, and the operation is for the type.
                    let reduction =
                        unsafe { Reduction::new(&op, &datatype, count, None, buffer).unwrap() };
                    crate::scan(channel, reduction).await?;
                    crate::exscan(channel, reduction).await?;
                    crate::allreduce(channel, reduction).await?;
                    let input = (rank != 0).then_some(buffer.cast_const());
                    // SAFETY: as above.
                    let reduction =
                        unsafe { Reduction::new(&op, &datatype, count, input, buffer).unwrap() };
                    crate::reduce(channel, reduction, 0).await
                });
                assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                let triangular = |rank: usize| (rank * (rank + 1) / 2) as i64;
                // After the scan rank r holds t(r + 1); after the exscan the sum of those before it.
                let after_exscan = |rank: usize| match rank {
                    0 => triangular(1),
                    _ => (0..rank).map(|lower| triangular(lower + 1)).sum(),
                };
                let total: i64 = (0..size).map(after_exscan).sum();
                assert!(
                    buffers[0]
                        .borrow()
                        .iter()
                        .all(|&value| value == total * size as i64)
                );
            }
        }
    }
}

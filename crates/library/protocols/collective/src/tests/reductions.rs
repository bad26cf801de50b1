//! Reductions: with an operation that shows in which order operands were combined, and sums of doubles, whose
//! bits show whether everyone combined them alike.

use super::placements::{all_worlds, worlds};
use crate::select::Needs;
use crate::{Combine, PredefinedOp, Reduction, allreduce, reduce, scan};
use std::cell::RefCell;
use weft_datatype::{Datatype, Op, Predefined};

/// Composition of the affine maps x -> a x + b modulo 2^32: associative, not commutative. An element is `a`,
/// a hole, `b`.
pub(super) struct Compose {
    pub commutative: bool,
}

pub(super) const HOLE: u32 = 0x5eed_0b5e;
pub(super) type Map = [u32; 3];

fn compose(f: Map, g: Map) -> Map {
    if f[0] == g[0] && f[0] == 1 {
        return [1, HOLE, f[2].wrapping_add(g[2])];
    }
    [
        f[0].wrapping_mul(g[0]),
        HOLE,
        f[0].wrapping_mul(g[2]).wrapping_add(f[2]),
    ]
}

impl Combine for Compose {
    unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: usize) {
        let (input, inout) = (input.cast::<Map>(), inout.cast::<Map>());
        for index in 0..count {
            // SAFETY: by this function's contract.
            unsafe {
                let [a, _, b] = compose(*input.add(index), *inout.add(index));
                (*inout.add(index))[0] = a;
                (*inout.add(index))[2] = b;
            }
        }
    }

    fn commutative(&self) -> bool {
        self.commutative
    }
}

pub(super) fn map_type() -> Datatype {
    Datatype::vector(2, 1, 2, &Predefined::Uint32.into()).unwrap()
}

/// Rank `rank`'s operand. Shifts commute, so the operation may say so.
pub(super) fn operand(rank: usize, count: usize, commutative: bool) -> Vec<Map> {
    let factor = |index: usize| {
        if commutative {
            1
        } else {
            (2 * rank + 3 + index) as u32
        }
    };
    (0..count)
        .map(|index| [factor(index), HOLE, (7 * rank + index + 1) as u32])
        .collect()
}

/// The operands of these ranks combined, in order.
pub(super) fn expected(ranks: std::ops::Range<usize>, count: usize, commutative: bool) -> Vec<Map> {
    let fold = |total: Vec<Map>, rank: usize| {
        let next = operand(rank, count, commutative);
        total
            .into_iter()
            .zip(next)
            .map(|(f, g)| compose(f, g))
            .collect()
    };
    let first = operand(ranks.start, count, commutative);
    (ranks.start + 1..ranks.end).fold(first, fold)
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Reduce(reduce::Algorithm, usize),
    Allreduce(allreduce::Algorithm),
    Scan(scan::Algorithm, scan::Kind),
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
        let (datatype, op) = (map_type(), Compose { commutative });
        let inputs: Vec<_> = (0..size)
            .map(|rank| operand(rank, count, commutative))
            .collect();
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
                Form::Scan(_, scan::Kind::Inclusive) => expected(0..rank + 1, count, commutative),
                Form::Scan(_, scan::Kind::Exclusive) if rank > 0 => {
                    expected(0..rank, count, commutative)
                }
                Form::Scan(..) => before[0].clone(),
                _ if gets(rank) => expected(0..size, count, commutative),
                _ => before[rank].clone(),
            };
            assert_eq!(
                *outputs[rank].borrow(),
                wanted,
                "rank {rank} of {size}, {count} elements"
            );
            assert_eq!(inputs[rank], operand(rank, count, commutative));
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
            for in_place in [false, true] {
                test(size, count, commutative, in_place);
            }
        }
    }
}

/// All roots of few ranks, the ends and the middle of many.
fn roots(size: usize) -> Vec<usize> {
    if size <= 9 {
        (0..size).collect()
    } else {
        vec![0, 1, size / 2, size - 1]
    }
}

#[test]
fn reduce_combines_in_rank_order() {
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
fn allreduce_combines_in_rank_order() {
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

#[test]
fn scans_combine_in_rank_order() {
    cases(|size, count, commutative, in_place| {
        for algorithm in scan::Algorithm::all() {
            for kind in [scan::Kind::Inclusive, scan::Kind::Exclusive] {
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

#[test]
fn allreduce_gives_everyone_the_same_bits() {
    let datatype = Datatype::from(Predefined::Double);
    let op = PredefinedOp::new(Op::Sum, Predefined::Double).unwrap();
    for algorithm in allreduce::Algorithm::all() {
        for size in 2..=13 {
            for world in worlds(size, size as u64, algorithm.needs()) {
                let input =
                    |rank: usize| (0..9).map(move |index| 1.1f64.powi((rank * 9 + index) as i32));
                let inputs: Vec<Vec<f64>> = (0..size).map(|rank| input(rank).collect()).collect();
                let outputs: Vec<_> = (0..size).map(|_| RefCell::new(vec![0f64; 9])).collect();
                let results = world.run(async |channel, rank| {
                    let input = Some(inputs[rank].as_ptr().cast());
                    let output = outputs[rank].borrow_mut().as_mut_ptr().cast();
                    // SAFETY: the buffers outlive the operation, and the operation is for the type.
                    let reduction =
                        unsafe { Reduction::new(&op, &datatype, 9, input, output).unwrap() };
                    allreduce::run(channel, reduction, algorithm).await
                });
                assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                let bits = |rank: usize| {
                    outputs[rank]
                        .borrow()
                        .iter()
                        .map(|x| x.to_bits())
                        .collect::<Vec<_>>()
                };
                for rank in 1..size {
                    assert_eq!(bits(rank), bits(0));
                }
                for (index, sum) in outputs[0].borrow().iter().enumerate() {
                    let exact: f64 = inputs.iter().map(|input| input[index]).sum();
                    assert!((sum / exact - 1.0).abs() < 1e-14);
                }
            }
        }
    }
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

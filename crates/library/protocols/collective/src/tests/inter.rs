//! Inter-communicators: two groups of all small sizes, in both directions.

use super::data::{Buffer, values};
use super::order::{self, HOLE, Shown, Vector, element_type, operand};
use super::world::{Error, Group, Rank, TAG, World};
use crate::inter::{self, Root, Sides};
use crate::{Channel, Outcome, PointToPoint, Reduction, Shares, Uniform};
use std::cell::{Cell, RefCell};

/// What a rank of the world is: its group (0 or 1), its rank there, and the other group's size.
#[derive(Clone, Copy)]
struct Place {
    side: usize,
    rank: usize,
    others: usize,
}

fn place(world_rank: usize, sizes: [usize; 2]) -> Place {
    let side = usize::from(world_rank >= sizes[0]);
    Place {
        side,
        rank: world_rank - side * sizes[0],
        others: sizes[1 - side],
    }
}

/// Runs an operation on both groups.
fn run(
    sizes: [usize; 2],
    operation: impl AsyncFn(&Sides<'_, Group<'_>>, Place) -> Result<(), Error>,
) {
    for oversubscribed in [false, true] {
        let mut world = World::new(sizes[0] + sizes[1], (sizes[0] * 16 + sizes[1]) as u64);
        world.oversubscribed = oversubscribed;
        let results = world.run_ranks(async |own: &Rank<'_>| {
            let place = place(own.rank(), sizes);
            let group = |side: usize| Group {
                own,
                rank: place.rank,
                start: side * sizes[0],
                size: sizes[side],
            };
            let (local, remote) = (group(place.side), group(1 - place.side));
            let outcome = Outcome::default();
            let sides = Sides {
                local: Channel::new(&local, TAG, &outcome),
                remote: Channel::new(&remote, TAG, &outcome),
            };
            operation(&sides, place).await
        });
        assert!(results.iter().all(Result::is_ok) && world.is_quiet());
    }
}

fn cases(mut test: impl FnMut([usize; 2])) {
    for first in 1..=9 {
        for second in [1, 2, 3, 8, 11] {
            test([first, second]);
        }
    }
}

/// The root as each process names it, if it is rank `root` of group `side`.
fn root_at(place: Place, side: usize, root: usize) -> Root {
    match place.side == side {
        true if place.rank == root => Root::Me,
        true => Root::Beside,
        false => Root::Remote(root),
    }
}

/// Both groups' last ranks, and their first.
fn roots(sizes: [usize; 2]) -> [(usize, usize); 4] {
    [(0, 0), (1, 0), (0, sizes[0] - 1), (1, sizes[1] - 1)]
}

#[test]
fn barrier_waits_for_the_other_group() {
    cases(|sizes| {
        let entered = [Cell::new(0), Cell::new(0)];
        let times = Cell::new(0);
        run(sizes, async |sides, place| {
            entered[place.side].set(entered[place.side].get() + 1);
            times.set(times.get() + 1);
            let round = (times.get() - 1) / (sizes[0] + sizes[1]) + 1;
            let result = inter::barrier(sides).await;
            assert!(entered[1 - place.side].get() >= round * place.others);
            result
        });
    });
}

#[test]
fn bcast_reaches_the_other_group_alone() {
    cases(|sizes| {
        for (side, root) in roots(sizes) {
            let buffers: Vec<_> = (0..sizes[0] + sizes[1])
                .map(|rank| Buffer::of(&values(rank, 0, 5), rank % 2 == 1))
                .collect();
            run(sizes, async |sides, place| {
                let memory = buffers[place.side * sizes[0] + place.rank].memory();
                inter::bcast(sides, memory, root_at(place, side, root)).await
            });
            for (rank, buffer) in buffers.iter().enumerate() {
                let from = match place(rank, sizes).side == side {
                    true => rank,
                    false => side * sizes[0] + root,
                };
                assert_eq!(buffer.block(0), values(from, 0, 5));
            }
        }
    });
}

#[test]
fn gather_and_scatter_cross() {
    cases(|sizes| {
        for (side, root) in roots(sizes) {
            let others = sizes[1 - side];
            let gathered = Buffer::new(others, 3, true);
            let scattered = Buffer::new(others, 3, false);
            (0..others).for_each(|to| scattered.fill(to, &values(99, to, 3)));
            let leaves: Vec<_> = (0..others)
                .map(|rank| Buffer::of(&values(rank, 1, 3), false))
                .collect();
            let got: Vec<_> = (0..others).map(|_| Buffer::new(1, 3, true)).collect();
            run(sizes, async |sides, place| {
                let whole = |buffer: &Buffer| {
                    let (pointer, count) = (buffer.pointer(), buffer.count);
                    Uniform::new(&buffer.datatype, pointer, count, others).unwrap()
                };
                let (into, from) = (whole(&gathered), whole(&scattered));
                match root_at(place, side, root) {
                    Root::Me => {
                        inter::gather(sides, None, Some(&into), Root::Me).await?;
                        inter::scatter(sides, Some(&from), None, Root::Me).await
                    }
                    Root::Beside => {
                        inter::gather(sides, None, None, Root::Beside).await?;
                        inter::scatter(sides, None, None, Root::Beside).await
                    }
                    remote => {
                        let send = leaves[place.rank].memory();
                        inter::gather(sides, Some(send), None, remote).await?;
                        let receive = got[place.rank].memory();
                        inter::scatter(sides, None, Some(receive), remote).await
                    }
                }
            });
            for (rank, got) in got.iter().enumerate() {
                assert_eq!(gathered.block(rank), values(rank, 1, 3));
                assert_eq!(got.block(0), values(99, rank, 3));
            }
        }
    });
}

#[test]
fn everyone_hears_from_all_of_the_other_group() {
    cases(|sizes| {
        let all = sizes[0] + sizes[1];
        let new = |rank: usize| Buffer::new(place(rank, sizes).others, 2, rank.is_multiple_of(2));
        let out: Vec<_> = (0..all).map(new).collect();
        let into: Vec<_> = (0..all).map(new).collect();
        let told: Vec<_> = (0..all).map(new).collect();
        let names: Vec<_> = (0..all)
            .map(|rank| Buffer::of(&values(rank, 77, 2), true))
            .collect();
        for (rank, out) in out.iter().enumerate() {
            (0..place(rank, sizes).others).for_each(|to| out.fill(to, &values(rank, to, 2)));
        }
        run(sizes, async |sides, place| {
            let me = place.side * sizes[0] + place.rank;
            let whole = |buffer: &Buffer| {
                let (pointer, count) = (buffer.pointer(), buffer.count);
                Uniform::new(&buffer.datatype, pointer, count, place.others).unwrap()
            };
            inter::alltoall(sides, &whole(&out[me]), &whole(&into[me])).await?;
            inter::allgather(sides, names[me].memory(), &whole(&told[me])).await
        });
        for me in 0..all {
            let Place { side, rank, others } = place(me, sizes);
            for from in 0..others {
                let other = (1 - side) * sizes[0] + from;
                assert_eq!(into[me].block(from), values(other, rank, 2));
                assert_eq!(told[me].block(from), values(other, 77, 2));
            }
        }
    });
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Reduce(usize, usize),
    Allreduce,
    ReduceScatter,
}

/// Group `g`'s rank `r` has operand `100 g + r`; results are of the other group's.
fn check_reduction(sizes: [usize; 2], form: Form) {
    // Shares of both groups with one sum.
    let count = sizes[0] * sizes[1] + 1;
    let shares = |side: usize| {
        let mut bounds = vec![0];
        bounds.extend((1..sizes[side]).map(|rank| rank * sizes[1 - side]));
        bounds.push(count);
        Shares::Bounds(bounds)
    };
    let (datatype, op) = (
        element_type(sizes[0].is_multiple_of(2)),
        Shown { commutative: false },
    );
    let all = sizes[0] + sizes[1];
    let outputs: Vec<_> = (0..all)
        .map(|_| RefCell::new(vec![[0, HOLE, 0]; count]))
        .collect();
    run(sizes, async |sides, place| {
        let me = place.side * sizes[0] + place.rank;
        let input = operand(100 * place.side + place.rank, count);
        let output = outputs[me].borrow_mut().as_mut_ptr().cast();
        let source = Some(input.as_ptr().cast());
        // SAFETY: the buffers outlive the operation, and the operation is for the type.
        let reduction = unsafe { Reduction::new(&op, &datatype, count, source, output).unwrap() };
        match form {
            Form::Reduce(side, root) => {
                inter::reduce(sides, reduction, root_at(place, side, root)).await
            }
            Form::Allreduce => inter::allreduce(sides, reduction).await,
            Form::ReduceScatter => {
                inter::reduce_scatter(sides, reduction, &shares(place.side)).await
            }
        }
    });
    for (me, output) in outputs.iter().enumerate() {
        let Place { side, rank, others } = place(me, sizes);
        let first = 100 * (1 - side);
        let operands: Vec<Vector> = (first..first + others)
            .map(|rank| operand(rank, count))
            .collect();
        let total = order::all(&operands);
        let wanted = match form {
            Form::Reduce(at, root) if (side, rank) == (at, root) => total,
            Form::Reduce(..) => Vec::new(),
            Form::Allreduce => total,
            Form::ReduceScatter => total[shares(side).range(rank)].to_vec(),
        };
        let output = output.borrow();
        assert_eq!(output[..wanted.len()], wanted, "{rank} of {sizes:?}");
        assert!(
            output[wanted.len()..]
                .iter()
                .all(|map| *map == [0, HOLE, 0])
        );
    }
}

#[test]
fn reductions_are_of_the_other_groups_operands_in_order() {
    cases(|sizes| {
        for (side, root) in roots(sizes) {
            check_reduction(sizes, Form::Reduce(side, root));
        }
        check_reduction(sizes, Form::Allreduce);
        check_reduction(sizes, Form::ReduceScatter);
    });
}

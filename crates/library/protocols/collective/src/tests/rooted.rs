//! Operations with a root: broadcast, gather, scatter.

use super::data::{Buffer, values};
use super::placements::{all_worlds, worlds};
use super::world::World;
use crate::{Blocks, Counts, Uniform, Varying, bcast, gather, gatherv, scatter, scatterv};

/// Sizes, roots and lengths; the root and every third rank have datatypes with holes in some.
fn cases(mut test: impl FnMut(usize, usize, usize, bool)) {
    for size in (1..=9).chain([12, 17]) {
        for root in 0..size {
            for length in [0, 1, 5] {
                test(size, root, length, (root + length) % 2 == 1);
            }
        }
    }
}

#[test]
fn bcast_reaches_everyone() {
    for algorithm in bcast::Algorithm::all() {
        cases(|size, root, length, holes| {
            for world in worlds(size, (size * 100 + root) as u64, algorithm.needs()) {
                check_bcast(&world, size, root, length, holes, algorithm);
            }
        });
    }
}

#[test]
fn bcast_in_segments() {
    for algorithm in bcast::Algorithm::all() {
        for (size, root) in [(2, 1), (3, 0), (5, 3)] {
            for world in worlds(size, 5, algorithm.needs()) {
                check_bcast(&world, size, root, 70_001, true, algorithm);
            }
        }
    }
}

fn check_bcast(
    world: &World,
    size: usize,
    root: usize,
    length: usize,
    holes: bool,
    algorithm: bcast::Algorithm,
) {
    let sent = values(root, 0, length);
    let buffers: Vec<_> = (0..size)
        .map(|rank| Buffer::new(1, length, holes && rank % 3 == root % 3))
        .collect();
    buffers[root].fill(0, &sent);
    let results = world.run(async |channel, rank| {
        bcast::run(channel, buffers[rank].memory(), root, algorithm).await
    });
    assert!(results.iter().all(Result::is_ok) && world.is_quiet());
    for buffer in &buffers {
        assert_eq!(
            buffer.block(0),
            sent,
            "{algorithm:?} {size} ranks, root {root}"
        );
    }
}

#[test]
fn gather_collects_from_everyone() {
    for algorithm in gather::Algorithm::all() {
        for in_place in [false, true] {
            cases(|size, root, length, holes| {
                for world in worlds(size, (size * 100 + root) as u64, algorithm.needs()) {
                    let sent: Vec<_> = (0..size)
                        .map(|rank| Buffer::of(&values(rank, root, length), holes))
                        .collect();
                    let into = Buffer::new(size, length, !holes);
                    if in_place {
                        into.fill(root, &values(root, root, length));
                    }
                    let results = world.run(async |channel, rank| {
                        let blocks =
                            Uniform::new(&into.datatype, into.pointer(), into.count, size).unwrap();
                        let send = (rank != root || !in_place).then(|| sent[rank].memory());
                        let blocks = (rank == root).then_some(&blocks as &dyn Blocks);
                        gather::run(channel, send, blocks, root, algorithm).await
                    });
                    assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                    for rank in 0..size {
                        assert_eq!(
                            into.block(rank),
                            values(rank, root, length),
                            "{algorithm:?}"
                        );
                    }
                }
            });
        }
    }
}

#[test]
fn scatter_serves_everyone() {
    for algorithm in scatter::Algorithm::all() {
        for in_place in [false, true] {
            cases(|size, root, length, holes| {
                for world in worlds(size, (size * 100 + root) as u64, algorithm.needs()) {
                    let from = Buffer::new(size, length, !holes);
                    (0..size).for_each(|rank| from.fill(rank, &values(root, rank, length)));
                    let into: Vec<_> = (0..size).map(|_| Buffer::new(1, length, holes)).collect();
                    let results = world.run(async |channel, rank| {
                        let blocks =
                            Uniform::new(&from.datatype, from.pointer(), from.count, size).unwrap();
                        let receive = (rank != root || !in_place).then(|| into[rank].memory());
                        let blocks = (rank == root).then_some(&blocks as &dyn Blocks);
                        scatter::run(channel, blocks, receive, root, algorithm).await
                    });
                    assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                    for rank in (0..size).filter(|&rank| rank != root || !in_place) {
                        assert_eq!(
                            into[rank].block(0),
                            values(root, rank, length),
                            "{algorithm:?}"
                        );
                    }
                }
            });
        }
    }
}

/// Rank `r` has `r % 4` integers, and the blocks lie in reverse order, one integer apart.
#[test]
fn gatherv_and_scatterv_keep_lengths_and_displacements() {
    for size in 1..=9 {
        for root in 0..size {
            for world in all_worlds(size, size as u64) {
                let counts: Vec<i32> = (0..size as i32).map(|rank| rank % 4).collect();
                let displacements: Vec<i64> = (0..size as i64)
                    .map(|rank| (size as i64 - 1 - rank) * 4)
                    .collect();
                let large: Vec<i64> = counts.iter().map(|&count| i64::from(count)).collect();
                let sent: Vec<_> = (0..size)
                    .map(|rank| Buffer::of(&values(rank, 0, rank % 4), false))
                    .collect();
                let middle = Buffer::new(1, 4 * size, false);
                let into: Vec<_> = (0..size)
                    .map(|rank| Buffer::new(1, rank % 4, true))
                    .collect();
                let results = world.run(async |channel, rank| {
                    let varying = |counts| {
                        let displacements = Counts::from(&displacements[..]);
                        Varying::new(&middle.datatype, middle.pointer(), counts, displacements)
                            .unwrap()
                    };
                    let (gathered, scattered) = (
                        varying(Counts::from(&counts[..])),
                        varying(Counts::from(&large[..])),
                    );
                    let blocks = (rank == root).then_some(&gathered as &dyn Blocks);
                    gatherv(channel, Some(sent[rank].memory()), blocks, root).await?;
                    let blocks = (rank == root).then_some(&scattered as &dyn Blocks);
                    scatterv(channel, blocks, Some(into[rank].memory()), root).await
                });
                assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                let middle = middle.block(0);
                for rank in 0..size {
                    let start = (size - 1 - rank) * 4;
                    assert_eq!(middle[start..start + rank % 4], values(rank, 0, rank % 4));
                    assert_eq!(into[rank].block(0), values(rank, 0, rank % 4));
                }
            }
        }
    }
}

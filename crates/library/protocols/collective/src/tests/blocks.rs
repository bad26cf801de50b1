//! Operations in which everyone has blocks: allgather, alltoall. And the barrier.

use super::data::{Buffer, values};
use super::placements::{all_worlds, worlds};
use crate::{
    Blocks, Counts, Uniform, Varying, allgather, allgatherv, alltoall, alltoallv, barrier,
};
use std::cell::Cell;

fn cases(mut test: impl FnMut(usize, usize, bool)) {
    for size in (1..=9).chain([12, 17]) {
        for length in [0, 1, 6] {
            test(size, length, (size + length) % 2 == 1);
        }
    }
    test(20, 3, true);
}

#[test]
fn barrier_waits_for_everyone() {
    for algorithm in barrier::Algorithm::all() {
        for size in (1..=9).chain([12, 17, 20]) {
            for seed in 0..8 {
                for world in worlds(size, seed, algorithm.needs()) {
                    let entered = Cell::new(0);
                    let results = world.run(async |channel, _| {
                        entered.set(entered.get() + 1);
                        let result = barrier::run(channel, algorithm).await;
                        (result, entered.get())
                    });
                    assert!(
                        results
                            .iter()
                            .all(|&(result, before)| result.is_ok() && before == size)
                    );
                    assert!(world.is_quiet());
                }
            }
        }
    }
}

#[test]
fn allgather_collects_everywhere() {
    for algorithm in allgather::Algorithm::all() {
        for in_place in [false, true] {
            cases(|size, length, holes| {
                for world in worlds(size, size as u64, algorithm.needs()) {
                    let sent: Vec<_> = (0..size)
                        .map(|rank| Buffer::of(&values(rank, 0, length), !holes))
                        .collect();
                    let into: Vec<_> = (0..size)
                        .map(|rank| Buffer::new(size, length, holes && rank % 2 == 0))
                        .collect();
                    if in_place {
                        (0..size).for_each(|rank| into[rank].fill(rank, &values(rank, 0, length)));
                    }
                    let results = world.run(async |channel, rank| {
                        let buffer = &into[rank];
                        let blocks =
                            Uniform::new(&buffer.datatype, buffer.pointer(), buffer.count, size)
                                .unwrap();
                        let send = (!in_place).then(|| sent[rank].memory());
                        allgather::run(channel, send, &blocks, algorithm).await
                    });
                    assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                    for (buffer, from) in into
                        .iter()
                        .flat_map(|b| (0..size).map(move |from| (b, from)))
                    {
                        assert_eq!(
                            buffer.block(from),
                            values(from, 0, length),
                            "{algorithm:?} {size}"
                        );
                    }
                }
            });
        }
    }
}

/// Rank `r` contributes `r % 3` integers; the blocks lie in reverse order.
#[test]
fn allgatherv_keeps_lengths_and_displacements() {
    for algorithm in allgather::Algorithm::all() {
        for size in 1..=10 {
            for world in worlds(size, size as u64, algorithm.needs()) {
                let counts: Vec<i32> = (0..size as i32).map(|rank| rank % 3).collect();
                let displacements: Vec<i32> = (0..size as i32)
                    .map(|rank| (size as i32 - 1 - rank) * 3)
                    .collect();
                let sent: Vec<_> = (0..size)
                    .map(|rank| Buffer::of(&values(rank, 0, rank % 3), false))
                    .collect();
                let into: Vec<_> = (0..size).map(|_| Buffer::new(1, 3 * size, false)).collect();
                let results = world.run(async |channel, rank| {
                    let (counts, displacements) =
                        (Counts::from(&counts[..]), Counts::from(&displacements[..]));
                    let datatype = &into[rank].datatype;
                    let blocks =
                        Varying::new(datatype, into[rank].pointer(), counts, displacements)
                            .unwrap();
                    allgather::run(channel, Some(sent[rank].memory()), &blocks, algorithm).await
                });
                assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                for buffer in &into {
                    let all = buffer.block(0);
                    for rank in 0..size {
                        let start = (size - 1 - rank) * 3;
                        assert_eq!(all[start..start + rank % 3], values(rank, 0, rank % 3));
                    }
                }
            }
        }
    }
}

#[test]
fn alltoall_exchanges_all_blocks() {
    for algorithm in alltoall::Algorithm::all() {
        for in_place in [false, true] {
            cases(|size, length, holes| {
                for world in worlds(size, size as u64, algorithm.needs()) {
                    let new = |holes: bool| -> Vec<_> {
                        (0..size)
                            .map(|_| Buffer::new(size, length, holes))
                            .collect()
                    };
                    let (sent, into) = (new(!holes), new(holes));
                    for (rank, to) in (0..size).flat_map(|rank| (0..size).map(move |to| (rank, to)))
                    {
                        let buffers = if in_place { &into } else { &sent };
                        buffers[rank].fill(to, &values(rank, to, length));
                    }
                    let results = world.run(async |channel, rank| {
                        let uniform = |buffer: &Buffer| (buffer.pointer(), buffer.count);
                        let (pointer, count) = uniform(&sent[rank]);
                        let send =
                            Uniform::new(&sent[rank].datatype, pointer, count, size).unwrap();
                        let (pointer, count) = uniform(&into[rank]);
                        let receive =
                            Uniform::new(&into[rank].datatype, pointer, count, size).unwrap();
                        let send = (!in_place).then_some(&send as &dyn Blocks);
                        alltoall::run(channel, send, &receive, algorithm).await
                    });
                    assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                    for (rank, from) in
                        (0..size).flat_map(|rank| (0..size).map(move |from| (rank, from)))
                    {
                        let block = into[rank].block(from);
                        assert_eq!(block, values(from, rank, length), "{algorithm:?} {size}");
                    }
                }
            });
        }
    }
}

/// Rank `r` sends `(r + to) % 3` integers, which both sides know; blocks are 3 apart.
#[test]
fn alltoallv_keeps_lengths() {
    for size in 1..=12 {
        for in_place in [false, true] {
            for world in all_worlds(size, size as u64) {
                let counts: Vec<Vec<i64>> = (0..size)
                    .map(|rank| (0..size).map(|peer| ((rank + peer) % 3) as i64).collect())
                    .collect();
                let displacements: Vec<i64> = (0..size as i64).map(|peer| 3 * peer).collect();
                let new = || -> Vec<_> { (0..size).map(|_| Buffer::new(size, 3, false)).collect() };
                let (sent, into) = (new(), new());
                for (rank, to) in (0..size).flat_map(|rank| (0..size).map(move |to| (rank, to))) {
                    let buffers = if in_place { &into } else { &sent };
                    buffers[rank].fill(to, &values(rank, to, 3));
                }
                let results = world.run(async |channel, rank| {
                    let varying = |buffer: &'_ Buffer| {
                        let datatype = &sent[rank].datatype;
                        let (counts, displacements) = (&counts[rank], &displacements);
                        let (counts, displacements) =
                            (Counts::from(&counts[..]), Counts::from(&displacements[..]));
                        Varying::new(datatype, buffer.pointer(), counts, displacements).unwrap()
                    };
                    let (send, receive) = (varying(&sent[rank]), varying(&into[rank]));
                    let send = (!in_place).then_some(&send as &dyn Blocks);
                    alltoallv(channel, send, &receive).await
                });
                assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                for (rank, from) in
                    (0..size).flat_map(|rank| (0..size).map(move |from| (rank, from)))
                {
                    let length = (rank + from) % 3;
                    assert_eq!(
                        into[rank].block(from)[..length],
                        values(from, rank, 3)[..length]
                    );
                }
            }
        }
    }
}

/// The selected algorithms, with and without cores for all.
#[test]
fn selected_algorithms_work() {
    for oversubscribed in [false, true] {
        for (size, length) in [(3, 1), (17, 100), (5, 20_000)] {
            for mut world in all_worlds(size, 3) {
                world.oversubscribed = oversubscribed;
                let sent: Vec<_> = (0..size)
                    .map(|rank| Buffer::of(&values(rank, 0, length), false))
                    .collect();
                let into: Vec<_> = (0..size)
                    .map(|_| Buffer::new(size, length, false))
                    .collect();
                let results = world.run(async |channel, rank| {
                    let buffer = &into[rank];
                    let blocks =
                        Uniform::new(&buffer.datatype, buffer.pointer(), buffer.count, size)
                            .unwrap();
                    crate::barrier(channel).await?;
                    crate::allgather(channel, Some(sent[rank].memory()), &blocks).await?;
                    allgatherv(channel, Some(sent[rank].memory()), &blocks).await?;
                    // There and back again.
                    crate::alltoall(channel, None, &blocks).await?;
                    crate::alltoall(channel, None, &blocks).await?;
                    crate::bcast(channel, sent[rank].memory(), 1).await
                });
                assert!(results.iter().all(Result::is_ok) && world.is_quiet());
                for rank in 0..size {
                    assert_eq!(sent[rank].block(0), values(1, 0, length));
                    (0..size).for_each(|from| {
                        assert_eq!(into[rank].block(from), values(from, 0, length))
                    });
                }
            }
        }
    }
}

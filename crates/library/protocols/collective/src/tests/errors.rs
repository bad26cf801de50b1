//! Errors end no operation half way: everyone finishes, no request is left, and who was hit says so.

use super::data::{Buffer, values};
use super::world::{Error, LOST, Rank, TAG, TRUNCATED, World};
use crate::select::Needs;
use crate::{
    Channel, Outcome, PointToPoint, Uniform, allgather, alltoall, bcast, flat, gather,
    run_blocking, scatter,
};

#[test]
fn a_truncated_message_is_reported_where_it_arrived() {
    let all = bcast::Algorithm::all().into_iter();
    for algorithm in all.filter(|algorithm| algorithm.needs() == Needs::Nothing) {
        let world = World::new(6, 1);
        let buffers: Vec<_> = (0..6)
            .map(|rank| Buffer::of(&values(rank, 0, 8 - rank / 5), false))
            .collect();
        let results = world.run(async |channel, rank| {
            bcast::run(channel, buffers[rank].memory(), 0, algorithm).await
        });
        assert_eq!(results[5], Err(Error::Truncated), "{algorithm:?}");
    }
}

/// What `operation` gives each of four ranks, of which rank 3 has blocks of `odd` integers, and all others of `length`. It gets
/// a buffer of a block to each rank, and one from each. Twice, as what is left of the first must not disturb the second.
fn uneven(
    (length, odd): (usize, usize),
    operation: impl AsyncFn(&Channel<'_, Rank<'_>>, usize, [&Buffer; 2]) -> Result<(), Error>,
) -> Vec<Result<(), Error>> {
    let world = World::new(4, 1);
    let buffers = || -> Vec<Buffer> {
        let length = |rank| if rank == 3 { odd } else { length };
        (0..4)
            .map(|rank| Buffer::of_blocks(4, length(rank)))
            .collect()
    };
    let (from, into) = (buffers(), buffers());
    let results = world.run_ranks(async |own| {
        let rank = own.rank();
        let buffers = [&from[rank], &into[rank]];
        let outcomes = [Outcome::default(), Outcome::default()];
        let [first, second] = outcomes
            .each_ref()
            .map(|outcome| Channel::new(own, TAG, outcome));
        let first = operation(&first, rank, buffers).await;
        let second = operation(&second, rank, buffers).await;
        match first {
            Ok(()) => second,
            _ => first,
        }
    });
    assert!(from.iter().chain(&into).all(Buffer::is_whole));
    results
}

fn blocks(buffer: &Buffer) -> Uniform {
    Uniform::new(&buffer.datatype, buffer.pointer(), buffer.count, 4).unwrap()
}

const LONG: Result<(), Error> = Err(Error::Truncated);
const APART: Result<(), Error> = Err(Error::Apart);
const FINE: Result<(), Error> = Ok(());

/// Of one piece each.
#[test]
fn a_longer_block_is_an_error_where_it_is_read_and_a_shorter_one_is_none() {
    let bcast = async |channel: &Channel<'_, Rank<'_>>, _: usize, [from, _]: [&Buffer; 2]| {
        let algorithm = bcast::Algorithm::Flat(flat::bcast::Algorithm::Shared);
        bcast::run(channel, from.memory(), 0, algorithm).await
    };
    assert_eq!(uneven((80, 9), bcast), [FINE, FINE, FINE, LONG]);
    assert_eq!(uneven((9, 80), bcast), [FINE; 4]);
    let gather =
        async |channel: &Channel<'_, Rank<'_>>, rank: usize, [from, into]: [&Buffer; 2]| {
            let into = blocks(into);
            let into = (rank == 0).then_some(&into as _);
            let algorithm = gather::Algorithm::Flat(flat::gather::Algorithm::Shared);
            gather::run(channel, Some(from.memory()), into, 0, algorithm).await
        };
    assert_eq!(uneven((9, 80), gather), [LONG, FINE, FINE, FINE]);
    assert_eq!(uneven((80, 9), gather), [FINE; 4]);
    for algorithm in [
        scatter::Algorithm::Flat(flat::scatter::Algorithm::Shared),
        scatter::Algorithm::Flat(flat::scatter::Algorithm::Direct),
    ] {
        let scatter =
            async |channel: &Channel<'_, Rank<'_>>, rank: usize, [from, into]: [&Buffer; 2]| {
                let from = blocks(from);
                let from = (rank == 0).then_some(&from as _);
                scatter::run(channel, from, Some(into.memory()), 0, algorithm).await
            };
        assert_eq!(uneven((80, 9), scatter), [FINE, FINE, FINE, LONG]);
        assert_eq!(uneven((9, 80), scatter), [FINE; 4]);
    }
    for algorithm in [
        allgather::Algorithm::Flat(flat::allgather::Algorithm::Shared),
        allgather::Algorithm::Flat(flat::allgather::Algorithm::Direct),
    ] {
        let allgather =
            async |channel: &Channel<'_, Rank<'_>>, _: usize, [from, into]: [&Buffer; 2]| {
                allgather::run(channel, Some(from.memory()), &blocks(into), algorithm).await
            };
        assert_eq!(uneven((80, 9), allgather), [FINE, FINE, FINE, LONG]);
        assert_eq!(uneven((9, 80), allgather), [LONG, LONG, LONG, FINE]);
    }
    for algorithm in [
        alltoall::Algorithm::Flat(flat::alltoall::Algorithm::Shared),
        alltoall::Algorithm::Flat(flat::alltoall::Algorithm::Direct),
    ] {
        let alltoall =
            async |channel: &Channel<'_, Rank<'_>>, _: usize, [from, into]: [&Buffer; 2]| {
                alltoall::run(channel, Some(&blocks(from)), &blocks(into), algorithm).await
            };
        assert_eq!(uneven((80, 9), alltoall), [FINE, FINE, FINE, LONG]);
        assert_eq!(uneven((9, 80), alltoall), [LONG, LONG, LONG, FINE]);
    }
}

/// With unlike lengths the ranks are in different steps at the end: nobody may wait for them, nor take one for another.
#[test]
fn ranks_that_go_apart_all_learn_it() {
    let of_several = 10_000;
    let bcast = async |channel: &Channel<'_, Rank<'_>>, _: usize, [from, _]: [&Buffer; 2]| {
        bcast::run(
            channel,
            from.memory(),
            0,
            bcast::Algorithm::Flat(flat::bcast::Algorithm::Shared),
        )
        .await
    };
    assert_eq!(uneven((of_several, 9), bcast)[3], LONG);
    // Too short, and found out by the step that does not come.
    assert_eq!(uneven((9, of_several), bcast)[3], LONG);
    // By the length, some take pieces and others look for a place.
    let mixed = async |channel: &Channel<'_, Rank<'_>>, rank: usize, [from, into]: [&Buffer; 2]| {
        let algorithm = match rank {
            3 => scatter::Algorithm::Flat(flat::scatter::Algorithm::Shared),
            _ => scatter::Algorithm::Flat(flat::scatter::Algorithm::Direct),
        };
        let from = blocks(from);
        let from = (rank == 0).then_some(&from as _);
        scatter::run(channel, from, Some(into.memory()), 0, algorithm).await
    };
    for lengths in [(of_several, 4), (4, of_several), (9, 4)] {
        let results = uneven(lengths, mixed);
        assert_eq!(results[3], LONG);
        assert!(results.iter().all(Result::is_err), "{results:?}");
    }
    let alltoall = async |channel: &Channel<'_, Rank<'_>>, _: usize, [from, into]: [&Buffer; 2]| {
        let (from, into) = (blocks(from), blocks(into));
        alltoall::run(
            channel,
            Some(&from),
            &into,
            alltoall::Algorithm::Flat(flat::alltoall::Algorithm::Shared),
        )
        .await
    };
    for lengths in [(of_several, 9), (9, of_several)] {
        let results = uneven(lengths, alltoall);
        assert!(
            results.iter().all(|result| [LONG, APART].contains(result)),
            "{results:?}"
        );
    }
}

#[test]
fn a_refused_send_is_reported_and_who_comes_after_is_told() {
    let mut world = World::new(4, 1);
    world.refuses = Some(2);
    let buffers: Vec<_> = (0..4)
        .map(|rank| Buffer::of(&values(rank, 0, 3), false))
        .collect();
    let results = world.run(async |channel, rank| {
        if rank == 2 {
            return Ok(());
        }
        bcast::run(
            channel,
            buffers[rank].memory(),
            0,
            bcast::Algorithm::Flat(flat::bcast::Algorithm::Linear),
        )
        .await
    });
    let told = Err(Error::Told(LOST));
    assert_eq!(results, [Err(Error::Refused), Ok(()), Ok(()), told]);
    assert_eq!(buffers[1].block(0), values(0, 0, 3));
}

/// The board goes on: the next operation is right.
#[test]
fn a_failure_between_hosts_is_told_within_each() {
    let world = World::on_hosts(vec![0, 0, 1, 1], true, 1);
    let algorithm = bcast::Algorithm::Hierarchical;
    let sent = values(0, 0, 9);
    let new = |lengths: [usize; 4]| lengths.map(|length| Buffer::new(1, length, false));
    let (short, whole) = (new([9, 9, 7, 7]), new([9; 4]));
    short[0].fill(0, &sent);
    whole[0].fill(0, &sent);
    let results = world.run_ranks(async |own| {
        let mut results = [Ok(()); 2];
        for (result, buffers) in results.iter_mut().zip([&short, &whole]) {
            let outcome = Outcome::default();
            let channel = Channel::new(own, TAG, &outcome);
            let memory = buffers[own.rank()].memory();
            *result = bcast::run(&channel, memory, 0, algorithm).await;
        }
        results
    });
    let told = Err(Error::Told(TRUNCATED));
    let first = results.iter().map(|results| results[0]);
    assert!(first.eq([FINE, FINE, LONG, told]), "{results:?}");
    assert!(
        results.iter().all(|results| results[1] == FINE),
        "{results:?}"
    );
    assert!(whole.iter().all(|buffer| buffer.block(0) == sent));
}

/// The driver waits when a request is pending, and only then.
#[test]
fn run_blocking_waits_on_the_pending_request() {
    use std::cell::Cell;
    use std::num::NonZeroU8;
    use weft_memory::Memory;

    struct Echo {
        arrived: Cell<u32>,
        pending: Cell<u32>,
    }
    impl PointToPoint for Echo {
        type Request = u32;
        type Error = ();
        fn rank(&self) -> usize {
            1
        }
        fn size(&self) -> usize {
            2
        }
        fn oversubscribed(&self) -> bool {
            false
        }
        fn send(&self, _: usize, _: u32, _: Memory) -> Result<u32, ()> {
            Ok(1)
        }
        fn send_failure(&self, _: usize, _: u32, _: NonZeroU8) -> Result<u32, ()> {
            unreachable!("nothing fails")
        }
        fn no_memory() {}
        fn mark((): &()) -> NonZeroU8 {
            NonZeroU8::MIN
        }
        fn receive(&self, _: usize, _: u32, _: Memory) -> Result<u32, ()> {
            Ok(2)
        }
        fn poll(&self, request: u32) -> Option<Result<usize, ()>> {
            self.pending.set(request);
            (self.arrived.get() & request != 0).then_some(Ok(0))
        }
    }
    let echo = Echo {
        arrived: Cell::new(0),
        pending: Cell::new(0),
    };
    let outcome = Outcome::default();
    let channel = Channel::new(&echo, 0, &outcome);
    let mut waited = Vec::new();
    let result = run_blocking(crate::barrier(&channel), || {
        let request = echo.pending.get();
        waited.push(request);
        echo.arrived.set(echo.arrived.get() | request);
    });
    assert_eq!(result, Ok(()));
    assert_eq!(waited, [2, 1]);
}

//! Errors end no operation half way: everyone finishes, no request is left, and who was hit says so.

use super::data::{Buffer, values};
use super::world::{Error, LOST, World};
use crate::{Channel, Outcome, Sharing, bcast, run_blocking};

#[test]
fn a_truncated_message_is_reported_where_it_arrived() {
    let all = bcast::Algorithm::ALL.iter();
    for &algorithm in all.filter(|algorithm| algorithm.needs() == Sharing::Nothing) {
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
        bcast::run(channel, buffers[rank].memory(), 0, bcast::Algorithm::Linear).await
    });
    let told = Err(Error::Told(LOST));
    assert_eq!(results, [Err(Error::Refused), Ok(()), Ok(()), told]);
    assert_eq!(buffers[1].block(0), values(0, 0, 3));
}

/// The driver waits when a request is pending, and only then.
#[test]
fn run_blocking_waits_on_the_pending_request() {
    use crate::PointToPoint;
    use std::cell::Cell;
    use std::num::NonZeroU8;
    use weft_transport::Memory;

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

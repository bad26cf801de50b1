//! How many messages between hosts wait for one another: as many as the hosts need if nobody but one rank of each takes part.

use super::world::World;
use crate::{PredefinedOp, Reduction};
use std::cell::RefCell;
use weft_datatype::{Datatype, Op, Predefined};

/// As many hosts of three ranks; that the result is right, and how deep it was.
fn allreduce(hosts: u32, shares: bool) -> usize {
    let datatype = Datatype::from(Predefined::Int64);
    let op = PredefinedOp::new(Op::Sum, Predefined::Int64).unwrap();
    let names: Vec<u32> = (0..3 * hosts).map(|rank| rank / 3).collect();
    let ranks = names.len() as i64;
    let world = World::on_hosts(names, shares, u64::from(hosts));
    let buffers: Vec<_> = (0..ranks).map(RefCell::new).collect();
    let results = world.run(async |channel, rank| {
        let buffer = buffers[rank].as_ptr().cast::<u8>();
        // SAFETY: the buffer outlives the operation, and the operation is for the type.
        let reduction = unsafe { Reduction::new(&op, &datatype, 1, None, buffer).unwrap() };
        crate::allreduce(channel, reduction).await
    });
    assert!(results.iter().all(Result::is_ok) && world.is_quiet());
    let sum = ranks * (ranks - 1) / 2;
    assert!(buffers.iter().all(|buffer| *buffer.borrow() == sum));
    world.depth()
}

fn barrier(hosts: u32, shares: bool) -> usize {
    let names = (0..3 * hosts).map(|rank| rank / 3).collect();
    let world = World::on_hosts(names, shares, u64::from(hosts));
    let results = world.run(async |channel, _| crate::barrier(channel).await);
    assert!(results.iter().all(Result::is_ok) && world.is_quiet());
    world.depth()
}

#[test]
fn short_operations_take_a_round_between_two_hosts_and_as_many_as_hosts_can_be_doubled() {
    for shares in [true, false] {
        for (hosts, rounds) in [(2, 1), (4, 2), (8, 3), (16, 4)] {
            assert_eq!(barrier(hosts, shares), rounds);
            assert_eq!(allreduce(hosts, shares), rounds);
        }
    }
}

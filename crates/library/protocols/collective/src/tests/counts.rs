//! What goes between hosts, and what the busiest rank of all sends or receives of it: the counts by which `select/tables.rs` argues.

use super::case::{Case, Operation, Rounds};
use super::world::{Traffic, World};
use crate::{allgather, allreduce, alltoall, bcast, flat, gather, reduce, reduce_scatter, scatter};

const HOSTS: usize = 4;
const RANKS_A_HOST: usize = 2;
/// Long enough that what is divided is divided evenly, short enough that each part is one message.
const BLOCK_BYTES: usize = 64;

/// So long that what is divided is as long as what is not, to those who choose by lengths.
const LONG: usize = 512 << 10;

/// What one operation costs.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    busiest: Traffic,
    between: Traffic,
}

/// Each case makes its operation twice, with the same root.
fn half(traffic: Traffic) -> Traffic {
    let is_even = traffic.messages.is_multiple_of(2) && traffic.bytes.is_multiple_of(2);
    assert!(is_even);
    Traffic {
        messages: traffic.messages / 2,
        bytes: traffic.bytes / 2,
    }
}

fn counts(operation: Operation, bytes: usize) -> Counts {
    let size = HOSTS * RANKS_A_HOST;
    let case = Case {
        operation,
        size,
        count: bytes / size_of::<i32>(),
        root: 1,
        tries: |_| false,
    };
    let names = (0..size).map(|rank| (rank / RANKS_A_HOST) as u32).collect();
    let world = World::on_hosts(names, true, 1);
    let rounds = Rounds::of(&case);
    let results = world.run_ranks(async |rank| rounds.run(rank).await);
    for (rank, results) in results.iter().enumerate() {
        for (round, result) in results.iter().enumerate() {
            assert_eq!(*result, Ok(()));
            rounds.check(rank, round, &operation);
        }
    }
    Counts {
        busiest: half(world.busiest()),
        between: half(world.between()),
    }
}

#[test]
fn divided_over_a_host_the_busiest_rank_moves_a_part_of_the_bytes_in_as_many_messages() {
    use Operation::{Allreduce, ReduceScatter};
    let size = HOSTS * RANKS_A_HOST;
    let pairs = [
        (
            counts(Allreduce(allreduce::Algorithm::Hierarchical), LONG),
            counts(Allreduce(allreduce::Algorithm::HierarchicalSplit), LONG),
        ),
        (
            counts(
                ReduceScatter(reduce_scatter::Algorithm::Hierarchical),
                LONG / size,
            ),
            counts(
                ReduceScatter(reduce_scatter::Algorithm::HierarchicalSplit),
                LONG / size,
            ),
        ),
    ];
    for (whole, split) in pairs {
        assert_eq!(split.between.bytes, whole.between.bytes);
        assert_eq!(split.busiest.bytes * RANKS_A_HOST, whole.busiest.bytes);
        assert_eq!(
            split.between.messages,
            whole.between.messages * RANKS_A_HOST
        );
    }
}

#[test]
fn a_split_reduce_scatter_takes_no_more_rounds_between_hosts() {
    let whole = counts(
        Operation::ReduceScatter(reduce_scatter::Algorithm::Hierarchical),
        BLOCK_BYTES,
    );
    let split = counts(
        Operation::ReduceScatter(reduce_scatter::Algorithm::HierarchicalSplit),
        BLOCK_BYTES,
    );
    assert_eq!(whole.busiest.messages, HOSTS.ilog2() as usize);
    assert_eq!(split.busiest.messages, whole.busiest.messages);
}

#[test]
fn a_rank_sends_one_message_of_an_alltoall_to_each_host() {
    let flat = flat::alltoall::Algorithm::Linear;
    let [flat, whole, split] = [
        alltoall::Algorithm::Flat(flat),
        alltoall::Algorithm::Hierarchical,
        alltoall::Algorithm::HierarchicalSplit,
    ]
    .map(|algorithm| counts(Operation::Alltoall(algorithm), BLOCK_BYTES));
    let others = HOSTS - 1;
    let of_a_rank = others * RANKS_A_HOST * BLOCK_BYTES;
    let busiest = |messages, bytes| Traffic { messages, bytes };
    assert_eq!(flat.busiest, busiest(others * RANKS_A_HOST, of_a_rank));
    assert_eq!(whole.busiest, busiest(others, of_a_rank * RANKS_A_HOST));
    assert_eq!(split.busiest, busiest(others, of_a_rank));
    assert_eq!(whole.between.bytes, split.between.bytes);
    assert_eq!(whole.between.messages, HOSTS * others);
    assert_eq!(split.between.messages, HOSTS * RANKS_A_HOST * others);
}

#[test]
fn the_root_of_short_blocks_deals_with_one_rank_of_each_other_host() {
    use Operation::{Gather, Scatter};
    let others = HOSTS - 1;
    let flat = [
        counts(
            Gather(gather::Algorithm::Flat(flat::gather::Algorithm::Linear)),
            BLOCK_BYTES,
        ),
        counts(
            Scatter(scatter::Algorithm::Flat(flat::scatter::Algorithm::Linear)),
            BLOCK_BYTES,
        ),
    ];
    let composed = [
        counts(Gather(gather::Algorithm::Hierarchical), BLOCK_BYTES),
        counts(Scatter(scatter::Algorithm::Hierarchical), BLOCK_BYTES),
    ];
    for (flat, composed) in flat.into_iter().zip(composed) {
        assert_eq!(flat.busiest.messages, others * RANKS_A_HOST);
        assert_eq!(composed.busiest.messages, others);
        assert_eq!(composed.busiest.bytes, flat.busiest.bytes);
    }
}

#[test]
fn each_byte_of_a_broadcast_comes_to_a_host_once_and_in_streams_to_one_rank_each() {
    const BYTES: usize = 1 << 20;
    let whole = counts(Operation::Bcast(bcast::Algorithm::Hierarchical), BYTES);
    let streams = counts(
        Operation::Bcast(bcast::Algorithm::HierarchicalStreams),
        BYTES,
    );
    assert_eq!(whole.between.bytes, (HOSTS - 1) * BYTES);
    assert_eq!(streams.between.bytes, (HOSTS - 1) * BYTES);
    assert_eq!(whole.busiest.bytes, BYTES);
    assert_eq!(streams.busiest.bytes, BYTES / RANKS_A_HOST);
}

#[test]
fn a_reduction_leaves_each_host_as_one_vector() {
    let reduce = counts(
        Operation::Reduce(reduce::Algorithm::Hierarchical),
        BLOCK_BYTES,
    );
    assert_eq!(reduce.between.bytes, (HOSTS - 1) * BLOCK_BYTES);
    assert_eq!(reduce.between.messages, HOSTS - 1);
}

#[test]
fn each_block_of_an_allgather_comes_to_a_host_once_and_in_rings_to_its_position() {
    let [whole, rings] = [
        allgather::Algorithm::Hierarchical,
        allgather::Algorithm::HierarchicalRing,
    ]
    .map(|algorithm| counts(Operation::Allgather(algorithm), BLOCK_BYTES));
    let others = HOSTS - 1;
    for one in [&whole, &rings] {
        assert_eq!(
            one.between.bytes,
            HOSTS * others * RANKS_A_HOST * BLOCK_BYTES
        );
    }
    assert_eq!(whole.busiest.bytes, others * RANKS_A_HOST * BLOCK_BYTES);
    assert_eq!(whole.busiest.messages, HOSTS.ilog2() as usize);
    assert_eq!(rings.busiest.bytes, others * BLOCK_BYTES);
    assert_eq!(rings.busiest.messages, others);
}

use weft_goal::{Fold, Network, Operation, Schedule, simulate};

use super::*;
use crate::schedule;

const BETWEEN: Network = Network {
    eager_bytes: 1 << 40,
    ..Network::LOGGOPSIM
};

const MACHINE: Machine = Machine {
    ranks_a_host: 1,
    between: BETWEEN,
    within: Network {
        latency_ns: 100.0,
        overhead_ns: 50.0,
        gap_ns: 0.0,
        gap_byte_ns: 0.0,
        ..BETWEEN
    },
};

fn library(collective: Collective, hosts: usize, ranks_a_host: usize, bytes: u64) -> Library {
    let shape = Shape {
        hosts,
        ranks_a_host,
    };
    Library::new(collective, shape, bytes, MACHINE, 0.0).unwrap()
}

fn all_of(library: &Library) -> Schedule {
    schedule(&library.plan(), &mut |_| {})
}

fn ns(library: &Library) -> f64 {
    let machine = Machine {
        ranks_a_host: library.speakers() as u32,
        ..MACHINE
    };
    let times = simulate(&all_of(library), &machine, Fold::None).unwrap();
    assert_eq!(times.unreceived, 0);
    times.end_ns
}

const ROUND_NS: f64 = 1500.0 + 2500.0 + 1500.0;

#[test]
fn every_collective_on_every_shape_receives_what_it_sends() {
    for collective in Collective::ALL {
        for (hosts, ranks_a_host) in [(2, 1), (9, 1), (16, 3), (5, 5)] {
            for bytes in [8, 100, 20_000, 100_000] {
                let library = library(collective, hosts, ranks_a_host, bytes);
                assert!(
                    ns(&library) > 0.0,
                    "{collective} {hosts} {ranks_a_host} {bytes}"
                );
            }
        }
    }
}

#[test]
fn a_rank_of_each_host_does_what_the_algorithm_says() {
    let barrier = library(Collective::Barrier, 16, 1, 0);
    assert_eq!(barrier.algorithm(), "dissemination");
    assert_eq!(ns(&barrier), 4.0 * ROUND_NS);
    let bcast = library(Collective::Bcast, 64, 1, 8);
    assert_eq!(bcast.algorithm(), "binomial");
    assert_eq!(ns(&bcast), 6.0 * (ROUND_NS + 7.0 * 6.0));
    let long = library(Collective::Bcast, 16, 1, 1 << 20);
    let bytes: u64 = (all_of(&long).ranks.iter())
        .flat_map(|rank| &rank.operations)
        .map(|operation| match *operation {
            Operation::Send { bytes, .. } => bytes,
            _ => 0,
        })
        .sum();
    assert_eq!(long.algorithm(), "circulant");
    // Each byte comes to each rank once.
    assert_eq!(bytes, 15 << 20);
    let reduce = library(Collective::Reduce, 2, 1, 8);
    let combining = Library {
        combine_byte_ns: 2.0,
        ..reduce
    };
    assert_eq!(ns(&combining), ROUND_NS + 7.0 * 6.0 + 16.0);
}

#[test]
fn what_goes_on_within_a_host_is_computation_of_those_that_speak() {
    let barrier = library(Collective::Barrier, 4, 8, 0);
    assert_eq!(
        (barrier.algorithm().as_str(), barrier.speakers()),
        ("hierarchical", 1)
    );
    let within = barrier.within_ns();
    // Up a tree of eight ranks and down again.
    assert_eq!(within, 2.0 * 3.0 * (50.0 + 100.0 + 50.0));
    assert_eq!(ns(&barrier), within + 2.0 * ROUND_NS);
    // The last host's ranks go on when its leader is done.
    let bcast = library(Collective::Bcast, 64, 8, 8);
    assert_eq!(ns(&bcast), bcast.within_ns() + 6.0 * (ROUND_NS + 7.0 * 6.0));
    let split = library(Collective::Allreduce, 4, 4, 1 << 20);
    assert_eq!(split.algorithm(), "hierarchical_split");
    assert_eq!(split.speakers(), 4);
}

#[test]
fn what_would_not_fit_in_memory_is_refused() {
    let shape = Shape {
        hosts: 1024,
        ranks_a_host: 64,
    };
    let refused = Library::new(Collective::Allgather, shape, 1 << 20, MACHINE, 0.0);
    assert_eq!(refused.err(), Some(TooLong { bytes: 64 << 30 }));
}

//! What the tables say.

use super::rules::ANY;
use super::tables::by_table;
use super::*;
use crate::allreduce::Algorithm as WithHosts;
use crate::flat::allreduce::Algorithm;
use proptest::prelude::*;

#[test]
fn a_choice_names_its_algorithms_and_obeys() {
    let choice = CHOICES
        .iter()
        .find(|choice| choice.operation == "allreduce")
        .unwrap();
    let names = choice.algorithms();
    let number = |name: &str| names.iter().position(|one| one == name).unwrap();
    assert_eq!(
        choice.by_table(8, 4, false, Sharing::Nothing, None),
        number("recursive_doubling")
    );
    assert_eq!(
        choice.by_table(8, 4, true, Sharing::Nothing, None),
        number("linear")
    );
    assert_eq!(
        choice.by_table(ANY, 4, false, Sharing::Nothing, None),
        number("rabenseifner")
    );
    assert_eq!(choice.forced(), None);
    // Other tests run beside this one: any algorithm gives them the right result.
    choice.force(Some(number("linear")));
    let call = Call {
        bytes: ANY,
        ranks: 4,
        oversubscribed: false,
        sharing: Sharing::Nothing,
        are_near: false,
        placement: None,
    };
    assert_eq!(flat::allreduce(call), Algorithm::Linear);
    assert_eq!(super::allreduce(call), WithHosts::Flat(Algorithm::Linear));
    choice.force(None);
    assert_eq!(flat::allreduce(call), Algorithm::Rabenseifner);
}

#[test]
fn ranks_that_share_caches_do_not_copy_from_each_other() {
    use crate::flat::{bcast, scatter};
    let call = |oversubscribed, are_near| Call {
        bytes: 256 << 10,
        ranks: 4,
        oversubscribed,
        sharing: Sharing::Everything,
        are_near,
        placement: None,
    };
    assert_eq!(
        by_table::flat::scatter(call(true, false)),
        scatter::Algorithm::Direct
    );
    assert_eq!(
        by_table::flat::scatter(call(true, true)),
        scatter::Algorithm::Linear
    );
    assert_eq!(
        by_table::flat::bcast(call(true, true)),
        bcast::Algorithm::Linear
    );
    for oversubscribed in [false, true] {
        for bytes in [8, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20] {
            // With a core each, three and more go as was measured.
            for ranks in [2, 3, 4, 8, 64] {
                if !oversubscribed && (3..=16).contains(&ranks) {
                    continue;
                }
                let call = Call {
                    bytes,
                    ranks,
                    ..call(oversubscribed, true)
                };
                assert_ne!(
                    by_table::flat::scatter(call),
                    crate::flat::scatter::Algorithm::Direct
                );
                assert_ne!(
                    by_table::flat::alltoall(call),
                    crate::flat::alltoall::Algorithm::Direct
                );
                assert_ne!(
                    by_table::flat::reduce_scatter(call),
                    crate::flat::reduce_scatter::Algorithm::Direct
                );
            }
        }
    }
}

/// A reduction on the board reads each operand where its rank has posted it, and so makes a copy less than one by messages. Few ranks
/// whose cores share caches make that up where messages are long.
#[test]
fn ranks_that_share_cores_reduce_on_the_board() {
    use crate::flat::{reduce, reduce_scatter, scan};
    for are_near in [false, true] {
        for bytes in [8, 4 << 10, 64 << 10, 256 << 10, 512 << 10] {
            for ranks in [3, 4, 8, 16] {
                if are_near && ranks < 16 && bytes > 4 << 10 {
                    continue;
                }
                let call = Call {
                    bytes,
                    ranks,
                    oversubscribed: true,
                    sharing: Sharing::Board,
                    are_near,
                    placement: None,
                };
                let holds = |one: bool| assert!(one, "{ranks} ranks, {bytes} bytes");
                holds(by_table::flat::reduce(call) == reduce::Algorithm::Shared);
                holds(by_table::flat::scan(call) == scan::Algorithm::Shared);
                if are_near {
                    holds(by_table::flat::allreduce(call) == Algorithm::Shared);
                }
                if are_near && bytes <= 64 << 10 {
                    holds(
                        by_table::flat::reduce_scatter(call) == reduce_scatter::Algorithm::Shared,
                    );
                }
            }
        }
    }
}

#[test]
fn ranks_with_a_core_each_go_as_was_measured() {
    use crate::flat::{allgather, allreduce, scatter};
    let call = |bytes, ranks, sharing| Call {
        bytes,
        ranks,
        oversubscribed: false,
        sharing,
        are_near: true,
        placement: None,
    };
    let everything = |bytes, ranks| call(bytes, ranks, Sharing::Everything);
    assert_eq!(
        by_table::flat::allreduce(everything(8, 16)),
        allreduce::Algorithm::Shared
    );
    assert_eq!(
        by_table::flat::allgather(everything(8, 5)),
        allgather::Algorithm::Shared
    );
    assert_eq!(
        by_table::flat::scatter(everything(1 << 20, 16)),
        scatter::Algorithm::Direct
    );
    // Where no rank may copy from another the next rule is for the same length.
    let board = call(1 << 20, 16, Sharing::Board);
    assert_eq!(by_table::flat::scatter(board), scatter::Algorithm::Linear);
    // Two, more than were measured, more than cores, and those that share nothing, go by the table.
    for call in [
        everything(8, 17),
        Call {
            oversubscribed: true,
            ..everything(8, 16)
        },
        call(8, 16, Sharing::Nothing),
        everything(8, 2),
    ] {
        assert!(!(call.has_cores() && call.ranks <= 16));
    }
    assert_ne!(
        by_table::flat::allreduce(everything(8, 17)),
        allreduce::Algorithm::Shared
    );
}

#[test]
fn hosts_have_rules_of_their_own() {
    let on = |ranks_a_host, is_even, is_contiguous| Placement {
        hosts: 3,
        ranks_a_host,
        is_even,
        is_contiguous,
    };
    let call = |bytes, placement| Call {
        bytes,
        ranks: 6,
        oversubscribed: false,
        sharing: Sharing::Nothing,
        are_near: false,
        placement: Some(placement),
    };
    let (even, uneven) = (on(2, true, true), on(2, false, true));
    let short = by_table::allreduce(call(8, even));
    assert_eq!(short, WithHosts::Hierarchical);
    let long = by_table::allreduce(call(ANY, even));
    assert_eq!(long, WithHosts::HierarchicalSplit);
    let long = by_table::allreduce(call(ANY, uneven));
    assert_eq!(long, WithHosts::Hierarchical);
    // A scan's results follow the order of the ranks, whatever the operation.
    use crate::flat::scan::Algorithm::RecursiveDoubling;
    let scan = by_table::scan(call(8, on(2, true, false)));
    assert_eq!(scan, crate::scan::Algorithm::Flat(RecursiveDoubling));
}

/// A call on several hosts that all have as many ranks, or not.
fn on_hosts(bytes: usize, hosts: usize, is_even: bool) -> Call {
    let ranks_a_host = 2;
    Call {
        bytes,
        ranks: hosts * ranks_a_host,
        oversubscribed: false,
        sharing: Sharing::Nothing,
        are_near: false,
        placement: Some(Placement {
            hosts,
            ranks_a_host,
            is_even,
            is_contiguous: true,
        }),
    }
}

#[test]
fn what_is_divided_over_a_host_is_long_enough_for_its_hosts() {
    use crate::{bcast, reduce_scatter};
    for (hosts, longest) in [(2, 32 << 10), (4, 32 << 10), (8, 128 << 10), (99, 2 << 20)] {
        let chosen = |bytes, is_even| by_table::reduce_scatter(on_hosts(bytes, hosts, is_even));
        let (whole, split) = (
            reduce_scatter::Algorithm::Hierarchical,
            reduce_scatter::Algorithm::HierarchicalSplit,
        );
        assert_eq!(chosen(longest, true), whole);
        assert_eq!(chosen(longest + 1, true), split);
        assert_eq!(chosen(longest + 1, false), whole);
    }
    for (hosts, longest) in [(2, 1 << 20), (3, 2 << 20), (8, 4 << 20), (9, 8 << 20)] {
        let chosen = |bytes| by_table::bcast(on_hosts(bytes, hosts, false));
        assert_eq!(chosen(longest), bcast::Algorithm::Hierarchical);
        assert_eq!(chosen(longest + 1), bcast::Algorithm::HierarchicalStreams);
    }
}

#[test]
fn short_blocks_of_an_alltoall_are_exchanged_by_position_or_by_leaders() {
    use crate::alltoall::Algorithm as Alltoall;
    let chosen = |bytes, is_even| by_table::alltoall(on_hosts(bytes, 4, is_even));
    assert_eq!(chosen(8, true), Alltoall::HierarchicalSplit);
    assert_eq!(chosen(8, false), Alltoall::Hierarchical);
    let pairwise = crate::flat::alltoall::Algorithm::Pairwise;
    assert_eq!(chosen(1 << 20, true), Alltoall::Flat(pairwise));
}

#[test]
fn a_rule_names_each_algorithm_that_can_run() {
    let find = |choice: &&Choice| choice.operation == "alltoall";
    let alltoall = CHOICES.iter().find(find).unwrap();
    let rules = |is_even| {
        let placement = on_hosts(8, 2, is_even).placement;
        let rules = alltoall.rules_on(placement, Sharing::Nothing).into_iter();
        rules.map(|(_, rule)| rule).collect::<Vec<_>>()
    };
    let flat = ["Flat(Bruck)", "Flat(Linear)", "Flat(Pairwise)"];
    assert_eq!(rules(false), [&flat[..], &["Hierarchical"]].concat());
    let both = ["Hierarchical", "HierarchicalSplit"];
    assert_eq!(rules(true), [&flat[..], &both].concat());
}

proptest! {
    /// Whatever map of hosts: what every rank makes of it leads it to the same algorithm of each operation.
    #[test]
    fn all_ranks_choose_alike(names in prop::collection::vec(0u32..4, 2..24), bytes in prop::sample::select(vec![0, 8, 4 << 10, 64 << 10, 1 << 20, 1 << 30])) {
        let placements = (0..names.len()).map(|rank| {
            let hosts = Hosts::new(rank, names.iter().copied());
            hosts.as_ref().and_then(Placement::of)
        });
        let placements: Vec<_> = placements.collect();
        for choice in &CHOICES {
            let chosen = placements.iter().map(|placement| {
                choice.by_table(bytes, names.len(), false, Sharing::Nothing, *placement)
            });
            let chosen: Vec<usize> = chosen.collect();
            prop_assert!(chosen.iter().all(|one| *one == chosen[0]), "{}: {chosen:?}", choice.operation);
        }
    }
}

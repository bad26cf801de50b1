//! What is chosen.

use super::rules::ANY;
use super::tables::unforced;
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
        choice.chosen(8, 4, false, Sharing::Nothing, None),
        number("recursive_doubling")
    );
    assert_eq!(
        choice.chosen(8, 4, true, Sharing::Nothing, None),
        number("linear")
    );
    assert_eq!(
        choice.chosen(ANY, 4, false, Sharing::Nothing, None),
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

/// Where ranks share a board but may not copy from each other, what copies is passed over.
#[test]
fn what_is_chosen_can_run() {
    for oversubscribed in [false, true] {
        for are_near in [false, true] {
            for sharing in [Sharing::Nothing, Sharing::Board, Sharing::Everything] {
                for ranks in [2, 3, 5, 16, 128] {
                    for bits in 0..24 {
                        let bytes = 1 << bits;
                        let call = Call {
                            bytes,
                            ranks,
                            oversubscribed,
                            sharing,
                            are_near,
                            placement: None,
                        };
                        for choice in &CHOICES {
                            let chosen = (choice.chosen)(call);
                            let all = (choice.algorithms)();
                            assert!(all[chosen].needs.are_met(call), "{}", choice.operation);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_chosen_costs_least_by_what_is_counted() {
    for (oversubscribed, are_near, group) in [
        (false, false, Group::Far),
        (false, true, Group::Near),
        (true, false, Group::SharedCores),
    ] {
        let prices = *Lists::BUILT_IN.of(group);
        for (choice, bytes) in CHOICES
            .iter()
            .flat_map(|choice| [8, 5000, 1 << 20].map(|bytes| (choice, bytes)))
        {
            let ranges = choice.ranges(5, oversubscribed, are_near);
            let (_, chosen) = ranges
                .iter()
                .find(|(longest, _)| bytes <= *longest)
                .unwrap();
            let counts = choice.counts(bytes, 5, oversubscribed).into_iter();
            let least = counts.min_by(|(_, a), (_, b)| prices.of(a).total_cmp(&prices.of(b)));
            assert_eq!(
                &choice.algorithms()[least.unwrap().0],
                chosen,
                "{}",
                choice.operation
            );
        }
    }
}

#[test]
fn short_operations_go_by_the_board() {
    for oversubscribed in [false, true] {
        for are_near in [false, true] {
            for ranks in [2, 3, 4, 8, 16] {
                let call = Call {
                    bytes: 8,
                    ranks,
                    oversubscribed,
                    sharing: Sharing::Everything,
                    are_near,
                    placement: None,
                };
                for choice in &CHOICES {
                    let chosen = (choice.chosen)(call);
                    // Of many that share cores rank 0 looks at all, rather than each.
                    if oversubscribed && ranks > 8 && choice.operation == "allreduce" {
                        assert_eq!(choice.algorithms()[chosen], "shared_rooted");
                        continue;
                    }
                    assert_eq!(chosen, choice.shared, "{} of {ranks}", choice.operation);
                    let up_to = choice.shared_up_to(call, 16 << 10);
                    assert!(up_to >= Some(64), "{}", choice.operation);
                }
            }
        }
    }
}

#[test]
fn ranges_tell_what_is_chosen_for_every_length() {
    for choice in &CHOICES {
        let names = choice.algorithms();
        let ranges = choice.ranges(16, false, false);
        assert_eq!(ranges.last().unwrap().0, usize::MAX);
        let mut first = 0;
        for (longest, name) in ranges {
            for bytes in [first, longest] {
                let call = Call {
                    bytes,
                    ranks: 16,
                    oversubscribed: false,
                    sharing: Sharing::Everything,
                    are_near: false,
                    placement: None,
                };
                assert_eq!(names[(choice.chosen)(call)], name, "{bytes}");
            }
            first = longest.wrapping_add(1);
        }
    }
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
    let short = unforced::allreduce(call(8, even));
    assert_eq!(short, WithHosts::Hierarchical);
    let long = unforced::allreduce(call(ANY, even));
    assert_eq!(long, WithHosts::HierarchicalSplit);
    let long = unforced::allreduce(call(ANY, uneven));
    assert_eq!(long, WithHosts::Hierarchical);
    // A scan's results follow the order of the ranks, whatever the operation.
    use crate::flat::scan::Algorithm::RecursiveDoubling;
    let scan = unforced::scan(call(8, on(2, true, false)));
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
        let chosen = |bytes, is_even| unforced::reduce_scatter(on_hosts(bytes, hosts, is_even));
        let (whole, split) = (
            reduce_scatter::Algorithm::Hierarchical,
            reduce_scatter::Algorithm::HierarchicalSplit,
        );
        assert_eq!(chosen(longest, true), whole);
        assert_eq!(chosen(longest + 1, true), split);
        assert_eq!(chosen(longest + 1, false), whole);
    }
    for (hosts, longest) in [(2, 1 << 20), (3, 2 << 20), (8, 4 << 20), (9, 8 << 20)] {
        let chosen = |bytes| unforced::bcast(on_hosts(bytes, hosts, false));
        assert_eq!(chosen(longest), bcast::Algorithm::Hierarchical);
        assert_eq!(chosen(longest + 1), bcast::Algorithm::HierarchicalStreams);
    }
}

#[test]
fn short_blocks_of_an_alltoall_are_exchanged_by_position_or_by_leaders() {
    use crate::alltoall::Algorithm as Alltoall;
    let chosen = |bytes, is_even| unforced::alltoall(on_hosts(bytes, 4, is_even));
    assert_eq!(chosen(8, true), Alltoall::HierarchicalSplit);
    assert_eq!(chosen(8, false), Alltoall::Hierarchical);
    assert!(matches!(chosen(1 << 20, true), Alltoall::Flat(_)));
}

#[test]
fn what_the_ranks_do_not_share_is_left_out() {
    let find = |choice: &&Choice| choice.operation == "alltoall";
    let alltoall = CHOICES.iter().find(find).unwrap();
    let names = alltoall.algorithms();
    let possible = |is_even| {
        let placement = on_hosts(8, 2, is_even).placement;
        let numbers = alltoall.possible(placement, Sharing::Nothing);
        numbers
            .into_iter()
            .map(|number| names[number].as_str())
            .collect::<Vec<_>>()
    };
    let flat = ["bruck", "linear", "pairwise"];
    assert_eq!(possible(false), [&flat[..], &["hierarchical"]].concat());
    let both = ["hierarchical", "hierarchical_split"];
    assert_eq!(possible(true), [&flat[..], &both].concat());
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
                choice.chosen(bytes, names.len(), false, Sharing::Nothing, *placement)
            });
            let chosen: Vec<usize> = chosen.collect();
            prop_assert!(chosen.iter().all(|one| *one == chosen[0]), "{}: {chosen:?}", choice.operation);
        }
    }
}

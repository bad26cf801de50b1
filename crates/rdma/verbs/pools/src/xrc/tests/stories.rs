//! What the paper tells, and what may come between.

use super::world::{World, process};
use crate::xrc::{Event, Failure, Host, Reason};
use crate::{Account, Job, Pools};

/// Processes 0 and 1 of host 0, 2 and 3 of host 1, as in the paper's Figure 4.
fn figure_4() -> World {
    World::new(2, 2)
}

fn is_connected(event: &Event) -> bool {
    matches!(event, Event::Connected { .. })
}

#[test]
fn the_second_process_of_a_host_adds_queue_numbers_alone() {
    let mut world = figure_4();
    let (zero, two, three) = (process(0, 0), process(1, 0), process(1, 1));
    world.connect(zero, two);
    world.settle();
    assert_eq!(
        (world.queue_pairs(0), world.queue_pairs(1)),
        ((1, 0), (0, 1))
    );
    assert_eq!(world.datagrams, 2);
    world.connect(zero, three);
    world.settle();
    assert_eq!(
        (world.queue_pairs(0), world.queue_pairs(1)),
        ((1, 0), (0, 1))
    );
    assert_eq!(world.datagrams, 4);
    assert!(world.reaches(zero, two) && world.reaches(zero, three));
    let Event::Connected { queues, send, .. } = &world.events[1].1 else {
        panic!("{:?}", world.events);
    };
    let numbers: Vec<u32> = queues.iter().map(|queue| queue.number).collect();
    assert_eq!((numbers, *send), (vec![1001, 1501], 1));
}

#[test]
fn both_sides_at_once_make_two_connections() {
    let mut world = figure_4();
    let (zero, two) = (process(0, 0), process(1, 0));
    world.connect(zero, two);
    world.connect(two, zero);
    world.settle();
    assert!(world.reaches(zero, two) && world.reaches(two, zero));
    assert_eq!(
        (world.queue_pairs(0), world.queue_pairs(1)),
        ((1, 1), (1, 1))
    );
}

#[test]
fn two_processes_of_a_host_at_once_share_one_receive_queue_pair() {
    let mut world = figure_4();
    let (zero, two, three) = (process(0, 0), process(1, 0), process(1, 1));
    world.connect(zero, two);
    world.connect(zero, three);
    assert_eq!(world.datagrams, 1, "the second waits");
    world.settle();
    assert!(world.reaches(zero, two) && world.reaches(zero, three));
    assert_eq!(world.queue_pairs(1), (0, 1));
}

#[test]
fn the_process_that_made_the_receive_queue_pair_may_leave() {
    let mut world = World::new(2, 3);
    let zero = process(0, 0);
    let [two, three, four] = [0, 1, 2].map(|i| process(1, i));
    world.connect(zero, two);
    world.connect(zero, three);
    world.settle();
    world.leave(two);
    assert_eq!(world.queue_pairs(1), (0, 1));
    assert!(world.reaches(zero, three));
    world.connect(zero, four);
    world.settle();
    assert!(world.reaches(zero, four));
    assert_eq!(
        (world.queue_pairs(0), world.queue_pairs(1)),
        ((1, 0), (0, 1))
    );
}

#[test]
fn a_receive_queue_pair_that_nobody_refers_to_is_made_again() {
    let mut world = World::new(3, 2);
    let (zero, two, three) = (process(0, 0), process(1, 0), process(1, 1));
    world.connect(zero, two);
    world.settle();
    world.leave(two);
    assert_eq!(world.queue_pairs(1), (0, 0));
    // Its number comes again, for another sender.
    world.connect(process(2, 0), three);
    world.settle();
    world.connect(zero, three);
    world.settle();
    assert!(world.reaches(zero, three) && world.reaches(process(2, 0), three));
    assert!(world.events.contains(&(zero, Event::Down { peer: two })));
    assert_eq!(
        (world.queue_pairs(0), world.queue_pairs(1)),
        ((1, 0), (0, 2))
    );
}

#[test]
fn a_lost_answer_is_given_again_and_nothing_is_made_twice() {
    let mut world = figure_4();
    let (zero, two) = (process(0, 0), process(1, 0));
    world.connect(zero, two);
    world.deliver(0);
    world.network.clear();
    world.settle();
    assert!(world.reaches(zero, two));
    assert_eq!(world.queue_pairs(1), (0, 1));
    assert_eq!(world.datagrams, 4);
}

#[test]
fn a_late_copy_of_a_request_makes_nothing() {
    let mut world = figure_4();
    let (zero, two) = (process(0, 0), process(1, 0));
    world.connect(zero, two);
    let copy = world.network[0].clone();
    world.settle();
    world.disconnect(zero, two);
    world.settle();
    assert_eq!(
        (world.queue_pairs(0), world.queue_pairs(1)),
        ((0, 0), (0, 0))
    );
    world.network.push(copy);
    world.settle();
    assert_eq!(world.queue_pairs(1), (0, 0));
}

#[test]
fn of_a_peer_that_is_forgotten_nothing_is_left_and_the_next_one_is_asked() {
    let mut world = figure_4();
    let (zero, two, three) = (process(0, 0), process(1, 0), process(1, 1));
    world.connect(zero, two);
    world.connect(zero, three);
    world.network.clear();
    world.forget(zero, two);
    world.settle();
    assert!(world.reaches(zero, three) && !world.is_connected(zero, two));
    world.forget(zero, three);
    assert_eq!(world.queue_pairs(0), (0, 0));
}

#[test]
fn if_the_maker_is_silent_the_next_one_is_asked() {
    let mut world = figure_4();
    let (zero, two, three) = (process(0, 0), process(1, 0), process(1, 1));
    world.connect(zero, two);
    world.connect(zero, three);
    world.kill(two);
    world.settle();
    let silent = Event::Failed {
        peer: two,
        why: Failure::Silent,
    };
    assert_eq!(world.events[0], (zero, silent));
    assert!(world.reaches(zero, three));
}

#[test]
fn who_was_only_slow_is_asked_to_close() {
    let mut world = figure_4();
    let (zero, two) = (process(0, 0), process(1, 0));
    world.connect(zero, two);
    world.deliver(0);
    assert_eq!(world.queue_pairs(1), (0, 1));
    // Nothing arrives until the request is given up.
    while world.events.is_empty() {
        world.network.clear();
        assert!(world.tick());
    }
    assert!(matches!(
        world.events[0].1,
        Event::Failed {
            why: Failure::Silent,
            ..
        }
    ));
    world.settle();
    assert_eq!(
        (world.queue_pairs(0), world.queue_pairs(1)),
        ((0, 0), (0, 0))
    );
}

#[test]
fn a_reference_that_was_not_heard_to_be_closed_is_used_again() {
    let mut world = figure_4();
    let (zero, two, three) = (process(0, 0), process(1, 0), process(1, 1));
    world.connect(zero, two);
    world.connect(zero, three);
    world.settle();
    world.disconnect(zero, two);
    loop {
        world.network.clear();
        if !world.tick() {
            break;
        }
    }
    world.leave(three);
    world.connect(zero, two);
    world.settle();
    assert!(world.reaches(zero, two));
    assert!(world.events.iter().all(|(_, event)| is_connected(event)));
}

#[test]
fn an_answer_that_is_given_again_says_what_is_so_now() {
    let mut world = figure_4();
    let (zero, two) = (process(0, 0), process(1, 0));
    world.connect(zero, two);
    world.deliver(0);
    world.network.clear();
    world.leave(two);
    world.settle();
    let why = Failure::Refused(Reason::Leaving);
    assert_eq!(world.events, [(zero, Event::Failed { peer: two, why })]);
}

#[test]
fn who_is_leaving_refuses_and_an_adapter_that_is_full_too() {
    let mut world = figure_4();
    let (zero, two) = (process(0, 0), process(1, 0));
    let failed = |world: &World| match world.events.last() {
        Some((_, Event::Failed { why, .. })) => *why,
        other => panic!("{other:?}"),
    };
    world.leave(two);
    world.connect(zero, two);
    world.settle();
    assert_eq!(failed(&world), Failure::Refused(Reason::Leaving));
    let full = [
        (1, Failure::Refused(Reason::NoResources)),
        (0, Failure::NoResources),
    ];
    for (host, why) in full {
        let mut world = figure_4();
        let adapter = world.hosts.get_mut(&Host(host)).unwrap();
        adapter.most = 1;
        world.connect(process(host, 1), process(1 - host, 1));
        world.settle();
        world.connect(zero, two);
        world.settle();
        assert_eq!(failed(&world), why);
        assert!(!world.is_connected(zero, two));
    }
}

#[test]
fn a_send_queue_pair_that_failed_is_replaced_by_the_next_message() {
    let mut world = figure_4();
    let (zero, two, three) = (process(0, 0), process(1, 0), process(1, 1));
    world.connect(zero, two);
    world.connect(zero, three);
    world.settle();
    world.send_failed(zero, Host(1));
    assert_eq!(world.queue_pairs(0), (0, 0));
    for peer in [two, three] {
        assert!(world.events.contains(&(zero, Event::Down { peer })));
        world.connect(zero, peer);
    }
    world.settle();
    assert!(world.reaches(zero, two) && world.reaches(zero, three));
    assert_eq!(world.queue_pairs(1), (0, 1));
}

/// 2 · PPN · (N − 1) on each node, by two datagrams for each ordered pair.
#[test]
fn a_job_that_talks_to_all_has_the_queue_pairs_of_its_account() {
    let pools: Pools = "X,256,8:X,4k,8".parse().unwrap();
    for (hosts, ranks) in [(2, 1), (2, 4), (4, 8), (5, 3)] {
        let mut world = World::new(hosts, ranks);
        let all: Vec<_> = world.processes.keys().copied().collect();
        let mut pairs = 0;
        for &from in &all {
            for &to in all.iter().filter(|to| to.0 / 1000 != from.0 / 1000) {
                world.connect(from, to);
                pairs += 1;
            }
        }
        world.settle();
        assert_eq!(
            world.events.iter().filter(|e| is_connected(&e.1)).count(),
            pairs
        );
        assert_eq!(world.datagrams, 2 * pairs);
        let job = Job {
            nodes: hosts,
            ranks_a_node: ranks,
            nodes_without_xrc: 0,
        };
        let account = Account::of_node(&pools, &job, true);
        for host in 0..hosts {
            let (sends, receives) = world.queue_pairs(host);
            assert_eq!(sends as u64, account.send_queue_pairs);
            assert_eq!(receives as u64, account.receive_queue_pairs);
        }
    }
}

use super::*;
use crate::software::{CALL_NS, POST_NS, RECEIVE_NS, SEND_NS, TURN_NS};

/// Lines alone take time, and wakes.
fn host(cores: usize) -> Host {
    let copies = || Table(vec![(1, 0.0)]);
    Host {
        cores,
        cores_a_group: 2,
        cores_a_socket: 4,
        near_line_ns: 100.0,
        line_ns: 200.0,
        socket_line_ns: 500.0,
        further_line_ns: 20.0,
        wake: Table(vec![(1, 10_000.0)]),
        wake_call_ns: 1_000.0,
        yield_ns: 300.0,
        own_copy: copies(),
        shared_copy: copies(),
        kernel_read: Table(vec![(1000, 1000.0)]),
        kernel_read_contended: Table(vec![(1000, 2000.0)]),
    }
}

fn end_ns(host: &Host, ranks: &[Vec<Act>]) -> f64 {
    run(host, ranks, 1, None).ends_ns[0]
}

/// All post in a step, and await the others around the ring.
fn barriers(ranks: usize, count: u64) -> Vec<Vec<Act>> {
    let of = |rank: usize| {
        let step = move |step| {
            let begin = [Act::Enter(step), Act::Post { step, bytes: 0 }];
            let others = (1..ranks).map(move |distance| Act::Await {
                rank: (rank + distance) % ranks,
                step,
            });
            begin.into_iter().chain(others).chain([Act::End])
        };
        (1..=count).flat_map(step).collect()
    };
    (0..ranks).map(of).collect()
}

#[test]
fn hosts_that_are_built_in_are_read() {
    for (name, _) in MACHINES {
        let host = Host::named(name).unwrap();
        assert!(host.line_ns >= host.near_line_ns, "{name}");
    }
    assert_eq!(Host::named("none"), None);
}

#[test]
fn what_is_wrong_in_a_hosts_file_is_told() {
    let text = MACHINES[1].1;
    for (wrong, why) in [
        (text.replace("cores = 16", ""), "13 of a host's 14"),
        (format!("{text}cores = 16\n"), "cores stands twice"),
        (text.replace("near_line_ns = 98", "x"), "NAME = VALUE"),
        (text.replace("= 98", "= -1"), "`-1` is no number"),
        (text.replace("cores = 16", "cores = 0"), "number of cores"),
        (text.replace("4096:240", "0:1"), "BYTES:NS"),
        (text.replace("yield_ns", "yield"), "no figure"),
    ] {
        let told = wrong.parse::<Host>().unwrap_err();
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn tables_are_read_in_between() {
    let table = Table(vec![(100, 10.0), (200, 40.0)]);
    let ns = [0, 50, 100, 150, 400].map(|bytes| table.ns(bytes));
    assert_eq!(ns, [0.0, 5.0, 10.0, 25.0, 80.0]);
}

#[test]
fn a_barrier_takes_a_line_and_further_ones() {
    let host = host(8);
    // Of four ranks in two groups, the first two waits are for lines that were written at once.
    assert_eq!(end_ns(&host, &barriers(2, 1)), POST_NS + 100.0 + CALL_NS);
    let four = end_ns(&host, &barriers(4, 1));
    assert_eq!(four, POST_NS + 200.0 + 2.0 * 20.0 + CALL_NS);
    // The other socket's lines come later.
    assert!(end_ns(&host, &barriers(8, 1)) > POST_NS + 500.0);
}

#[test]
fn messages_take_their_ends_a_line_and_a_turn() {
    let send = |bytes| vec![Act::Send { to: 1, bytes }, Act::Wait(0), Act::End];
    let receive = || vec![Act::Receive { from: 0 }, Act::Wait(0), Act::End];
    let host = host(8);
    let short = end_ns(&host, &[send(0), receive()]);
    assert_eq!(short, SEND_NS + 100.0 + TURN_NS + RECEIVE_NS + CALL_NS);
    // Of long ones from one rank the second copy begins when the first has ended, and takes longer.
    let both = vec![
        Act::Send {
            to: 1,
            bytes: 100_000,
        },
        Act::Send {
            to: 2,
            bytes: 100_000,
        },
        Act::Wait(0),
        Act::Wait(1),
        Act::End,
    ];
    let two = end_ns(&host, &[both, receive(), receive()]);
    let one = end_ns(&host, &[send(100_000), receive()]);
    assert!((200_000.0..200_400.0).contains(&(two - one)), "{one} {two}");
}

#[test]
fn a_post_waits_until_its_place_is_free() {
    let steps = 1..=u64::try_from(weft_sync::board::BUFFERS + 1).unwrap();
    let posts = steps.flat_map(|step| [Act::Enter(step), Act::Post { step, bytes: 4096 }]);
    let root: Vec<Act> = posts.chain([Act::End]).collect();
    let late = vec![
        Act::Read {
            rank: 0,
            bytes: 50_000,
        },
        Act::Enter(1),
        Act::Enter(2),
        Act::End,
    ];
    assert!(end_ns(&host(8), &[root, late]) > 50_000.0);
}

use super::*;
use crate::{Program, read};

const SMALL: Network = Network {
    latency_ns: 10.0,
    overhead_ns: 3.0,
    gap_ns: 5.0,
    gap_byte_ns: 1.0,
    overhead_byte_ns: 0.0,
    eager_bytes: 100,
};

fn machine(network: Network) -> Machine {
    Machine {
        ranks_a_host: 1,
        between: network,
        within: network,
    }
}

fn end_of(text: &str, network: Network) -> f64 {
    let schedule = read(text.as_bytes()).unwrap();
    let times = simulate(&schedule, &machine(network), Fold::None).unwrap();
    assert_eq!(times.unreceived, 0);
    times.end_ns
}

/// What each of so many ranks does.
fn schedule(ranks: usize, of: impl Fn(usize, &mut Program)) -> Schedule {
    let rank = |number| {
        let mut program = Program::default();
        of(number, &mut program);
        program.finish()
    };
    Schedule {
        ranks: (0..ranks).map(rank).collect(),
    }
}

fn end(schedule: &Schedule, fold: Fold) -> f64 {
    simulate(schedule, &machine(SMALL), fold).unwrap().end_ns
}

const ONE: &str = "num_ranks 2\nrank 0 {\nsend 5b to 1\n}\nrank 1 {\nrecv 5b from 0\n}";

#[test]
fn one_message() {
    assert_eq!(end_of(ONE, SMALL), 3.0 + 10.0 + 4.0 + 3.0);
    let copied = Network {
        overhead_byte_ns: 2.0,
        ..SMALL
    };
    assert_eq!(end_of(ONE, copied), 20.0 + 2.0 * 4.0 * 2.0);
}

#[test]
fn a_long_message_asks_first() {
    let long = Network {
        eager_bytes: 4,
        ..SMALL
    };
    assert_eq!(end_of(ONE, long), 3.0 + 10.0 + 10.0 + 10.0 + 4.0 + 3.0);
    let late = "num_ranks 2\nrank 0 {\na: send 5b to 1\nb: calc 0\nb requires a\n}\nrank 1 {\na: calc 100\n\
                b: recv 5b from 0\nb requires a\n}";
    assert_eq!(end_of(late, long), 100.0 + 10.0 + 10.0 + 4.0 + 3.0);
    let schedule = read(late.as_bytes()).unwrap();
    let times = simulate(&schedule, &machine(long), Fold::None).unwrap();
    // The send is over when its last byte has left.
    assert_eq!(times.over_ns[0], [114.0, 114.0]);
}

#[test]
fn an_adapter_keeps_a_gap_between_messages() {
    let three = schedule(4, |rank, program| match rank {
        0 => (1..4).for_each(|to| {
            program.send(to, 1);
        }),
        _ => program.receive_and_wait(0, 1),
    });
    // The processor is done with the sends at 3, 6 and 9; they leave at 3, 8 and 13.
    assert_eq!(end(&three, Fold::None), 13.0 + 10.0 + 3.0);
    let to_one = schedule(3, |rank, program| match rank {
        0 => (1..3).for_each(|from| {
            program.receive(from, 10);
        }),
        _ => program.send_and_wait(0, 10),
    });
    // Both come at 13. The first is in at 22, and after the gap the second from 27 to 36.
    assert_eq!(end(&to_one, Fold::None), 36.0 + 3.0);
}

#[test]
fn an_order_is_until_the_other_has_begun_or_is_over() {
    let text = |verb: &str| {
        format!(
            "num_ranks 1\nrank 0 {{\na: calc 100\nb: calc 1\nc: send 1b to 0\nd: recv 1b from 0\nd {verb} a\nc {verb} b\n}}"
        )
    };
    assert_eq!(
        end_of(&text("requires"), SMALL),
        100.0 + 1.0 + 3.0 + 10.0 + 3.0
    );
    // The processor does what is ready in its order, and the send is ready before the second computation is over.
    assert_eq!(end_of(&text("irequires"), SMALL), 117.0);
    let posted = "num_ranks 1\nrank 0 {\na: recv 1b from 0\nb: send 1b to 0\nb irequires a\n}";
    assert_eq!(end_of(posted, SMALL), 16.0);
}

#[test]
fn ranks_of_a_host_share_an_adapter_and_nothing_else() {
    let near = Network {
        latency_ns: 1.0,
        ..SMALL
    };
    let machine = Machine {
        ranks_a_host: 2,
        between: SMALL,
        within: near,
    };
    let crossing = schedule(4, |rank, program| match rank {
        0 | 1 => program.send_and_wait(rank + 2, 10),
        _ => program.receive_and_wait(rank - 2, 10),
    });
    // The second leaves when the first has, and a gap has passed: at 3 + 5 + 9; and comes in so.
    let times = simulate(&crossing, &machine, Fold::None).unwrap();
    assert_eq!(times.end_ns, 17.0 + 10.0 + 9.0 + 3.0);
    let inside = schedule(4, |rank, program| match rank % 2 {
        0 => program.send_and_wait(rank + 1, 10),
        _ => program.receive_and_wait(rank - 1, 10),
    });
    let times = simulate(&inside, &machine, Fold::None).unwrap();
    assert_eq!(times.end_ns, 3.0 + 1.0 + 9.0 + 3.0);
}

#[test]
fn who_waits_for_ever_is_named() {
    let cases = [
        ("num_ranks 1\nrank 0 {\nrecv 1b from 0\n}", (0, 0, true)),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb irequires a\n}",
            (0, 0, false),
        ),
    ];
    for (text, (rank, operation, has_begun)) in cases {
        let schedule = read(text.as_bytes()).unwrap();
        let stuck = simulate(&schedule, &machine(SMALL), Fold::None).unwrap_err();
        let expected = Stuck {
            rank,
            operation,
            has_begun,
        };
        assert_eq!(stuck, expected);
    }
    let lost = read(&b"num_ranks 1\nrank 0 {\nsend 1b to 0\n}"[..]).unwrap();
    let times = simulate(&lost, &machine(SMALL), Fold::None).unwrap();
    assert_eq!(times.unreceived, 1);
}

/// Of one byte: both overheads and the latency.
const ROUND_NS: f64 = 3.0 + 10.0 + 3.0;

fn binomial_bcast(ranks: usize) -> Schedule {
    schedule(ranks, |rank, program| {
        let lowest = match rank {
            0 => ranks,
            _ => 1 << rank.trailing_zeros(),
        };
        if rank != 0 {
            program.receive_and_wait(rank - lowest, 1);
        }
        let mut bit = lowest / 2;
        while bit > 0 {
            program.send(rank + bit, 1);
            bit /= 2;
        }
    })
}

#[test]
fn closed_formulas() {
    for rounds in 1..8 {
        let ranks = 1 << rounds;
        let expected = f64::from(rounds) * ROUND_NS;
        assert_eq!(end(&binomial_bcast(ranks), Fold::None), expected);
        let dissemination = schedule(ranks, |rank, program| {
            for round in 0..rounds {
                let distance = 1 << round;
                let (to, from) = (rank + distance, rank + ranks - distance);
                program.exchange((to % ranks, 1), (from % ranks, 1));
            }
        });
        assert_eq!(end(&dissemination, Fold::None), expected);
        let doubling = schedule(ranks, |rank, program| {
            for round in 0..rounds {
                let peer = rank ^ 1 << round;
                program.exchange((peer, 1 << round), (peer, 1 << round));
            }
        });
        // All but the first byte of each message: 2^k - 1 bytes less one of each.
        let bytes = ranks as f64 - 1.0 - f64::from(rounds);
        assert_eq!(end(&doubling, Fold::None), expected + bytes);
    }
    for ranks in [2, 3, 7, 20] {
        let ring = ring_allgather(ranks);
        let expected = (ranks as f64 - 1.0) * (ROUND_NS + 8.0);
        assert_eq!(end(&ring, Fold::None), expected);
    }
}

fn ring_allgather(ranks: usize) -> Schedule {
    schedule(ranks, |rank, program| {
        for _ in 1..ranks {
            let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            program.exchange((to, 9), (from, 9));
        }
    })
}

#[test]
fn one_host_of_many_that_do_alike_takes_as_long_as_all() {
    let first = |all: &Schedule| Schedule {
        ranks: all.ranks[..1].to_vec(),
    };
    let ring = ring_allgather(9);
    let folded = end(&first(&ring), Fold::Rotation(9));
    assert_eq!(folded, end(&ring, Fold::None));
    // All messages at once, long ones among them.
    let scattered = schedule(8, |rank, program| {
        let requests: Vec<u32> = (1..8)
            .flat_map(|distance| {
                let (to, from) = ((rank + distance) % 8, (rank + 8 - distance) % 8);
                let bytes = 30 * distance as u64;
                [program.receive(from, bytes), program.send(to, bytes)]
            })
            .collect();
        requests.into_iter().for_each(|one| program.wait(one));
        program.calc(7);
    });
    let folded = end(&first(&scattered), Fold::Rotation(8));
    assert_eq!(folded, end(&scattered, Fold::None));
    let doubling = schedule(16, |rank, program| {
        for round in 0..4 {
            program.exchange((rank ^ 1 << round, 70), (rank ^ 1 << round, 70));
        }
    });
    let folded = end(&first(&doubling), Fold::Bits);
    assert_eq!(folded, end(&doubling, Fold::None));
}

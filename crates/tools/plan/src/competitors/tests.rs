use weft_goal::{Fold, Machine, Network, Operation, simulate};

use super::*;
use crate::estimate::schedule;

const NETWORK: Network = Network {
    latency_ns: 1000.0,
    overhead_ns: 200.0,
    gap_ns: 100.0,
    gap_byte_ns: 0.5,
    overhead_byte_ns: 0.0,
    eager_bytes: 1 << 40,
};

const MACHINE: Machine = Machine {
    ranks_a_host: 1,
    between: NETWORK,
    within: NETWORK,
};

fn setting(ranks: usize, bytes: u64) -> Setting {
    Setting::new(ranks, bytes, &MACHINE, 0.25)
}

fn ns_of(competitor: &Competitor, network: Network) -> f64 {
    let all = schedule(&competitor.plan(), &mut |_| {});
    let machine = Machine {
        between: network,
        ..MACHINE
    };
    let times = simulate(&all, &machine, Fold::None);
    let times = times.unwrap_or_else(|stuck| panic!("{}: {stuck}", competitor.name));
    assert_eq!(times.unreceived, 0, "{}", competitor.name);
    times.end_ns
}

fn find(collective: Collective, setting: Setting, name: &str) -> Competitor {
    let mut all = all(collective, setting).into_iter();
    all.find(|one| one.name == name).unwrap()
}

fn ns(collective: Collective, setting: Setting, name: &str) -> f64 {
    ns_of(&find(collective, setting, name), NETWORK)
}

#[test]
fn all_end_and_receive_what_is_sent_as_long_as_it_is() {
    let asking = Network {
        eager_bytes: 4,
        ..NETWORK
    };
    for collective in Collective::ALL {
        for ranks in [2, 3, 5, 8, 13, 16] {
            for bytes in [0, 1, 8, 1000] {
                for competitor in all(collective, setting(ranks, bytes)) {
                    ns_of(&competitor, NETWORK);
                    ns_of(&competitor, asking);
                    lengths_agree(&competitor);
                }
            }
        }
    }
}

/// Of the messages between two ranks, one after the other.
fn lengths_agree(competitor: &Competitor) {
    let all = schedule(&competitor.plan(), &mut |_| {}).ranks;
    for (rank, of_rank) in all.iter().enumerate() {
        for (peer, of_peer) in all.iter().enumerate() {
            let sent = of_rank.operations.iter().filter_map(|one| match *one {
                Operation::Send { to, bytes, .. } => (to as usize == peer).then_some(bytes),
                _ => None,
            });
            let received = of_peer.operations.iter().filter_map(|one| match *one {
                Operation::Receive { from, bytes, .. } => (from as usize == rank).then_some(bytes),
                _ => None,
            });
            let name = competitor.name;
            // Cuts of a message may differ by a byte.
            let alike = sent.clone().zip(received.clone());
            let alike = alike
                .into_iter()
                .all(|(one, other)| one.abs_diff(other) <= 1);
            assert!(alike, "{name}: {rank} to {peer}");
            assert_eq!(sent.count(), received.count(), "{name}: {rank} to {peer}");
        }
    }
}

#[test]
fn closed_formulas() {
    let of_bytes = |bytes: f64| 2.0 * 200.0 + 1000.0 + (bytes - 1.0) * 0.5;
    let (ranks, rounds, kib) = (16, 4.0, 1024.0);
    let whole = setting(ranks, 1024);
    for name in ["binomial", "bine"] {
        assert_eq!(ns(Collective::Bcast, whole, name), rounds * of_bytes(kib));
        let reduced = rounds * (of_bytes(kib) + 256.0);
        assert_eq!(ns(Collective::Reduce, whole, name), reduced);
    }
    for name in ["dissemination", "recursive_doubling"] {
        assert_eq!(
            ns(Collective::Barrier, whole, name),
            rounds * (of_bytes(1.0))
        );
    }
    assert_eq!(
        ns(Collective::Allreduce, whole, "recursive_doubling"),
        rounds * (of_bytes(kib) + 256.0)
    );
    // Halved in each round: 512, 256, 128, 64 bytes and back.
    let moved = [512.0, 256.0, 128.0, 64.0];
    let halving: f64 = moved
        .map(|bytes| of_bytes(bytes) + bytes / 4.0)
        .iter()
        .sum();
    let doubling: f64 = moved.map(of_bytes).iter().sum();
    for name in ["rabenseifner", "bine", "circulant"] {
        assert_eq!(
            ns(Collective::Allreduce, whole, name),
            halving + doubling,
            "{name}"
        );
    }
    for name in ["recursive_halving", "bine", "circulant"] {
        assert_eq!(
            ns(Collective::ReduceScatter, whole, name),
            halving,
            "{name}"
        );
    }
    let ring = 15.0 * (of_bytes(64.0) + 16.0) + 15.0 * of_bytes(64.0);
    assert_eq!(ns(Collective::Allreduce, whole, "ring"), ring);
    let block = setting(ranks, 64);
    assert_eq!(
        ns(Collective::Allgather, block, "ring"),
        15.0 * of_bytes(64.0)
    );
    for name in ["recursive_doubling", "bruck", "bine", "circulant"] {
        assert_eq!(ns(Collective::Allgather, block, name), doubling, "{name}");
    }
    assert_eq!(
        ns(Collective::Alltoall, block, "bruck"),
        rounds * of_bytes(512.0)
    );
    assert_eq!(
        ns(Collective::Alltoall, block, "pairwise"),
        15.0 * of_bytes(64.0)
    );
    // The largest subtrees' blocks go first: 8, 4, 2 and 1 of them.
    assert_eq!(ns(Collective::Scatter, block, "binomial"), doubling);
}

#[test]
fn circulant_graphs_need_a_round_for_each_block_and_a_logarithm() {
    let free = Network {
        latency_ns: 1000.0,
        overhead_ns: 0.0,
        gap_ns: 0.0,
        gap_byte_ns: 1.0,
        ..NETWORK
    };
    let machine = Machine {
        between: free,
        ..MACHINE
    };
    for (ranks, further) in [(2, 0), (9, 3), (16, 3), (17, 4)] {
        assert_eq!(circulant::distances(ranks).len(), further + 1);
        let setting = Setting::new(ranks, 1 << 16, &machine, 0.0);
        let count = pipelined::best_blocks(setting, further, 0.0) as f64;
        let expected = (count + further as f64) * (1000.0 + 65536.0 / count - 1.0);
        let competitor = find(Collective::Bcast, setting, "circulant");
        assert_eq!(ns_of(&competitor, free), expected);
        assert!((ranks == 2) == (count == 1.0), "{count}");
    }
}

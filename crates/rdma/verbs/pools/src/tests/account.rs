//! The paper's formulas and figures, and accounts against jobs whose queues are made one by one.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::strategies::checked_pools;
use crate::{Account, Job, PoolKind, Pools, Reach};

fn alike(nodes: u64, ranks_a_node: u64) -> Job {
    Job {
        nodes,
        ranks_a_node,
        nodes_without_xrc: 0,
    }
}

/// So many pools of one kind.
fn pools(kind: PoolKind, count: u64) -> Pools {
    let letter = kind.letter();
    let each: Vec<String> = (1..=count).map(|i| format!("{letter},{i}k,8")).collect();
    each.join(":").parse().unwrap()
}

fn queue_pairs(kind: PoolKind, pool_count: u64, job: Job) -> u64 {
    Account::of_node(&pools(kind, pool_count), &job, true).queue_pairs()
}

#[test]
fn the_formulas_of_the_paper() {
    for nodes in [1, 2, 3, 4, 32, 1024] {
        for ranks in [1, 2, 8, 16] {
            for count in [1, 2, 4, 8] {
                let job = alike(nodes, ranks);
                let shared = ranks * ranks * count * (nodes - 1);
                assert_eq!(queue_pairs(PoolKind::Shared, count, job), shared);
                assert_eq!(
                    queue_pairs(PoolKind::Xrc, count, job),
                    ranks * 2 * (nodes - 1)
                );
            }
        }
    }
}

/// Peaks of Figures 5 and 6 with a page of 4 KiB a queue pair: 256 MB against 64, 2 GB against 64 MB.
#[test]
fn the_figures_of_the_paper() {
    let job = alike(1024, 8);
    let mib = |kind, count| (queue_pairs(kind, count, job) * 4096) as f64 / f64::from(1 << 20);
    assert_eq!(mib(PoolKind::Shared, 1), 255.75);
    assert_eq!(mib(PoolKind::Xrc, 1), 63.9375);
    assert_eq!(mib(PoolKind::Shared, 8), 2046.0);
    assert_eq!(mib(PoolKind::Xrc, 8), 63.9375);
}

#[test]
fn queues_and_buffers_of_a_node() {
    let pools: Pools = "P,128,64,32,16:S,2k,256:X,2k,512:X,16k,64".parse().unwrap();
    let account = Account::of_node(&pools, &alike(4, 2), true);
    assert_eq!(account.connected_queue_pairs, 4 * 3);
    assert_eq!(
        (account.send_queue_pairs, account.receive_queue_pairs),
        (6, 6)
    );
    assert_eq!(account.shared_receive_queues, 4);
    // 64 and 4 for credits, to each of the 6 peers of each process.
    assert_eq!(account.buffers, 2 * 6 * 68 + 2 * 512 + 2 * 64);
    let bytes = 2 * 6 * 68 * 128 + 2 * (512 << 11) + 2 * (64 << 14);
    assert_eq!(account.buffer_bytes, bytes);
}

#[test]
fn numbers_without_end_end() {
    let pools: Pools = "P,16M,32768".parse().unwrap();
    let job = alike(u64::MAX, u64::MAX);
    let account = Account::of_node(&pools, &job, true);
    assert_eq!(account.buffer_bytes, u64::MAX);
}

/// Every queue of node 0 by its name, made as the processes would make it.
#[derive(Default)]
struct Node {
    connected: BTreeSet<(u64, u64, usize)>,
    send: BTreeSet<(u64, u64)>,
    receive: BTreeSet<u64>,
    shared: BTreeSet<(u64, usize, bool)>,
    per_peer: Vec<usize>,
}

fn connect(pools: &Pools, job: &Job, has_xrc: bool) -> Node {
    let mut node = Node::default();
    for process in 0..job.ranks_a_node {
        for other in 1..job.nodes {
            // The last ones are without.
            let without = job.nodes_without_xrc - u64::from(!has_xrc && job.nodes_without_xrc > 0);
            let is_over_xrc = has_xrc && other < job.nodes - without.min(job.nodes - 1);
            let reach = if is_over_xrc {
                Reach::Xrc
            } else {
                Reach::Connected
            };
            for peer in 0..job.ranks_a_node {
                let peer = other * 1000 + peer;
                for chosen in pools.toward(reach).pools() {
                    match chosen.kind {
                        PoolKind::PerPeer => {
                            node.connected.insert((process, peer, chosen.pool));
                            node.per_peer.push(chosen.pool);
                        }
                        PoolKind::Shared => {
                            node.connected.insert((process, peer, chosen.pool));
                            node.shared.insert((process, chosen.pool, false));
                        }
                        PoolKind::Xrc => {
                            node.send.insert((process, other));
                            node.receive.insert(peer);
                            node.shared.insert((process, chosen.pool, true));
                        }
                    }
                }
            }
        }
    }
    node
}

proptest! {
    #[test]
    fn an_account_is_what_a_job_makes(
        pools in checked_pools(),
        nodes in 1u64..6,
        ranks_a_node in 1u64..5,
        without in 0u64..6,
        has_xrc in any::<bool>(),
    ) {
        let nodes_without_xrc = without.min(nodes);
        let job = Job { nodes, ranks_a_node, nodes_without_xrc };
        let account = Account::of_node(&pools, &job, has_xrc);
        let node = connect(&pools, &job, has_xrc);
        prop_assert_eq!(account.connected_queue_pairs, node.connected.len() as u64);
        prop_assert_eq!(account.send_queue_pairs, node.send.len() as u64);
        prop_assert_eq!(account.receive_queue_pairs, node.receive.len() as u64);
        prop_assert_eq!(account.shared_receive_queues, node.shared.len() as u64);
        let bytes = |pool: usize| pools.all()[pool].buffer_bytes();
        let shared = node.shared.iter().map(|&(_, pool, _)| bytes(pool));
        let per_peer = node.per_peer.iter().map(|&pool| bytes(pool));
        prop_assert_eq!(account.buffer_bytes, shared.chain(per_peer).sum::<u64>());
    }
}

//! What receive pools take of a node, counted: no device is asked.

use std::collections::BTreeSet;

use crate::{PoolKind, Pools, Reach};

/// A job in which every process talks to every process of the other nodes; within a node no queue pair is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    pub nodes: u64,
    /// The paper's PPN.
    pub ranks_a_node: u64,
    /// Those of the nodes whose adapter has no XRC.
    pub nodes_without_xrc: u64,
}

/// What the processes of one node take together. Numbers that no machine could hold end at [`u64::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Each for one peer and one pool of kind P or S: PPN² · (N − 1) for each such pool.
    pub connected_queue_pairs: u64,
    /// XRC: one of each process to each other node, PPN · (N − 1), whatever the number of pools.
    pub send_queue_pairs: u64,
    /// XRC: one for each process of other nodes, as many.
    pub receive_queue_pairs: u64,
    pub shared_receive_queues: u64,
    /// Receive buffers, those for credits included.
    pub buffers: u64,
    pub buffer_bytes: u64,
}

impl Account {
    /// Of a node of the job, whose adapter has XRC or not.
    pub fn of_node(pools: &Pools, job: &Job, has_xrc: bool) -> Account {
        let others = job.nodes.saturating_sub(1);
        let over_xrc = match has_xrc {
            true => others.saturating_sub(job.nodes_without_xrc),
            false => 0,
        };
        let mut account = Account::default();
        let mut queues = BTreeSet::new();
        account.add_peers(pools, job, (Reach::Xrc, over_xrc), &mut queues);
        let connected = others - over_xrc;
        account.add_peers(pools, job, (Reach::Connected, connected), &mut queues);
        for &(pool, _) in &queues {
            account.add_buffers(pools, pool, job.ranks_a_node);
        }
        account.shared_receive_queues = job.ranks_a_node.saturating_mul(queues.len() as u64);
        account
    }

    /// The peers on so many nodes. The shared receive queues that each process needs for them are put into `queues`, as the place of
    /// the pool and whether the queue is for XRC.
    fn add_peers(
        &mut self,
        pools: &Pools,
        job: &Job,
        (reach, nodes): (Reach, u64),
        queues: &mut BTreeSet<(usize, bool)>,
    ) {
        if nodes == 0 {
            return;
        }
        let ways = job.ranks_a_node.saturating_mul(nodes);
        let pairs = job.ranks_a_node.saturating_mul(ways);
        let mut is_over_xrc = false;
        for chosen in pools.toward(reach).pools() {
            match chosen.kind {
                PoolKind::PerPeer => self.add_buffers(pools, chosen.pool, pairs),
                PoolKind::Shared | PoolKind::Xrc => {
                    queues.insert((chosen.pool, chosen.kind == PoolKind::Xrc));
                }
            }
            match chosen.kind {
                PoolKind::PerPeer | PoolKind::Shared => add(&mut self.connected_queue_pairs, pairs),
                PoolKind::Xrc => is_over_xrc = true,
            }
        }
        if is_over_xrc {
            add(&mut self.send_queue_pairs, ways);
            add(&mut self.receive_queue_pairs, ways);
        }
    }

    fn add_buffers(&mut self, pools: &Pools, pool: usize, queues: u64) {
        let pool = &pools.all()[pool];
        let buffers = u64::from(pool.count + pool.reserve());
        add(&mut self.buffers, queues.saturating_mul(buffers));
        add(
            &mut self.buffer_bytes,
            queues.saturating_mul(pool.buffer_bytes()),
        );
    }

    pub fn queue_pairs(&self) -> u64 {
        self.connected_queue_pairs
            .saturating_add(self.send_queue_pairs)
            .saturating_add(self.receive_queue_pairs)
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

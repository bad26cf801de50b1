//! The sizes of a job that are shown, and their accounts.

use weft_pools::{Account, Job, PoolKind, Pools};

/// The accounts of one size of the job.
pub struct Row {
    pub nodes: u64,
    pub ranks: u64,
    /// As specified, all shared, all over XRC.
    pub accounts: [Account; 3],
}

/// What is to be shown of a job.
pub struct Question<'a> {
    pub pools: &'a Pools,
    pub ranks: u64,
    pub ppn: u64,
    pub queue_pair_bytes: u64,
}

impl Question<'_> {
    fn nodes(&self) -> u64 {
        self.ranks.div_ceil(self.ppn)
    }

    /// The powers of two below the job's nodes, from 2 on, and these.
    pub fn sizes(&self) -> Vec<u64> {
        let powers = std::iter::successors(Some(2u64), |size| Some(2 * size));
        let below = powers.take_while(|size| *size < self.nodes());
        below.chain([self.nodes()]).collect()
    }

    pub fn rows(&self) -> Vec<Row> {
        let kinds = [
            self.pools.clone(),
            self.pools.all_of(PoolKind::Shared),
            self.pools.all_of(PoolKind::Xrc),
        ];
        let row = |nodes: u64| Row {
            nodes,
            ranks: (nodes * self.ppn).min(self.ranks),
            accounts: kinds
                .each_ref()
                .map(|pools| account(pools, nodes, self.ppn)),
        };
        self.sizes().into_iter().map(row).collect()
    }
}

/// Of a node that is full.
pub fn account(pools: &Pools, nodes: u64, ranks_a_node: u64) -> Account {
    let job = Job {
        nodes,
        ranks_a_node,
        nodes_without_xrc: 0,
    };
    Account::of_node(pools, &job, true)
}

/// A number of bytes in MiB, with as many digits as it takes to tell small ones apart.
pub fn mebibytes(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    match mebibytes {
        _ if mebibytes < 10.0 => format!("{mebibytes:.2} MiB"),
        _ if mebibytes < 1000.0 => format!("{mebibytes:.1} MiB"),
        _ => format!("{mebibytes:.0} MiB"),
    }
}

//! What is asked for.

use std::path::PathBuf;

use clap::Args;
use weft_goal::Machine;
use weft_plan::{Collective, Shape};

use crate::bench::stats::parse_binary;
use crate::plan::network::{self, nanoseconds};

#[derive(Args, Debug)]
pub struct Options {
    /// barrier, bcast, reduce, allreduce, reduce_scatter, gather, scatter, allgather, alltoall or scan
    pub collective: Collective,
    /// Hosts; of one, each algorithm is simulated over shared memory
    #[arg(long, value_name = "N", default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..=1 << 17))]
    pub hosts: u32,
    /// Ranks on each host
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub ppn: u32,
    /// Lengths of the message, or of one block where each rank has one
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse_binary,
        default_value = "8,1K,64K,1M")]
    pub bytes: Vec<u64>,
    /// Write what the library does as GOAL; with several lengths, a file for each
    #[arg(long, value_name = "FILE")]
    pub goal: Option<PathBuf>,
    /// What combining a byte takes in a reduction
    #[arg(long, value_name = "NS", value_parser = nanoseconds, default_value_t = COMBINE_BYTE_NS)]
    pub combine: f64,
    /// With --hosts 1, the host's model: `this`, which is measured, one that is built in, or a file
    #[arg(long, value_name = "HOST", default_value = "this")]
    pub host: String,
    /// With --hosts 1, chooses where ranks that share a core are in their turns
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The same as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub network: network::Parameters,
}

/// Two operands read and one written at 10 GB/s each way, as a core of today does beyond its caches.
const COMBINE_BYTE_NS: f64 = 0.1;

impl Options {
    /// A barrier has none.
    pub fn lengths(&self) -> &[u64] {
        match self.collective {
            Collective::Barrier => &[0],
            _ => &self.bytes,
        }
    }

    pub fn shape(&self) -> Shape {
        Shape {
            hosts: self.hosts as usize,
            ranks_a_host: self.ppn as usize,
        }
    }

    pub fn machine(&self) -> Machine {
        self.network.machine(self.ppn)
    }

    /// The message of one host's ranks together, among the hosts.
    pub fn bytes_a_host(&self, bytes: u64) -> u64 {
        let ppn = u64::from(self.ppn);
        match self.collective {
            Collective::Alltoall => bytes * ppn * ppn,
            one if one.has_blocks() => bytes * ppn,
            _ => bytes,
        }
    }
}

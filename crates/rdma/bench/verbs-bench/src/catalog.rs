//! The benchmarks by name.

use crate::party::Failure;
use crate::report::Report;
use crate::rounds::Progress;
use crate::settings::Settings;
use crate::{categories, contexts, global_array, message_rate, sharing, stencil};

pub struct Benchmark {
    pub name: &'static str,
    pub about: &'static str,
    /// What it is measured over.
    pub axis: &'static str,
    run: fn(&Settings, &mut Progress) -> Result<Report, Failure>,
}

pub const ALL: [Benchmark; 6] = [
    Benchmark {
        name: "message-rate",
        about: "RDMA writes of threads that share nothing, with and without each feature",
        axis: "threads: 1,2,4,8,16",
        run: message_rate::run,
    },
    Benchmark {
        name: "sharing",
        about: "each resource shared by more and more threads: BUF, CTX, PD, MR, CQ, QP",
        axis: "threads on one: 1,2,4,8,16",
        run: sharing::run,
    },
    Benchmark {
        name: "categories",
        about: "the six categories beside each other: rates and resources",
        axis: "threads: 1,2,4,8,16",
        run: categories::run,
    },
    Benchmark {
        name: "global-array",
        about: "a distributed matrix product, tiles by RDMA reads and writes, in every category",
        axis: "threads: 16",
        run: global_array::run,
    },
    Benchmark {
        name: "stencil",
        about: "halos of a 5-point stencil between two nodes of ranks and threads, in every category",
        axis: "threads of a rank: 1,2,4,8,16",
        run: stencil::run,
    },
    Benchmark {
        name: "contexts",
        about: "one sender that drives several contexts in turn",
        axis: "contexts: 1,2,4,8",
        run: contexts::run,
    },
];

pub fn find(name: &str) -> Option<&'static Benchmark> {
    ALL.iter().find(|b| b.name == name)
}

impl Benchmark {
    pub fn run(&self, settings: &Settings, progress: &mut Progress) -> Result<Report, Failure> {
        (self.run)(settings, progress)
    }
}

//! The benchmarks by name.

use crate::device::Choice;
use crate::party::{Failure, Launcher};
use crate::pins::processors;
use crate::report::Report;
use crate::rounds::{Effort, Progress};
use crate::{categories, contexts, global_array, message_rate, sharing, stencil};
use weft_endpoint::Layout;

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

/// What a run may be told; what is empty is each benchmark's own.
#[derive(Clone, Debug)]
pub struct Settings {
    pub launcher: Launcher,
    pub device: Choice,
    pub effort: Effort,
    /// Whether threads may be pinned.
    pub may_pin: bool,
    pub points: Vec<usize>,
    /// Where the axis is not the threads.
    pub threads: Option<usize>,
    pub bytes: Option<usize>,
    pub depth: Option<usize>,
    /// Of the global array's matrices and tiles.
    pub order: Option<usize>,
    pub tile: Option<usize>,
}

impl Settings {
    pub fn points(&self, default: &[usize]) -> Vec<usize> {
        if self.points.is_empty() {
            default.to_vec()
        } else {
            self.points.clone()
        }
    }

    /// `layout` with the depth that was asked for.
    pub fn deep(&self, layout: Layout) -> Layout {
        Layout {
            depth: self.depth.unwrap_or(layout.depth),
            ..layout
        }
    }

    /// The processors that threads may be pinned to.
    pub fn processors(&self) -> Vec<usize> {
        if self.may_pin {
            processors()
        } else {
            Vec::new()
        }
    }
}

impl Benchmark {
    pub fn run(&self, settings: &Settings, progress: &mut Progress) -> Result<Report, Failure> {
        (self.run)(settings, progress)
    }
}

//! The six categories of Zambre 2018 §VI, from nothing shared to everything.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Layout, Level};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// A context for each thread: what ranks of one thread have.
    MpiEverywhere,
    /// One context; for each thread two thread domains with a UAR page each, of which it uses the first.
    #[serde(rename = "2xdynamic")]
    TwoXDynamic,
    /// One context; for each thread a thread domain with a UAR page.
    Dynamic,
    /// One context; for each thread a thread domain with a uUAR, so that two threads are on one UAR page.
    SharedDynamic,
    /// One context; for each thread a queue pair on a uUAR that the context has from the start.
    Static,
    /// One context with one queue pair, which all threads use.
    MpiThreads,
}

impl Category {
    pub const ALL: [Category; 6] = [
        Category::MpiEverywhere,
        Category::TwoXDynamic,
        Category::Dynamic,
        Category::SharedDynamic,
        Category::Static,
        Category::MpiThreads,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Category::MpiEverywhere => "mpi-everywhere",
            Category::TwoXDynamic => "2xdynamic",
            Category::Dynamic => "dynamic",
            Category::SharedDynamic => "shared-dynamic",
            Category::Static => "static",
            Category::MpiThreads => "mpi-threads",
        }
    }

    /// What `threads` threads of this category share, with one queue pair each and a completion queue for each queue pair. Regions and
    /// buffers are each thread's own: sharing them saves nothing of the adapter (§V-A, §V-D).
    pub fn layout(self, threads: usize) -> Layout {
        let one_context = Layout {
            context: threads,
            domain: threads,
            ..Layout::independent(threads)
        };
        match self {
            Category::MpiEverywhere => Layout {
                thread_domain: None,
                ..Layout::independent(threads)
            },
            Category::TwoXDynamic => Layout {
                is_doubled: true,
                ..one_context
            },
            Category::Dynamic => one_context,
            Category::SharedDynamic => Layout {
                thread_domain: Some(Level::Uuar),
                ..one_context
            },
            Category::Static => Layout {
                thread_domain: None,
                ..one_context
            },
            Category::MpiThreads => Layout {
                thread_domain: None,
                queue_pair: threads,
                completions: threads,
                ..one_context
            },
        }
    }

    /// Message rate with 16 threads in per cent of MPI everywhere, as the paper measured it (§VII, RDMA writes on ConnectX-4).
    pub fn measured_rate_percent(self) -> u32 {
        match self {
            Category::MpiEverywhere => 100,
            Category::TwoXDynamic => 108,
            Category::Dynamic => 94,
            Category::SharedDynamic => 65,
            Category::Static => 64,
            Category::MpiThreads => 3,
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Category {
    type Err = String;

    fn from_str(name: &str) -> Result<Category, String> {
        let found = Category::ALL.into_iter().find(|c| c.name() == name);
        found.ok_or_else(|| {
            let names = Category::ALL.map(Category::name).join(", ");
            format!("{name} is no category; there are {names}")
        })
    }
}

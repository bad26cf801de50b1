//! What `weft bench` is told on the command line.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use weft_endpoint::Category;

use super::core_latency::CoreLatency;
use super::library::{Peer, Pin};
use super::stats;
use super::tune::HostsLayout;

#[derive(Args, Debug)]
pub struct Options {
    /// Benchmarks to run, `list` to see them, `all` for all that compare MPI libraries, `endpoints` for all on verbs
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Libraries to compare with, set up by scripts/peers.sh
    #[arg(long, value_delimiter = ',', value_enum)]
    pub peers: Vec<Peer>,
    /// Our library over RDMA, once with each of these endpoint categories, in turns; without an adapter inside `weft softrdma run --`
    #[arg(long = "endpoints", value_delimiter = ',', value_name = "CATEGORY", conflicts_with_all = ["peers", "hosts", "tune"])]
    pub categories: Vec<Category>,
    /// Folder of the peers
    #[arg(long, value_name = "DIR")]
    pub peers_dir: Option<PathBuf>,
    /// Folder of compiled benchmarks: those that are there are run as they are, others are compiled to it [default: all are compiled]
    #[arg(long, value_name = "DIR")]
    pub programs: Option<PathBuf>,
    /// Compile to --programs, and measure nothing
    #[arg(long, requires = "programs", conflicts_with = "json")]
    pub compile_only: bool,
    /// Print everything measured as JSON instead of tables; with FILE, write it there, beside the tables
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub json: Option<Option<PathBuf>>,
    /// Write a plot; with several benchmarks, FILE-NAME.svg for each
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// With `file` and `file-patterns`: where their file is [default: the folder of compiled benchmarks]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Numbers of ranks, for benchmarks measured over ranks (startup, collectives); one number for collective-sizes, patterns and file
    #[arg(long, value_delimiter = ',', value_parser = stats::parse_binary)]
    pub ranks: Vec<u64>,
    /// Where ranks run; auto: each on a core of its own while there are enough, but `patterns` as each library does by default
    #[arg(long, value_enum, default_value = "auto")]
    pub pin: Pin,
    /// Only runs during which a word goes from core to core in so many ns, half a round trip, such as 0-100; others are repeated. For virtual machines whose processors move
    #[arg(long, value_name = "FROM-TO")]
    pub core_latency: Option<CoreLatency>,
    /// Points to measure: sizes in bytes, requests, threads, or whatever the benchmark's axis is
    #[arg(long, value_delimiter = ',', value_parser = stats::parse_binary)]
    pub sizes: Vec<u64>,
    /// Leave out points above this
    #[arg(long, value_name = "N", value_parser = stats::parse_binary)]
    pub max: Option<u64>,
    /// How often every library or variant has its turn [default: 5 for MPI, 3 on verbs]
    #[arg(long, value_name = "R")]
    pub rounds: Option<usize>,
    /// Begin no further round after so many seconds
    #[arg(long, value_name = "S")]
    pub within: Option<f64>,
    /// Seconds to spend on a point, in place of each benchmark's own
    #[arg(long, value_name = "S")]
    pub seconds: Option<f64>,
    /// Seconds after which a library is stopped at a point
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    pub limit: f64,
    /// With `collectives`: measure each by every algorithm, beside what the library chooses by itself
    #[arg(long)]
    pub tune: bool,
    /// With `wire` (two of them) and --tune: measure between these hosts, which mpiexec reaches from here [default: this one; `wire`
    /// over its loopback interface]
    #[arg(long, value_delimiter = ',', value_name = "HOST")]
    pub hosts: Vec<String>,
    /// With --tune: ranks on this host, 1x4,1x16; with --hosts: how many of them, and ranks on each [default: 2x2,
    /// 4x2, 8x2 and so on, and all]
    #[arg(long, value_delimiter = ',', value_name = "HxR", requires = "tune")]
    pub layouts: Vec<HostsLayout>,
    #[command(flatten)]
    pub patterns: PatternOptions,
    #[command(flatten)]
    pub endpoints: VerbsOptions,
}

impl Options {
    /// JSON takes the place of tables.
    pub fn prints_json(&self) -> bool {
        matches!(self.json, Some(None))
    }

    /// Prints or writes everything measured, if that is asked for.
    pub fn deliver_json(&self, all: &Value) -> Result<(), String> {
        match &self.json {
            None => {}
            Some(None) => println!("{all:#}"),
            Some(Some(file)) => fs::write(file, format!("{all:#}\n"))
                .map_err(|e| format!("{}: {e}", file.display()))?,
        }
        Ok(())
    }
}

#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Of patterns")]
pub struct PatternOptions {
    /// Only these, by the names of the Intel MPI Benchmarks, in any case: PingPong,Exchange [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub operations: Vec<String>,
    /// Successive calls take turns through so many bytes of buffers [without it: through one buffer each way; without N: 64M]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "64M", value_parser = stats::parse_binary)]
    pub off_cache: Option<u64>,
    /// Buffers begin so many bytes behind the start of a page
    #[arg(long, value_name = "N", value_parser = stats::parse_binary)]
    pub offset: Option<u64>,
    /// One call a point, on a communicator and in buffers that were never used; without it a tenth as many calls warm up
    #[arg(long)]
    pub first_use: bool,
    /// The figure of a collective is that of a call and the barrier after it; without it calls alone are timed
    #[arg(long)]
    pub with_barrier: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "On verbs")]
pub struct VerbsOptions {
    /// The device, of the system's libibverbs unless it is a softrdma's [default: softrdma0]
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Another libibverbs than this installation's or the system's
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// Threads, for benchmarks measured over something else (sharing, stencil)
    #[arg(long, value_name = "N", value_parser = stats::parse_binary)]
    pub threads: Option<u64>,
    /// Payload of a message
    #[arg(long, value_name = "N", value_parser = stats::parse_binary)]
    pub bytes: Option<u64>,
    /// Requests that a queue pair has room for
    #[arg(long, value_name = "N", value_parser = stats::parse_binary)]
    pub depth: Option<u64>,
    /// Rows of the global array's matrices
    #[arg(long, value_name = "N", value_parser = stats::parse_binary)]
    pub order: Option<u64>,
    /// Rows of the global array's tiles
    #[arg(long, value_name = "N", value_parser = stats::parse_binary)]
    pub tile: Option<u64>,
}

//! What `weft bench` is told on the command line.

use std::path::PathBuf;

use clap::Args;

use super::library::{Peer, Pin};
use super::stats;

#[derive(Args, Debug)]
pub struct Options {
    /// Benchmarks to run, `list` to see them, `all` for all that compare MPI libraries, `endpoints` for all on verbs
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Libraries to compare with, set up by scripts/peers.sh
    #[arg(long, value_delimiter = ',', value_enum)]
    pub peers: Vec<Peer>,
    /// Folder of the peers
    #[arg(long, value_name = "DIR")]
    pub peers_dir: Option<PathBuf>,
    /// Print everything measured as JSON instead of tables
    #[arg(long)]
    pub json: bool,
    /// Write a plot; with several benchmarks, FILE-NAME.svg for each
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Numbers of ranks, for benchmarks measured over ranks (startup, collectives); one number for collective-sizes
    #[arg(long, value_delimiter = ',', value_parser = stats::parse_binary)]
    pub ranks: Vec<u64>,
    /// With `wire`: the two hosts between which it measures, by mpiexec [default: this one, over its loopback interface]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub hosts: Vec<String>,
    /// Where ranks run
    #[arg(long, value_enum, default_value = "auto")]
    pub pin: Pin,
    /// Points to measure: sizes in bytes, requests, threads, or whatever the benchmark's axis is
    #[arg(long, value_delimiter = ',', value_parser = stats::parse_binary)]
    pub sizes: Vec<u64>,
    /// Leave out points above this
    #[arg(long, value_name = "N", value_parser = stats::parse_binary)]
    pub max: Option<u64>,
    /// How often every library or variant has its turn [default: 5 for MPI, 3 on verbs]
    #[arg(long, value_name = "R")]
    pub rounds: Option<usize>,
    /// Seconds to spend on a point, in place of each benchmark's own
    #[arg(long, value_name = "S")]
    pub seconds: Option<f64>,
    /// Seconds after which a library is stopped at a point
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    pub limit: f64,
    /// With `collectives`: measure each by every algorithm, beside what the library chooses by itself
    #[arg(long)]
    pub tune: bool,
    #[command(flatten)]
    pub endpoints: VerbsOptions,
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

//! What `weft tune` is told on the command line.

use std::path::PathBuf;

use clap::Args;

use crate::bench::stats;

#[derive(Args)]
pub struct Options {
    /// Numbers of ranks to measure [default: 2, 4 and so on up to the number of cores, that number, and twice as many]
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub ranks: Vec<u32>,
    /// Lengths of messages or blocks to measure
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = stats::parse_binary,
        default_value = "8,64,512,4K,16K,64K,256K,1M")]
    pub sizes: Vec<u64>,
    /// How often each number of ranks has its turn
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Seconds for each algorithm at each length in a round
    #[arg(long, value_name = "S", default_value_t = 0.02)]
    pub seconds: f64,
    /// Folder of compiled benchmarks, as of `weft bench` [default: they are compiled]
    #[arg(long, value_name = "DIR")]
    pub programs: Option<PathBuf>,
    /// Measure nothing: read tables that `weft bench collectives --tune` printed on this machine
    #[arg(long, value_name = "TABLE", num_args = 1.., conflicts_with_all = ["ranks", "programs"])]
    pub from: Vec<PathBuf>,
    /// With --from: the cores of ranks that had one each were near each other (`weft info --host` tells)
    #[arg(long, requires = "from")]
    pub near: bool,
    /// Begin the search at prices of no machine's, not at those that are built in
    #[arg(long)]
    pub plain: bool,
    /// Write the prices there, for WEFT_PRICES or `mpiexec --prices` [default: where the library looks for this user's]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write nothing: print the prices behind the table
    #[arg(long, conflicts_with = "output")]
    pub dry_run: bool,
}

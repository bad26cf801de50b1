//! `weft`: what this installation is and can do here, how fast it is beside others, and the RDMA device in software.

#![forbid(unsafe_code)]

mod bench;
mod info;
mod machine;
mod place;
mod softrdma;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "weft",
    version,
    about = "WeftMPI: information, benchmarks, RDMA in software",
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show this installation and what this machine lets it do
    Info,
    /// Measure this library, beside others if asked
    Bench(bench::Options),
    /// Run verbs programs on the RDMA device in software, and show what they use of it
    #[command(subcommand)]
    Softrdma(softrdma::Command),
    #[command(name = info::WAIT, hide = true)]
    ProbeWait,
    #[command(name = info::READ, hide = true)]
    ProbeRead { pid: i32 },
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Info => info::run(),
        Command::Bench(options) => bench::run(&options),
        Command::Softrdma(command) => softrdma::run(&command),
        Command::ProbeWait => info::probe_wait(),
        Command::ProbeRead { pid } => info::probe_read(pid),
    }
}

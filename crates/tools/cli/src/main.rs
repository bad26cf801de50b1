//! `weft`: what this installation is and can do here, how fast it is beside others, and the RDMA device in software.

#![forbid(unsafe_code)]

mod bench;
mod info;
mod installation;
mod launch;
mod machine;
mod output;
mod plan;
mod report;
mod softrdma;
mod tune;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Parser, Subcommand};
use signal_hook::consts::SIGPIPE;
use signal_hook::flag::register_conditional_shutdown;

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
    Info(info::Options),
    /// Become a program that was built with another MPI library, on this one: for other launchers than mpiexec
    Run(launch::Run),
    /// Print for a shell what has such programs find this library: eval $(weft env)
    Env(launch::Env),
    /// Measure this library, beside others if asked
    Bench(Box<bench::Options>),
    /// Measure this machine, and have the library choose its collectives' algorithms by that (docs/tuning.md)
    Tune(tune::Options),
    /// Show what `weft bench --json` has found as a page for a browser
    Report(report::Options),
    /// Show what scalable endpoints take of an adapter, without one; `plan job`: what a large job costs;
    /// `plan collective`: how long collectives take between many hosts; `plan goal`: how long a schedule does
    Plan(plan::Options),
    /// Run verbs programs on the RDMA device in software, and show what they use of it
    #[command(subcommand)]
    Softrdma(softrdma::Command),
    #[command(name = bench::PART, hide = true)]
    BenchPart,
    #[command(name = plan::job::process::COMMAND, hide = true)]
    PlanJobProcess { members: Vec<u32> },
    #[command(name = info::WAIT, hide = true)]
    ProbeWait,
    #[command(name = info::READ, hide = true)]
    ProbeRead { pid: i32 },
}

/// What a shell reports of a program that SIGPIPE ended.
const BROKEN_PIPE: i32 = 128 + SIGPIPE;

fn main() -> ExitCode {
    // `weft info | head`: the runtime ignores the signal, and the next line printed would be a panic.
    let always = Arc::new(AtomicBool::new(true));
    register_conditional_shutdown(SIGPIPE, BROKEN_PIPE, always).expect("SIGPIPE can be handled");
    match Arguments::parse().command {
        Command::Info(options) => info::run(&options),
        Command::Run(options) => launch::run(&options),
        Command::Env(options) => launch::env(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Tune(options) => tune::run(&options),
        Command::Report(options) => report::run(&options),
        Command::Plan(options) => plan::run(&options),
        Command::Softrdma(command) => softrdma::run(&command),
        Command::BenchPart => weft_verbs_bench::process::main(),
        Command::PlanJobProcess { members } => plan::job::process::run(&members),
        Command::ProbeWait => info::probe_wait(),
        Command::ProbeRead { pid } => info::probe_read(pid),
    }
}

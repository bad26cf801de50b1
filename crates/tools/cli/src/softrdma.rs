//! `weft softrdma`: other people's verbs programs on the RDMA device in software, and what they use of it.

mod failure;
mod launch;
mod report;
mod stat;
mod table;

use std::process::ExitCode;

use clap::Subcommand;

/// The device's library in an installation, and its first device.
pub const LIBRARY_PATH: &str = "lib/softrdma/libibverbs.so.1";
pub const DEVICE: &str = "softrdma0";

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a program that uses libibverbs on the device in software
    Run(Box<launch::Options>),
    /// Show what the programs of this user have of the device: UARs, queues, memory, doorbells, locks
    Stat(stat::Options),
}

pub fn run(command: &Command) -> ExitCode {
    let done = match command {
        Command::Run(options) => launch::run(options),
        Command::Stat(options) => stat::run(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("weft softrdma: {}", failure.text);
            ExitCode::from(failure.code)
        }
    }
}

//! `mpiexec`: starts the ranks of a job on this machine, serves them PMI-1, and sees to it that all of them end.

#![deny(unsafe_code)]

mod arguments;
mod binding;
mod environment;
mod message;
mod plan;
mod pmi;
mod program;
mod supervise;
#[allow(unsafe_code)]
mod sys;

use arguments::{Command, Job};
use plan::Plan;
use std::io::Write;
use std::process::ExitCode;

const USAGE_EXIT_CODE: u8 = 2;
const FAILURE_EXIT_CODE: u8 = 1;

fn main() -> ExitCode {
    let code = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Command::Help) => print(arguments::HELP),
        Ok(Command::Version) => print(concat!(
            "mpiexec (WeftMPI) ",
            env!("CARGO_PKG_VERSION"),
            "\n"
        )),
        Ok(Command::Run(job)) => run(&job),
        Err(usage) => complain(&usage, USAGE_EXIT_CODE),
    };
    ExitCode::from(code)
}

fn run(job: &Job) -> u8 {
    let plan = match Plan::new(job) {
        Ok(plan) => plan,
        Err(unusable) => return complain(&unusable.problem, unusable.exit_code),
    };
    if job.dry_run {
        return print(&plan.describe(true));
    }
    if job.report_bindings {
        message::say(plan.describe(false).trim_end());
    }
    supervise::run(job, &plan).unwrap_or_else(|problem| complain(&problem, FAILURE_EXIT_CODE))
}

/// Prints to standard output; a reader that has gone away is an ordinary end.
fn print(text: &str) -> u8 {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => 0,
        Err(_) => FAILURE_EXIT_CODE,
    }
}

/// Prints one line to standard error and answers the exit code.
fn complain(problem: &dyn std::fmt::Display, exit_code: u8) -> u8 {
    message::say(&format!("mpiexec: {problem}"));
    exit_code
}

//! `mpiexec`: starts the ranks of a job on this machine, serves them PMI-1, and sees to it that all of them end.

#![deny(unsafe_code)]

mod agent;
mod arguments;
mod assignment;
mod binding;
pub mod built_with;
mod environment;
mod head;
mod hindrance;
mod hosts;
mod layout;
mod message;
mod plan;
mod pmi;
mod program;
mod quote;
pub mod simulation;
mod source;
mod supervise;
#[allow(unsafe_code)]
mod sys;

use arguments::{Command, Job, Show, USAGE_EXIT_CODE};
use assignment::Orders;
use binding::Topology;
use hosts::Here;
use layout::Layout;
use plan::Plan;
use std::io::Write;
use std::process::ExitCode;
use supervise::Own;

const FAILURE_EXIT_CODE: u8 = 1;

/// The whole program.
pub fn main() -> ExitCode {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == agent::AGENT_OPTION)
    {
        let result = supervise::serve();
        return ExitCode::from(
            result.map_or_else(|problem| complain(&problem, FAILURE_EXIT_CODE), |()| 0),
        );
    }
    let code = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Command::Help) => print(arguments::HELP),
        Ok(Command::Version) => print(concat!(
            "mpiexec (WeftMPI) ",
            env!("CARGO_PKG_VERSION"),
            "\n"
        )),
        Ok(Command::Run(job)) => run(*job),
        Err(usage) => complain(&usage, USAGE_EXIT_CODE),
    };
    ExitCode::from(code)
}

fn run(mut job: Job) -> u8 {
    let topology = Topology::read(&sys::affinity());
    let per_host = job
        .options
        .binding
        .ranks_per_host(|object| topology.objects(object).len());
    job.hosts.per_host = per_host.or(job.hosts.per_host);
    let job = &job;
    let here = Here::new(sys::interface_addresses());
    let variable = |name: &str| std::env::var_os(name);
    let layout = match Layout::new(job, &here, &variable) {
        Ok(layout) => layout,
        Err(usage) => return complain(&usage, USAGE_EXIT_CODE),
    };
    let directory = match std::env::current_dir() {
        Ok(directory) => directory.into_os_string(),
        Err(error) => {
            let problem = format!("the working directory cannot be used: {error}");
            return complain(&problem, FAILURE_EXIT_CODE);
        }
    };
    let orders = Orders::new(job, &layout, directory);
    if job.options.verbose {
        job.notes
            .iter()
            .for_each(|note| message::say(&format!("mpiexec: {note}")));
    }
    show(job.show, &topology, &layout);
    match layout.is_here_alone() {
        true => run_here(job, &orders),
        false => run_on_hosts(job, &layout, &orders),
    }
}

/// Prints what the options ask for before anything starts.
fn show(show: Show, topology: &Topology, layout: &Layout) {
    if show.topology {
        message::say(topology.describe().trim_end());
    }
    if show.allocation {
        message::say(layout.describe().trim_end());
    }
}

fn run_here(job: &Job, orders: &Orders) -> u8 {
    let plan = match Plan::new(orders, orders.job_list.clone(), &vec![(0, orders.size)]) {
        Ok(plan) => plan,
        Err(unusable) => return complain(&unusable.problem, unusable.exit_code),
    };
    if job.dry_run {
        return print(&plan.describe(true));
    }
    if job.options.report_bindings || job.show.map {
        message::say(plan.describe(job.show.map).trim_end());
    }
    let own = Own {
        timeout: job.timeout,
        output_directory: job.output_directory.as_deref(),
    };
    supervise::run(orders, &plan, &own)
        .unwrap_or_else(|problem| complain(&problem, FAILURE_EXIT_CODE))
}

fn run_on_hosts(job: &Job, layout: &Layout, orders: &Orders) -> u8 {
    if job.dry_run {
        return print(&orders.describe(layout));
    }
    if job.show.map {
        message::say(orders.describe(layout).trim_end());
    }
    let own = Own {
        timeout: job.timeout,
        output_directory: job.output_directory.as_deref(),
    };
    head::run(job, layout, orders, &own)
        .unwrap_or_else(|problem| complain(&problem, FAILURE_EXIT_CODE))
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
    message::say(&message::clip(&format!("mpiexec: {problem}")));
    exit_code
}

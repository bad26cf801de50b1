//! The command line (MPI-5.0 §11.5).
//!
//! MPI's long options have one dash, so `-np` is one option and not two; either one or two dashes are taken. Options end at
//! the program, whose own arguments run to the next `:`.

mod file;
mod foreign;
mod hosts;
mod job;
mod options;
mod placement;
mod table;
mod usage;
mod values;
mod words;

pub use hosts::Launcher;
pub use job::{Application, Inherit, Job, JobOptions, Show, Stdin};
pub use options::Command;
pub use usage::{USAGE_EXIT_CODE, Usage};

use std::ffi::OsString;

pub const HELP: &str = include_str!("help.txt");

/// Reads the arguments after the program's own name.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, Usage> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut job = Job::default();
    for section in arguments.split(|argument| argument == ":") {
        let parsed = options::parse_section(&mut job, section)?;
        if let Some(command) = parsed {
            return Ok(command);
        }
    }
    job.check()?;
    Ok(Command::Run(Box::new(job)))
}

#[cfg(test)]
mod tests;

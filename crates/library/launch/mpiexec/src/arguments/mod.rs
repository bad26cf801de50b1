//! The command line (MPI-5.0 §11.5).
//!
//! MPI's long options have one dash, so `-np` is one option and not two; either one or two dashes are taken. Options end at
//! the program, whose own arguments run to the next `:`.

mod file;
mod options;

pub use options::{Application, Bind, Job, Stdin};

use std::ffi::OsString;
use std::fmt;

/// One line: what is wrong with the command line and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn usage<T>(text: impl Into<String>) -> Result<T, Usage> {
    Err(Usage(text.into()))
}

#[derive(Debug)]
pub enum Command {
    Run(Box<Job>),
    Help,
    Version,
}

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

//! A rank of a planned job: it starts, talks, and tells what memory that took.

use std::fs;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use weft_collective_calls as collective;
use weft_communicators::create::dup;
use weft_communicators::from_group::{self, CreationArguments};
use weft_handle::CommId;
use weft_lifetime::models;
use weft_objects::group::{self, Group};
use weft_objects::handler::Handler;
use weft_process::thread_level::ThreadLevel;

/// The hidden subcommand; its arguments are the ranks that are processes.
pub const COMMAND: &str = "plan-job-process";

/// A communicator's traffic is one lane's: so many have all of them.
const COMMUNICATORS: usize = 16;

/// Bytes that were added by the start, and by that and talking.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    pub started: u64,
    pub talked: u64,
}

impl Report {
    pub fn parse(line: &str) -> Option<Report> {
        let mut numbers = line.split_whitespace().map(|word| word.parse().ok());
        let report = Report {
            started: numbers.next()??,
            talked: numbers.next()??,
        };
        numbers.next().is_none().then_some(report)
    }
}

pub fn run(members: &[u32]) -> ExitCode {
    match report(members) {
        Ok(Report { started, talked }) => {
            println!("{started} {talked}");
            let _ = io::stdout().flush();
            // Others may still talk to this process. The launcher ends it, or is gone itself: then this ends.
            let _ = io::stdin().read(&mut [0]);
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("weft plan job: {why}");
            ExitCode::FAILURE
        }
    }
}

fn report(members: &[u32]) -> Result<Report, String> {
    let of_mpi = |error: weft_error::Error| error.to_string();
    let before = memory().map_err(|error| format!("/proc/self/smaps_rollup: {error}"))?;
    let added = || memory().map(|now| now.saturating_sub(before));
    models::initialize(ThreadLevel::Multiple).map_err(of_mpi)?;
    let started = added().map_err(|error| error.to_string())?;
    collective::prepare(CommId::WORLD).map_err(of_mpi)?;
    talk(members).map_err(of_mpi)?;
    let talked = added().map_err(|error| error.to_string())?;
    Ok(Report { started, talked })
}

/// Every process has messages from and for the others on every lane.
fn talk(members: &[u32]) -> weft_error::Result<()> {
    let group = group::register(Group::listed(members.to_vec()))?;
    let arguments = CreationArguments {
        string_tag: c"weft plan job",
        info: None,
        handler: Handler::Fatal,
    };
    let first = from_group::create(group, arguments)?.expect("the group is not empty");
    let mut communicators = vec![first];
    for _ in 1..COMMUNICATORS {
        communicators.push(dup(first, None)?);
    }
    for comm in communicators {
        collective::barrier(collective::Form::Blocking, comm)?.run()?;
    }
    Ok(())
}

/// What this process has written to: its own memory, and shared memory in proportion.
fn memory() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup")?;
    let kibibytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let sum = kibibytes("Pss_Anon:").zip(kibibytes("Pss_Shmem:"));
    let (own, shared) = sum.ok_or(io::ErrorKind::Unsupported)?;
    Ok((own + shared) << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_two_numbers() {
        let report = Report {
            started: 1,
            talked: 22,
        };
        assert_eq!(Report::parse("1 22\n"), Some(report));
        for text in ["", "1", "1 2 3", "a b"] {
            assert_eq!(Report::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn memory_that_is_written_counts() {
        let before = memory().unwrap();
        let block = vec![1u8; 8 << 20];
        assert!(memory().unwrap() >= before + (7 << 20), "{}", block.len());
    }
}

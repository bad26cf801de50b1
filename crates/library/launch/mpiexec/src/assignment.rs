//! What the agents of a job are told: the same for all hosts, but for the ranks of each.

use crate::arguments::{Application, Job, JobOptions};
use crate::environment;
use crate::hosts;
use crate::layout::Layout;
use crate::quote::quote;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// All that does not differ from host to host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Orders {
    /// This job's name, unlike any other's.
    pub job: String,
    /// The value of [`environment::JOB_VARIABLE`], to which agents add what they see to.
    pub job_list: OsString,
    pub size: u32,
    /// The value of `PMI_process_mapping`.
    pub mapping: String,
    /// Each with its number of ranks.
    pub applications: Vec<Application>,
    /// Set for every application, in order.
    pub environment: Vec<(OsString, OsString)>,
    /// What ranks inherit of mpiexec's environment.
    pub inherited: Vec<(OsString, OsString)>,
    /// Ranks inherit what is each host's own, too.
    pub inherits_all: bool,
    /// mpiexec's working directory.
    pub directory: OsString,
    pub options: JobOptions,
}

/// The ranks of one host: first rank and count of each unbroken run.
pub type Runs = Vec<(u32, u32)>;

impl Orders {
    /// `directory` is mpiexec's own.
    pub fn new(job: &Job, layout: &Layout, directory: OsString) -> Orders {
        let name = job_name();
        let mut applications = job.applications.clone();
        for (application, ranks) in applications.iter_mut().zip(&layout.ranks) {
            application.ranks = Some(*ranks);
        }
        Orders {
            job_list: environment::job_list(&name),
            job: name,
            size: layout.size(),
            mapping: hosts::process_mapping(&layout.host_of),
            applications,
            environment: job.environment.clone(),
            inherited: environment::inherited(&job.inherit),
            inherits_all: job.inherit == crate::arguments::Inherit::All,
            directory,
            options: job.options.clone(),
        }
    }

    /// What an agent sees to, by a name of its own: agents of several hosts may be on one machine, and each ends only its own
    /// ranks.
    pub fn job_on(&self, host: u32) -> String {
        format!("{}@{host}", self.job)
    }

    /// One line a rank: its host, and its program as it stands in the command line.
    pub fn describe(&self, layout: &Layout) -> String {
        let mut text = String::new();
        for (rank, host) in (0..).zip(&layout.host_of) {
            let application = &self.applications[self.application_of(rank)];
            let words = std::iter::once(&application.program).chain(&application.arguments);
            let words: Vec<OsString> = words.map(|word| quote(word)).collect();
            let host = &layout.hosts[*host as usize].name;
            let _ = writeln!(
                text,
                "rank {rank}: on {host}: {}",
                words.join(OsStr::new(" ")).to_string_lossy()
            );
        }
        text
    }

    /// Index of the application that a rank runs.
    pub fn application_of(&self, rank: u32) -> usize {
        let mut end = 0;
        let of = self.applications.iter().position(|application| {
            end += application.ranks.unwrap_or_default();
            rank < end
        });
        of.unwrap_or_default()
    }
}

fn job_name() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos());
    format!("weft-{}-{now:x}", std::process::id())
}

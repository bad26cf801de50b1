//! What the command line asks for.

use super::hosts::HostOptions;
use super::usage::{Usage, usage};
use crate::binding::Binding;
use crate::hosts::Host;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What to start and how.
#[derive(Debug, Default)]
pub struct Job {
    pub applications: Vec<Application>,
    /// Set for every application, in order.
    pub environment: Vec<(OsString, OsString)>,
    pub options: JobOptions,
    pub timeout: Option<Duration>,
    pub output_directory: Option<PathBuf>,
    pub show: Show,
    /// Options that change nothing, each in a line with the reason.
    pub notes: Vec<String>,
    pub dry_run: bool,
    pub inherit: Inherit,
    pub hosts: HostOptions,
}

/// Options that agents are told as the command line has them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct JobOptions {
    pub binding: Binding,
    pub report_bindings: bool,
    /// The death of a rank does not end the job.
    pub recovery: bool,
    pub stdin: Stdin,
    pub prefix_output: bool,
    /// Standard error goes where standard output does.
    pub merge_output: bool,
    pub verbose: bool,
}

/// Which variables of mpiexec's environment the ranks get.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Inherit {
    #[default]
    All,
    None,
    Listed(Vec<OsString>),
}

/// One program of an MPMD job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Application {
    /// `None` where the command line does not say.
    pub ranks: Option<u32>,
    #[serde(skip)]
    pub hosts: Option<Vec<Host>>,
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub directory: Option<OsString>,
    /// Directories to look for the program in before `PATH`.
    pub path: Option<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    /// Options that `MPI_INFO_ENV` tells as they were given (MPI-5.0 §11.2.1).
    pub info: Vec<(String, OsString)>,
}

/// What is printed before the job starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Show {
    /// Each rank's place and program.
    pub map: bool,
    /// Each host's ranks.
    pub allocation: bool,
    /// This host's cores.
    pub topology: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stdin {
    Rank(u32),
    All,
    None,
}

impl Default for Stdin {
    fn default() -> Stdin {
        Stdin::Rank(0)
    }
}

impl Job {
    /// What only the whole command line shows.
    pub fn check(&self) -> Result<(), Usage> {
        if self.options.prefix_output && self.output_directory.is_some() {
            return usage(
                "--prefix-output and --output-dir exclude each other: files hold the output of one rank each",
            );
        }
        self.options.binding.check().map_err(Usage)
    }
}

/// The options and program between two `:`.
#[derive(Default)]
pub struct Section {
    pub ranks: Option<u32>,
    pub hosts: Option<Vec<Host>>,
    pub directory: Option<OsString>,
    pub path: Option<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    /// See [`Application::info`].
    pub info: Vec<(String, OsString)>,
    pub configured: bool,
}

//! What a host's ranks come to on that host: decided in full before any of them starts.

use crate::arguments;
use crate::assignment::{Orders, Runs};
use crate::binding::{self, Shares, Topology};
use crate::built_with;
use crate::environment::{self, JOB_VARIABLE};
use crate::program::{self, Unusable};
use crate::quote::quote;
use crate::sys;
use std::collections::BTreeSet;
use std::ffi::{CString, OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub struct Plan {
    pub applications: Vec<Application>,
    /// The ranks of this host, ascending.
    pub ranks: Vec<Rank>,
}

pub struct Application {
    pub program: CString,
    /// The program's name as given, then its arguments.
    pub arguments: Vec<CString>,
    pub environment: Vec<CString>,
    /// To change to; `None` stays in mpiexec's.
    pub directory: Option<CString>,
}

pub struct Rank {
    /// In `MPI_COMM_WORLD`.
    pub number: u32,
    /// Index of the application.
    pub application: usize,
    pub cpus: Cpus,
}

pub enum Cpus {
    Bound(Vec<u32>),
    /// mpiexec's own, because of this.
    Free(&'static str),
}

impl Cpus {
    pub fn bound(&self) -> Option<&[u32]> {
        match self {
            Cpus::Bound(cpus) => Some(cpus),
            Cpus::Free(_) => None,
        }
    }
}

impl Plan {
    /// `job_list` is the value of [`JOB_VARIABLE`].
    pub fn new(orders: &Orders, job_list: OsString, runs: &Runs) -> Result<Plan, Unusable> {
        // Counts what the affinity mask and the control group's quota allow.
        let cpus_allowed =
            std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let numbers = runs.iter().flat_map(|&(first, count)| first..first + count);
        let local_size = runs.iter().map(|(_, count)| count).sum();
        let topology = Topology::read(&sys::affinity());
        let shares = binding::assign(&orders.options.binding, local_size, &topology, cpus_allowed);
        let shares = shares.map_err(impossible)?;
        let cores = cpus_allowed.min(cpus_of_all(&shares));
        let mut own = environment::of_host(cores);
        own.push((JOB_VARIABLE.into(), job_list));
        let applications = orders
            .applications
            .iter()
            .map(|application| plan_application(application, orders, &own))
            .collect::<Result<Vec<Application>, Unusable>>()?;
        let mut cpus = shares.map(Vec::into_iter);
        let ranks = numbers.map(|number| Rank {
            number,
            application: orders.application_of(number),
            cpus: match &mut cpus {
                Ok(shares) => Cpus::Bound(shares.next().unwrap_or_default()),
                Err(reason) => Cpus::Free(reason),
            },
        });
        Ok(Plan {
            applications,
            ranks: ranks.collect(),
        })
    }

    /// For a host whose ranks cannot be started.
    pub fn none() -> Plan {
        Plan {
            applications: Vec::new(),
            ranks: Vec::new(),
        }
    }

    /// The ranks of this host.
    pub fn local_size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// One line a rank: where it runs, and for a dry run what.
    pub fn describe(&self, with_commands: bool) -> String {
        let mut text = String::new();
        for rank in &self.ranks {
            let cpus = match &rank.cpus {
                Cpus::Bound(cpus) => format!("bound to CPUs {}", binding::show_runs(cpus)),
                Cpus::Free(reason) => {
                    format!(
                        "not bound ({reason}), CPUs {}",
                        binding::show_runs(&sys::affinity())
                    )
                }
            };
            let _ = write!(text, "rank {}: {cpus}", rank.number);
            if with_commands {
                text.push_str(&self.applications[rank.application].describe());
            }
            text.push('\n');
        }
        text
    }
}

impl Application {
    fn describe(&self) -> String {
        let mut text = String::new();
        if let Some(directory) = &self.directory {
            let _ = write!(text, ", in {}", directory.to_string_lossy());
        }
        let _ = write!(text, ": {}", self.program.to_string_lossy());
        for argument in &self.arguments[1..] {
            let _ = write!(
                text,
                " {}",
                quote(OsStr::from_bytes(argument.to_bytes())).display()
            );
        }
        text
    }
}

/// How many CPUs ranks are bound to between them.
fn cpus_of_all(shares: &Shares) -> u32 {
    match shares {
        Ok(shares) => shares.iter().flatten().collect::<BTreeSet<_>>().len() as u32,
        Err(_) => u32::MAX,
    }
}

/// Options ask for CPUs that are not here.
fn impossible(problem: String) -> Unusable {
    Unusable {
        problem,
        exit_code: arguments::USAGE_EXIT_CODE,
    }
}

fn plan_application(
    application: &arguments::Application,
    orders: &Orders,
    own: &[(OsString, OsString)],
) -> Result<Application, Unusable> {
    let unusable = |problem| Unusable {
        problem,
        exit_code: 1,
    };
    let here = Path::new(&orders.directory);
    let directory = application
        .directory
        .as_ref()
        .map(|directory| here.join(directory));
    if let Some(directory) = directory.as_ref().filter(|directory| !directory.is_dir()) {
        return Err(unusable(format!(
            "-wdir: there is no directory {}",
            directory.display()
        )));
    }
    let mut inherited = orders.inherited.clone();
    if orders.inherits_all {
        inherited.extend(environment::of_this_host());
    }
    let settings = || orders.environment.iter().chain(&application.environment);
    let value = |wanted: &str| {
        let mut variables = settings().rev().chain(inherited.iter());
        let found = variables.find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.clone())
    };
    let program = program::find(
        &application.program,
        directory.as_deref().unwrap_or(here),
        application.path.as_deref(),
        value("PATH").or_else(|| std::env::var_os("PATH")),
    )?;
    let libraries = built_with::libraries(&program, value)
        .map_err(|why| unusable(format!("`{}` {why}", application.program.display())))?;
    let c_string = |bytes: Vec<u8>| {
        CString::new(bytes).map_err(|_| unusable("an argument holds a zero byte".into()))
    };
    let words = std::iter::once(&application.program).chain(&application.arguments);
    let ranks = application.ranks.unwrap_or_default();
    let marks = [
        (
            environment::OPTIONS_VARIABLE.into(),
            environment::from_options(settings()),
        ),
        (
            environment::PROGRAM_VARIABLE.into(),
            environment::of_program(ranks, &application.info),
        ),
    ];
    let all = settings().chain(own).chain(&marks).chain(&libraries);
    Ok(Application {
        program: c_string(program.into_os_string().into_vec())?,
        arguments: words
            .map(|word| c_string(word.as_bytes().to_vec()))
            .collect::<Result<_, Unusable>>()?,
        environment: environment::of_application(inherited, all),
        directory: directory
            .map(PathBuf::into_os_string)
            .map(OsString::into_vec)
            .map(c_string)
            .transpose()?,
    })
}

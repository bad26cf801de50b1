//! What the command line comes to on this machine: decided in full before anything starts.

use crate::arguments::{Bind, Job};
use crate::environment::{self, CORES_VARIABLE, JOB_VARIABLE};
use crate::program::{self, Unusable};
use crate::{binding, sys};
use std::ffi::{CString, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub struct Plan {
    /// This job's name, unlike any other's on this machine.
    pub job: String,
    pub applications: Vec<Application>,
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
    /// Index of the application.
    pub application: usize,
    /// CPUs it is bound to.
    pub cpus: Option<Vec<u32>>,
}

impl Plan {
    pub fn new(job: &Job) -> Result<Plan, Unusable> {
        let here = std::env::current_dir().map_err(|error| Unusable {
            problem: format!("the working directory cannot be used: {error}"),
            exit_code: 1,
        })?;
        let name = job_name();
        // Counts what the affinity mask and the control group's quota allow.
        let cpus_allowed =
            std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let own = [
            (JOB_VARIABLE.into(), environment::job_list(&name)),
            (CORES_VARIABLE.into(), cpus_allowed.to_string().into()),
        ];
        let applications = job
            .applications
            .iter()
            .map(|application| plan_application(application, job, &own, &here))
            .collect::<Result<Vec<Application>, Unusable>>()?;
        let mut cpus = assign_cpus(job, cpus_allowed).map(Vec::into_iter);
        let application_of = job.applications.iter().enumerate();
        let application_of =
            application_of.flat_map(|(index, app)| std::iter::repeat_n(index, app.ranks as usize));
        let ranks = application_of
            .map(|application| Rank {
                application,
                cpus: cpus.as_mut().and_then(Iterator::next),
            })
            .collect();
        Ok(Plan {
            job: name,
            applications,
            ranks,
        })
    }

    pub fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// One line a rank: where it runs, and for a dry run what.
    pub fn describe(&self, with_commands: bool) -> String {
        let mut text = String::new();
        for (number, rank) in self.ranks.iter().enumerate() {
            let cpus = match &rank.cpus {
                Some(cpus) => format!("bound to CPUs {}", binding::show_cpus(cpus)),
                None => format!("not bound, CPUs {}", binding::show_cpus(&sys::affinity())),
            };
            let _ = write!(text, "rank {number}: {cpus}");
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
            let _ = write!(text, " {}", quote(&argument.to_string_lossy()));
        }
        text
    }
}

/// As a shell would need it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn job_name() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos());
    format!("weft-{}-{now:x}", std::process::id())
}

fn assign_cpus(job: &Job, cpus_allowed: u32) -> Option<Vec<Vec<u32>>> {
    // A quota below the mask makes binding harmful: the CPUs left out may be the idle ones.
    if job.bind == Bind::None || (job.bind == Bind::Auto && job.size() > cpus_allowed) {
        return None;
    }
    binding::assign(job.bind, job.size(), &binding::cores(&sys::affinity()))
}

fn plan_application(
    application: &crate::arguments::Application,
    job: &Job,
    own: &[(OsString, OsString)],
    here: &Path,
) -> Result<Application, Unusable> {
    let unusable = |problem| Unusable {
        problem,
        exit_code: 1,
    };
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
    let environment = || job.environment.iter().chain(&application.environment);
    let path = environment()
        .rev()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value.clone());
    let program = program::find(
        &application.program,
        directory.as_deref().unwrap_or(here),
        application.path.as_deref(),
        path.or_else(|| std::env::var_os("PATH")),
    )?;
    let c_string = |bytes: Vec<u8>| {
        CString::new(bytes).map_err(|_| unusable("an argument holds a zero byte".into()))
    };
    let words = std::iter::once(&application.program).chain(&application.arguments);
    Ok(Application {
        program: c_string(program.into_os_string().into_vec())?,
        arguments: words
            .map(|word| c_string(word.as_bytes().to_vec()))
            .collect::<Result<_, Unusable>>()?,
        environment: environment::of_application(environment().chain(own)),
        directory: directory
            .map(PathBuf::into_os_string)
            .map(OsString::into_vec)
            .map(c_string)
            .transpose()?,
    })
}

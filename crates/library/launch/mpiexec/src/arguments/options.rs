//! What the options mean, one table for all.

use super::file;
use super::foreign::{self, Foreign};
use super::hosts::{HostOptions, Launcher};
use super::usage::{Usage, usage};
use crate::hosts::{self, Host, Order};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to start and how.
#[derive(Debug, Default)]
pub struct Job {
    pub applications: Vec<Application>,
    /// Set for every application, in order.
    pub environment: Vec<(OsString, OsString)>,
    pub bind: Bind,
    pub report_bindings: bool,
    pub timeout: Option<Duration>,
    pub stdin: Stdin,
    pub prefix_output: bool,
    pub output_directory: Option<PathBuf>,
    pub verbose: bool,
    pub dry_run: bool,
    pub inherit: Inherit,
    pub hosts: HostOptions,
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
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bind {
    /// To cores where there are enough.
    #[default]
    Auto,
    Core,
    None,
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

/// Names the network interfaces that ranks on different hosts are to use, separated by commas.
pub const INTERFACE_VARIABLE: &str = "WEFT_INTERFACE";

/// Has the library write a line for each packet: to this file, or to standard error.
const TRACE: &str = "WEFT_TRACE";

/// Names what carries messages between ranks.
const TRANSPORT: &str = "WEFT_TRANSPORT";
const TRANSPORTS: [&str; 4] = ["auto", "shm", "tcp", "rdma"];

/// Names the endpoint category by which a rank's lanes share an RDMA adapter.
const ENDPOINTS: &str = "WEFT_ENDPOINTS";
/// The library has one more, mpi-threads, whose queue pairs several threads use at a time.
const CATEGORIES: [&str; 5] = [
    "mpi-everywhere",
    "2xdynamic",
    "dynamic",
    "shared-dynamic",
    "static",
];

impl Job {
    /// What only the whole command line shows.
    pub(super) fn check(&self) -> Result<(), Usage> {
        if self.prefix_output && self.output_directory.is_some() {
            return usage(
                "--prefix-output and --output-dir exclude each other: files hold the output of one rank each",
            );
        }
        Ok(())
    }
}

/// The options and program between two `:`.
#[derive(Default)]
struct Section {
    ranks: Option<u32>,
    hosts: Option<Vec<Host>>,
    directory: Option<OsString>,
    path: Option<OsString>,
    environment: Vec<(OsString, OsString)>,
    configured: bool,
}

/// The words not yet read, and how to complain about the option at hand.
struct Words<'a> {
    rest: std::slice::Iter<'a, OsString>,
    /// From `--option=value`.
    attached: Option<OsString>,
    option: String,
}

impl Words<'_> {
    fn value(&mut self, what: &str) -> Result<OsString, Usage> {
        let next = self.attached.take().or_else(|| self.rest.next().cloned());
        next.ok_or_else(|| Usage(format!("{} needs {what}", self.option)))
    }

    fn text(&mut self, what: &str) -> Result<String, Usage> {
        let value = self.value(what)?;
        value
            .into_string()
            .map_err(|value| Usage(format!("{} needs {what}, not {value:?}", self.option)))
    }

    fn parsed<T>(&mut self, what: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Usage> {
        let text = self.text(what)?;
        parse(&text).ok_or_else(|| Usage(format!("{} needs {what}, not `{text}`", self.option)))
    }
}

/// Reads one section into the job. Answers a command that takes the place of the job.
pub(super) fn parse_section(job: &mut Job, words: &[OsString]) -> Result<Option<Command>, Usage> {
    let mut section = Section::default();
    match parse_options(job, &mut section, words)? {
        Parsed::Command(command) => return Ok(Some(command)),
        Parsed::Program(program, arguments) if section.configured => {
            return usage(format!(
                "-configfile stands in place of a program: remove `{}`",
                [&[program], &arguments[..]]
                    .concat()
                    .join(OsStr::new(" "))
                    .display()
            ));
        }
        Parsed::Program(program, arguments) => job.applications.push(Application {
            ranks: section.ranks,
            hosts: section.hosts,
            program,
            arguments,
            directory: section.directory,
            path: section.path,
            environment: section.environment,
        }),
        Parsed::End if section.configured => {}
        Parsed::End => {
            return usage(
                "no program is given: mpiexec [OPTIONS] -n N PROGRAM [ARGUMENTS] (see --help)",
            );
        }
    }
    Ok(None)
}

enum Parsed {
    Command(Command),
    Program(OsString, Vec<OsString>),
    End,
}

fn parse_options(
    job: &mut Job,
    section: &mut Section,
    words: &[OsString],
) -> Result<Parsed, Usage> {
    let mut words = Words {
        rest: words.iter(),
        attached: None,
        option: String::new(),
    };
    while let Some(word) = words.rest.next() {
        if !word.as_bytes().starts_with(b"-") || word.len() == 1 {
            return Ok(Parsed::Program(word.clone(), words.rest.cloned().collect()));
        }
        if word == "--" {
            let program = words.rest.next();
            let program = program
                .ok_or_else(|| Usage("no program is given after `--`".into()))?
                .clone();
            return Ok(Parsed::Program(program, words.rest.cloned().collect()));
        }
        let name = name_option(&mut words, word)?;
        if let Some(command) = parse_option(job, section, &name, &mut words)? {
            return Ok(Parsed::Command(command));
        }
        if words.attached.is_some() {
            return usage(format!("{} takes no value", words.option));
        }
    }
    Ok(Parsed::End)
}

/// The option's name without its dashes; what follows `=` in a word with two dashes is its value.
fn name_option(words: &mut Words, word: &OsString) -> Result<String, Usage> {
    let text = word
        .to_str()
        .ok_or_else(|| Usage(format!("unknown option {word:?}")))?;
    let (option, attached) = match text.split_once('=') {
        Some((option, value)) if text.starts_with("--") => (option, Some(value.into())),
        _ => (text, None),
    };
    words.attached = attached;
    words.option = option.to_owned();
    Ok(option
        .strip_prefix("--")
        .or_else(|| option.strip_prefix('-'))
        .unwrap_or(option)
        .to_owned())
}

fn parse_option(
    job: &mut Job,
    section: &mut Section,
    name: &str,
    words: &mut Words,
) -> Result<Option<Command>, Usage> {
    match name {
        "n" | "np" => {
            section.ranks = Some(words.parsed("a number of ranks, at least 1", number_of_ranks)?)
        }
        "wdir" | "wd" => section.directory = Some(words.value("a directory")?),
        "path" => section.path = Some(words.value("directories separated by `:`")?),
        "env" => section.environment.push(variable(words)?),
        "genv" => job.environment.push(variable(words)?),
        "x" => section.environment.extend(exported(words)?),
        "host" | "H" => section.hosts.get_or_insert_default().extend(listed(words)?),
        "hosts" => job
            .hosts
            .listed
            .get_or_insert_default()
            .extend(listed(words)?),
        "f" | "hostfile" | "machinefile" | "machine-file" => {
            let file = words.value("a file")?;
            let hosts = hosts::read_file(file.as_ref())
                .map_err(|problem| Usage(format!("{}: {problem}", words.option)))?;
            job.hosts.listed.get_or_insert_default().extend(hosts);
        }
        "ppn" | "perhost" | "N" | "npernode" => {
            job.hosts.per_host =
                Some(words.parsed("a number of ranks, at least 1", number_of_ranks)?)
        }
        "rr" => job.hosts.order = Order::Nodes,
        "map-by" => map_by(job, words)?,
        "nooversubscribe" => job.hosts.slots_are_limits = true,
        "launcher" | "bootstrap" => {
            job.hosts.launcher = Some(words.parsed("`ssh`, `slurm` or `fork`", launcher)?)
        }
        "launcher-exec" | "bootstrap-exec" => {
            job.hosts.launcher_program = Some(words.value("a program")?)
        }
        "launch-timeout" => {
            job.hosts.launch_timeout = words.parsed("a number of seconds", seconds)?
        }
        "host-timeout" => job.hosts.host_timeout = words.parsed("a number of seconds", seconds)?,
        "interface" | "iface" => {
            let name = words.value("names of network interfaces")?;
            job.environment.push((INTERFACE_VARIABLE.into(), name));
        }
        "transport" => {
            let name = words.parsed("`auto`, `shm`, `tcp` or `rdma`", |text| {
                TRANSPORTS.into_iter().find(|name| *name == text)
            })?;
            job.environment.push((TRANSPORT.into(), name.into()));
        }
        "endpoints" => {
            let what = format!("one of {}", CATEGORIES.join(", "));
            let name = words.parsed(&what, |text| {
                CATEGORIES.into_iter().find(|name| *name == text)
            })?;
            job.environment.push((ENDPOINTS.into(), name.into()));
        }
        "genvall" | "envall" => job.inherit = Inherit::All,
        "genvnone" | "envnone" => job.inherit = Inherit::None,
        "genvlist" | "envlist" => {
            let names = words.text("names separated by commas")?;
            job.inherit = Inherit::Listed(names.split(',').map(OsString::from).collect());
        }
        "arch" => check_architecture(&words.text("an architecture")?)?,
        "soft" => words.parsed("a list of numbers or ranges, as 1,2:8:2", |text| {
            soft_list(text).then_some(())
        })?,
        "file" => parse_options_file(job, section, words.value("a file")?.as_ref())?,
        "configfile" => {
            parse_configuration(job, words.value("a file")?.as_ref())?;
            section.configured = true;
        }
        "trace" => job.environment.push((TRACE.into(), trace(words)?)),
        "bind-to" => job.bind = words.parsed("`core` or `none`", bind)?,
        "report-bindings" => job.report_bindings = true,
        "timeout" => job.timeout = Some(words.parsed("a number of seconds", seconds)?),
        "stdin" => job.stdin = words.parsed("a rank, `all` or `none`", stdin)?,
        "l" | "prefix-output" | "tag-output" | "prepend-rank" => job.prefix_output = true,
        "output-dir" => job.output_directory = Some(words.value("a directory")?.into()),
        "dry-run" => job.dry_run = true,
        "v" | "verbose" => job.verbose = true,
        "h" | "help" => return Ok(Some(Command::Help)),
        "V" | "version" => return Ok(Some(Command::Version)),
        other => pass_over(other, words)?,
    }
    Ok(None)
}

/// An option of another launcher that changes nothing here, or that something else takes the place of.
fn pass_over(name: &str, words: &mut Words) -> Result<(), Usage> {
    match foreign::meaning(name) {
        Some(Foreign::Idle { values }) => {
            (0..values).try_for_each(|_| words.value("a value").map(drop))
        }
        Some(Foreign::Instead(advice)) => usage(format!("{}: {advice}", words.option)),
        None => usage(format!("unknown option {} (see --help)", words.option)),
    }
}

fn listed(words: &mut Words) -> Result<Vec<Host>, Usage> {
    let text = words.text("hosts, as a:2,b")?;
    hosts::parse_list(&text).map_err(|item| {
        Usage(format!(
            "{} {text}: `{item}` is neither HOST nor HOST:RANKS",
            words.option
        ))
    })
}

fn launcher(text: &str) -> Option<Launcher> {
    match text {
        "ssh" => Some(Launcher::Ssh),
        "slurm" | "srun" => Some(Launcher::Slurm),
        "fork" => Some(Launcher::Fork),
        _ => None,
    }
}

/// `slot`, `core`, `node` or `ppr:N:node`, each perhaps with `:oversubscribe` or `:nooversubscribe` behind it.
fn map_by(job: &mut Job, words: &mut Words) -> Result<(), Usage> {
    let text = words.text("`node`, `slot`, `core` or `ppr:N:node`")?;
    let lower = text.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split(':').collect();
    let modifiers = match parts[..] {
        ["slot" | "core" | "", ref rest @ ..] => rest,
        ["node", ref rest @ ..] => {
            job.hosts.order = Order::Nodes;
            rest
        }
        ["ppr", ranks, "node", ref rest @ ..] => {
            let ranks = number_of_ranks(ranks);
            job.hosts.per_host = Some(ranks.ok_or_else(|| unknown_mapping(words, &text))?);
            rest
        }
        _ => return Err(unknown_mapping(words, &text)),
    };
    for modifier in modifiers {
        match *modifier {
            "oversubscribe" => job.hosts.slots_are_limits = false,
            "nooversubscribe" => job.hosts.slots_are_limits = true,
            _ => return Err(unknown_mapping(words, &text)),
        }
    }
    Ok(())
}

fn unknown_mapping(words: &Words, text: &str) -> Usage {
    Usage(format!(
        "{} needs `node`, `slot`, `core` or `ppr:N:node`, not `{text}`",
        words.option
    ))
}

fn number_of_ranks(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&ranks| ranks > 0)
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn bind(text: &str) -> Option<Bind> {
    match text {
        "core" => Some(Bind::Core),
        "none" => Some(Bind::None),
        _ => None,
    }
}

fn stdin(text: &str) -> Option<Stdin> {
    match text {
        "all" => Some(Stdin::All),
        "none" => Some(Stdin::None),
        rank => rank.parse().ok().map(Stdin::Rank),
    }
}

/// Where the lines go: `-` is standard error. The value is attached, as a word behind the option is the program.
fn trace(words: &mut Words) -> Result<OsString, Usage> {
    match words.attached.take() {
        Some(file) if file.is_empty() => usage("--trace= needs the name of a file"),
        file => Ok(file.unwrap_or_else(|| "-".into())),
    }
}

fn check_name(option: &str, name: &OsStr) -> Result<(), Usage> {
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        return usage(format!(
            "{option}: `{}` cannot name an environment variable",
            name.display()
        ));
    }
    Ok(())
}

fn variable(words: &mut Words) -> Result<(OsString, OsString), Usage> {
    let name = words.value("a name and a value")?;
    check_name(&words.option, &name)?;
    Ok((name, words.value("a value after the name")?))
}

/// `NAME=VALUE`; a bare `NAME` passes on what ranks inherit in any case.
fn exported(words: &mut Words) -> Result<Option<(OsString, OsString)>, Usage> {
    let word = words.value("NAME or NAME=VALUE")?;
    let bytes = word.as_bytes();
    let end = bytes.iter().position(|&byte| byte == b'=');
    let name = OsStr::from_bytes(&bytes[..end.unwrap_or(bytes.len())]);
    check_name(&words.option, name)?;
    Ok(end.map(|end| {
        (
            name.to_owned(),
            OsStr::from_bytes(&bytes[end + 1..]).to_owned(),
        )
    }))
}

fn check_architecture(text: &str) -> Result<(), Usage> {
    if text == std::env::consts::ARCH {
        return Ok(());
    }
    usage(format!(
        "-arch {text}: this machine is an {}",
        std::env::consts::ARCH
    ))
}

/// Numbers or triplets `first:last:stride` (MPI-5.0 §11.8.1), separated by commas.
fn soft_list(text: &str) -> bool {
    text.split(',').all(|item| {
        let parts: Vec<&str> = item.split(':').collect();
        parts.len() <= 3 && parts.iter().all(|part| part.parse::<i32>().is_ok())
    })
}

fn parse_options_file(job: &mut Job, section: &mut Section, path: &Path) -> Result<(), Usage> {
    let words = file::read_lines(path)?.concat();
    if words.iter().any(|word| word == "-file" || word == "--file") {
        return usage(format!(
            "`{}`: -file cannot stand in a file",
            path.display()
        ));
    }
    match parse_options(job, section, &words)? {
        Parsed::End => Ok(()),
        Parsed::Command(_) | Parsed::Program(..) => usage(format!(
            "`{}` may hold options only; programs go into a -configfile",
            path.display()
        )),
    }
}

fn parse_configuration(job: &mut Job, path: &Path) -> Result<(), Usage> {
    let lines = file::read_lines(path)?;
    if lines.is_empty() {
        return usage(format!("`{}` holds no program", path.display()));
    }
    for line in lines {
        if line
            .iter()
            .any(|word| word == "-configfile" || word == "--configfile")
        {
            return usage(format!(
                "`{}`: -configfile cannot stand in a file",
                path.display()
            ));
        }
        let in_file = |problem: Usage| Usage(format!("`{}`: {problem}", path.display()));
        if parse_section(job, &line).map_err(in_file)?.is_some() {
            return usage(format!(
                "`{}`: --help and --version cannot stand in a file",
                path.display()
            ));
        }
    }
    Ok(())
}

#[derive(Debug)]
pub enum Command {
    Run(Box<Job>),
    Help,
    Version,
}

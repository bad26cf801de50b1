//! What one benchmark is run for, and why that fails.

use std::io;
use std::path::{Path, PathBuf};

use super::benchmark::{Axis, Benchmark, Series};
use super::catalog::{FLOOR, TUNE, WIRE};
use super::core_latency::CoreLatency;
use super::library::{Hosts, Library, Pin};
use super::options::Options;
use super::patterns;
use crate::installation::Installation;
use crate::machine;

/// What the user asked for, made definite.
pub struct Plan<'a> {
    pub benchmark: &'static Benchmark,
    pub libraries: &'a [Library],
    /// Of the benchmark's, those that are wanted.
    pub series: Vec<&'static Series>,
    pub points: Vec<u64>,
    /// What the program is told beside its points.
    pub arguments: Vec<String>,
    /// Of a benchmark whose axis is not the ranks.
    pub ranks: u64,
    pub rounds: usize,
    /// No round but the first begins after so many seconds.
    pub within_seconds: Option<f64>,
    pub pin: Pin,
    pub cores: usize,
    pub hosts: Hosts<'a>,
    pub seconds: f64,
    pub limit_seconds: f64,
    pub sources: &'a Path,
    /// Where programs are compiled.
    pub programs: PathBuf,
    /// A program that is there is run as it is.
    pub compiles_once: bool,
    /// Where the program makes its file, if it makes one.
    pub folder: Option<PathBuf>,
    /// Which machine a run has to meet.
    pub core_latency: Option<CoreLatency>,
    /// Measure the machine's limits beside the libraries.
    pub with_floor: bool,
}

/// How often every library has its turn.
const ROUNDS: usize = 5;
/// The ranks of a benchmark whose axis is not the ranks and that is not asked for others.
const PAIR: u64 = 2;

impl<'a> Plan<'a> {
    /// What the options ask for of a benchmark.
    pub fn new(
        options: &'a Options,
        benchmark: &'static Benchmark,
        libraries: &'a [Library],
        installation: &'a Installation,
    ) -> Result<Plan<'a>, String> {
        let asked = match benchmark.axis {
            Axis::Points { .. } => &options.sizes,
            Axis::Ranks { .. } => &options.ranks,
        };
        let mut points = if asked.is_empty() {
            benchmark.default_points().to_vec()
        } else {
            asked.clone()
        };
        points.retain(|&p| options.max.is_none_or(|max| p <= max));
        points.sort_unstable();
        points.dedup();
        let from_zero = benchmark.default_points().contains(&0);
        if benchmark.descending {
            points.reverse();
        }
        if points.is_empty() || (points.contains(&0) && !from_zero) {
            return Err(format!("{}: no points to measure", benchmark.name));
        }
        let ranks = match options.ranks[..] {
            [] => PAIR,
            _ if !benchmark.any_ranks => PAIR,
            [ranks] if ranks > 0 => ranks,
            _ => {
                return Err(format!(
                    "{}: --ranks takes one number of ranks",
                    benchmark.name
                ));
            }
        };
        let (hosts, pin) = place(options, benchmark)?;
        let pin = if pin == Pin::Auto { benchmark.pin } else { pin };
        Ok(Plan {
            benchmark,
            libraries: if benchmark == &FLOOR { &[] } else { libraries },
            series: patterns::chosen(&options.patterns, benchmark)?,
            points,
            arguments: patterns::arguments(&options.patterns),
            ranks,
            rounds: options.rounds.unwrap_or(ROUNDS).max(1),
            within_seconds: options.within,
            pin,
            hosts,
            cores: machine::cores(),
            seconds: options.seconds.unwrap_or(benchmark.seconds),
            limit_seconds: options.limit,
            sources: &installation.sources,
            programs: match &options.programs {
                Some(folder) => folder.clone(),
                None => installation.build.join("bench"),
            },
            compiles_once: options.programs.is_some(),
            folder: benchmark.makes_file.then(|| {
                let otherwise = || installation.build.join("bench");
                options.folder.clone().unwrap_or_else(otherwise)
            }),
            core_latency: options.core_latency.clone(),
            with_floor: benchmark.name == "pingpong" && machine::cores() >= PAIR as usize,
        })
    }
}

/// Where the ranks of a benchmark run, and how they are pinned there.
fn place<'a>(options: &'a Options, benchmark: &Benchmark) -> Result<(Hosts<'a>, Pin), String> {
    let name = benchmark.name;
    // Layouts of these hosts are measured one after the other.
    if benchmark == &TUNE {
        return Ok((Hosts::Here, options.pin));
    }
    if benchmark != &WIRE {
        return match options.hosts[..] {
            [] => Ok((Hosts::Here, options.pin)),
            _ => Err(format!(
                "{name}: --hosts goes with `wire` and with `collectives --tune`"
            )),
        };
    }
    if !options.peers.is_empty() {
        return Err(format!(
            "{name}: it measures this library beside bare sockets, not beside others (--peers)"
        ));
    }
    match options.hosts[..] {
        // What mpiexec takes for two hosts would pin both ranks to the first core.
        [] if options.pin == Pin::Auto => Ok((Hosts::Loopback, Pin::None)),
        [] => Ok((Hosts::Loopback, options.pin)),
        [_, _] if options.pin == Pin::Auto => Ok((Hosts::Named(&options.hosts), Pin::Default)),
        [_, _] => Ok((Hosts::Named(&options.hosts), options.pin)),
        _ => Err(format!("{name}: --hosts takes two names, such as a,b")),
    }
}

#[derive(Debug)]
pub enum Failure {
    Io(io::Error),
    Message(String),
    Interrupted,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl Failure {
    /// For the terminal.
    pub fn explained(self, benchmark: &Benchmark) -> String {
        match self {
            Failure::Io(error) => format!("{}: {error}", benchmark.name),
            Failure::Message(message) => message,
            Failure::Interrupted => "interrupted; what had started has been stopped".into(),
        }
    }
}

pub fn list(points: &[u64]) -> String {
    points
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

//! One library in one round: its program at every point, or at every number of ranks.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::benchmark::{Axis, Series};
use super::catalog::STARTUP_WALL;
use super::job::{self, End, Outcome, Patience};
use super::library::{Layout, Library};
use super::plan::{Failure, Plan, list};
use super::record::{Line, Results};
use super::scratch::Scratch;
use super::stats::binary;

/// `startup` commands timed in a round; one alone is a single sample.
const STARTS_A_ROUND: usize = 5;
/// A job that has not printed anything by then hangs.
pub const START_SECONDS: f64 = 20.0;

/// The patience with a job whose every line after the first may take `seconds`.
pub fn patience(seconds: f64) -> Patience {
    Patience {
        start: Duration::from_secs_f64(START_SECONDS),
        line: Duration::from_secs_f64(seconds),
    }
}

pub struct LibraryRound<'a, 'p> {
    pub plan: &'a Plan<'a>,
    pub library: &'a Library,
    pub program: &'a Path,
    pub round: usize,
    pub results: &'a mut Results,
    pub progress: &'a mut (dyn FnMut(&str) + 'p),
    /// The program that runs has printed its first line.
    pub started: bool,
}

/// The series and points that a run has still to give; the first is what it is at.
type Due = Vec<(&'static str, u64)>;

impl LibraryRound<'_, '_> {
    pub fn run(&mut self) -> Result<(), Failure> {
        let points = self
            .results
            .within_limit(&self.library.name, &self.plan.points);
        match self.plan.benchmark.axis {
            Axis::Points { .. } if points.is_empty() => Ok(()),
            Axis::Points { option, .. } => {
                let arguments = [format!("--{option}"), list(&points)];
                self.measure(self.plan.ranks, &arguments, &points)
            }
            Axis::Ranks { .. } => points.iter().try_for_each(|&ranks| {
                if self
                    .plan
                    .benchmark
                    .series
                    .iter()
                    .any(|s| s.name == STARTUP_WALL)
                {
                    self.time_starts(ranks)?;
                }
                self.measure(ranks, &[], &[ranks])
            }),
        }
    }

    fn launcher(&self, ranks: u64) -> Command {
        let pin = self
            .plan
            .pin
            .resolve(ranks, self.plan.cores, self.plan.benchmark.threads);
        self.library.launcher(
            Layout {
                ranks,
                pin,
                cores: self.plan.cores,
                hosts: self.plan.hosts,
            },
            self.program,
        )
    }

    /// Times whole commands that initialise and finalise only.
    fn time_starts(&mut self, ranks: u64) -> Result<(), Failure> {
        self.started = false;
        for _ in 0..STARTS_A_ROUND {
            self.report(&format!("ranks={ranks}"));
            let mut command = self.launcher(ranks);
            command.arg("--bare");
            let outcome = job::run(command, patience(START_SECONDS), |_| {})?;
            if !self.judge(&outcome, &[ranks], &[])? {
                break;
            }
            let ms = outcome.wall.as_secs_f64() * 1e3;
            self.results
                .add(&self.library.name, STARTUP_WALL, ranks, ms, ms);
        }
        Ok(())
    }

    fn measure(&mut self, ranks: u64, arguments: &[String], points: &[u64]) -> Result<(), Failure> {
        let mut command = self.launcher(ranks);
        command.args(arguments).args(&self.plan.arguments);
        let scratch = self.plan.folder.as_deref().map(Scratch::below);
        let scratch = scratch.transpose()?;
        if let Some(scratch) = &scratch {
            command.arg("--folder").arg(scratch.path());
        }
        if self.plan.seconds > 0.0 {
            command.arg("--seconds").arg(self.plan.seconds.to_string());
        }
        self.results
            .subjects
            .entry(self.library.name.clone())
            .or_default()
            .command = format!("{command:?}");
        let mut due = self.due(points);
        self.started = false;
        self.report("starting");
        let outcome = job::run(command, patience(self.plan.limit_seconds), |line| {
            self.take(line, ranks, &mut due)
        })?;
        self.judge(&outcome, points, &due).map(drop)
    }

    /// What the program gives at these points, in the order in which it gives it.
    fn due(&self, points: &[u64]) -> Due {
        let series = || self.plan.series.iter().filter(|s| s.name != STARTUP_WALL);
        if self.plan.benchmark.by_series {
            let of = |s: &&'static Series| s.points(points).iter().map(|&x| (s.name, x));
            return series().flat_map(of).collect();
        }
        let at = |&x: &u64| series().map(move |s| (s.name, x));
        points.iter().flat_map(at).collect()
    }

    fn take(&mut self, line: &str, ranks: u64, due: &mut Due) {
        let name = &self.library.name;
        match Line::parse(line) {
            Some(Line::Start {
                library,
                processors,
            }) => {
                let subject = self.results.subjects.entry(name.clone()).or_default();
                subject.version = library;
                subject.processors.insert(ranks, processors);
                self.started = true;
            }
            Some(Line::Point {
                series,
                x,
                best,
                median,
            }) => {
                due.retain(|&(s, p)| s != series || p != x);
                self.results.add(name, &series, x, best, median);
            }
            None => return,
        }
        if let Some((series, x)) = due.first() {
            self.report(&format!(
                "{series}, {} {}",
                binary(*x),
                self.plan.benchmark.axis_label
            ));
        }
    }

    fn report(&mut self, what: &str) {
        let text = progress_text(self.plan, &self.library.name, self.round, what);
        (self.progress)(&text);
    }

    /// Notes how a run over `points` ended; `due` is what it has not given. True where it ended well.
    fn judge(
        &mut self,
        outcome: &Outcome,
        points: &[u64],
        due: &[(&str, u64)],
    ) -> Result<bool, Failure> {
        let limit = self.plan.limit_seconds;
        let failure = match &outcome.end {
            End::Interrupted => return Err(Failure::Interrupted),
            End::Exited(status) if status.success() && due.is_empty() => return Ok(true),
            End::Exited(status) if status.success() => "it ended without all its results".into(),
            End::Exited(status) => format!("{status}\n{}", outcome.complaint),
            End::Silent if !self.started => {
                format!("stopped, it had not started after {START_SECONDS} s")
            }
            End::Silent => match due.first() {
                Some(&(series, x)) => {
                    let above = if points.len() > 1 {
                        &self.plan.points[..]
                    } else {
                        points
                    };
                    self.results
                        .mark_over_limit(&self.library.name, series, above, x, limit);
                    return Ok(false);
                }
                None => format!("stopped, it did not end within {limit} s of its last result"),
            },
        };
        let name = &self.library.name;
        let failure = format!("{name}, round {}: {failure}", self.round + 1);
        self.results
            .subjects
            .entry(name.clone())
            .or_default()
            .failures
            .push(failure);
        Ok(false)
    }
}

/// Where a run is, for the progress line.
pub fn progress_text(plan: &Plan, library: &str, round: usize, what: &str) -> String {
    format!(
        "round {}/{} {library} {} {what}",
        round + 1,
        plan.rounds,
        plan.benchmark.name
    )
}

//! The rounds of one benchmark: every library in turn, the first of a round changing from round to round, so that
//! what drifts on the machine meets all alike.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::catalog::FLOOR;
use super::core_latency::CoreLatency;
use super::job::{self, End};
use super::library::Library;
use super::library_round::{LibraryRound, START_SECONDS, patience, progress_text};
use super::plan::{Failure, Plan, list};
use super::record::{Line, Results};
use super::stats::binary;

/// The name under which the machine's own limits stand among the libraries.
pub const FLOOR_COLUMN: &str = "floor";

/// Of the floor program: half a round trip of a word between two processes.
const WORD: &str = "flip";
/// How often a run is tried that is to meet a certain machine, and the time in between.
const TRIES: usize = 300;
const PAUSE: Duration = Duration::from_secs(1);

/// Reports where the run is; each text replaces the one before.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// Compiles and runs everything of the plan. A library that fails is left with what it gave, and the reason.
pub fn run(plan: &Plan, progress: Progress) -> Result<Results, Failure> {
    let mut results = Results::default();
    let runs_floor = plan.with_floor || plan.benchmark == &FLOOR;
    let floor = match runs_floor || plan.core_latency.is_some() {
        true => Some(compile_floor(plan)?),
        false => None,
    };
    let mut able = Vec::new();
    for library in plan.libraries {
        progress(&format!(
            "compiling {} for {}",
            plan.benchmark.name, library.name
        ));
        able.push((library, compile(plan, library)?));
    }
    let begin = Instant::now();
    let is_over = || {
        plan.within_seconds
            .is_some_and(|most| begin.elapsed().as_secs_f64() > most)
    };
    for round in 0..plan.rounds {
        if round > 0 && is_over() {
            break;
        }
        for turn in 0..able.len() {
            let (library, program) = &able[(round + turn) % able.len()];
            let mut run = |results: &mut Results| {
                LibraryRound {
                    plan,
                    library,
                    program,
                    round,
                    results,
                    progress: &mut *progress,
                    started: false,
                }
                .run()
            };
            match plan.core_latency.as_ref().zip(floor.as_deref()) {
                None => run(&mut results)?,
                Some((latency, floor)) => when_met(latency, floor, &mut results, run)?,
            }
        }
        if let Some(program) = floor.as_ref().filter(|_| runs_floor) {
            run_floor(plan, program, round, &mut results, progress)?;
        }
    }
    Ok(results)
}

/// Runs until the machine was as asked for before and after it; what other runs gave is left out.
fn when_met(
    wanted: &CoreLatency,
    floor: &Path,
    results: &mut Results,
    mut run: impl FnMut(&mut Results) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for _ in 0..TRIES {
        if wanted.is_met(core_latency(floor)?) {
            let before = results.clone();
            run(results)?;
            if wanted.is_met(core_latency(floor)?) {
                return Ok(());
            }
            *results = before;
        }
        thread::sleep(PAUSE);
    }
    let condition = wanted.condition();
    Err(Failure::Message(format!(
        "in {TRIES} tries there was no run with {condition}"
    )))
}

/// Microseconds that a word takes between the first two cores, half a round trip.
fn core_latency(floor: &Path) -> Result<f64, Failure> {
    let mut command = Command::new(floor);
    command.args(["--sizes", "8", "--seconds", "0.02", "--cpus", "0,1"]);
    let mut found = None;
    let outcome = job::run(command, patience(START_SECONDS), |line| {
        if let Some(Line::Point { series, best, .. }) = Line::parse(line)
            && series == WORD
        {
            found = Some(best);
        }
    })?;
    match (outcome.end, found) {
        (End::Interrupted, _) => Err(Failure::Interrupted),
        (_, Some(microseconds)) => Ok(microseconds),
        (_, None) => Err(Failure::Message(format!(
            "the time between two cores could not be taken: {}",
            outcome.complaint.trim()
        ))),
    }
}

/// Compiles what the plan runs.
pub fn compile_all(plan: &Plan) -> Result<(), Failure> {
    if plan.with_floor || plan.benchmark == &FLOOR {
        compile_floor(plan)?;
    }
    let mut libraries = plan.libraries.iter();
    libraries.try_for_each(|library| compile(plan, library).map(drop))
}

pub fn compile(plan: &Plan, library: &Library) -> Result<PathBuf, Failure> {
    let program = plan.programs.join(&library.name).join(plan.benchmark.name);
    let source = plan.sources.join(format!("{}.c", plan.benchmark.name));
    made(plan, &program, library.compiler(&source, &program))?;
    Ok(program)
}

fn compile_floor(plan: &Plan) -> Result<PathBuf, Failure> {
    let program = plan.programs.join("floor");
    let mut command = Command::new("cc");
    command
        .args(["-std=c11", "-O2", "-o"])
        .arg(&program)
        .arg(plan.sources.join("floor.c"));
    made(plan, &program, command)?;
    Ok(program)
}

/// Runs the command that makes a program, unless the one that is there is wanted.
fn made(plan: &Plan, program: &Path, compiler: Command) -> Result<(), Failure> {
    if plan.compiles_once && program.is_file() {
        return Ok(());
    }
    fs::create_dir_all(program.parent().unwrap_or(&plan.programs))?;
    must_succeed(compiler)
}

fn must_succeed(mut command: Command) -> Result<(), Failure> {
    let shown = format!("{command:?}");
    let output = command
        .output()
        .map_err(|e| Failure::Message(format!("{shown}: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::Message(format!(
        "{shown} failed:\n{}",
        String::from_utf8_lossy(&output.stderr).trim()
    )))
}

/// The floor runs on the processors that the libraries' ranks were seen to have.
fn run_floor(
    plan: &Plan,
    program: &Path,
    round: usize,
    results: &mut Results,
    progress: Progress,
) -> Result<(), Failure> {
    let mut command = Command::new(program);
    command
        .arg("--sizes")
        .arg(list(&plan.points))
        .arg("--seconds")
        .arg(FLOOR.seconds.to_string());
    let seen = results
        .subjects
        .values()
        .find_map(|s| s.processors.get(&2).filter(|p| single_processors(p)));
    if let Some(processors) = seen {
        command.arg("--cpus").arg(processors.join(","));
    }
    let shown = format!("{command:?}");
    let outcome = job::run(command, patience(START_SECONDS), |line| {
        if let Some(Line::Point {
            series,
            x,
            best,
            median,
        }) = Line::parse(line)
        {
            progress(&progress_text(
                plan,
                FLOOR_COLUMN,
                round,
                &format!("{series}={}", binary(x)),
            ));
            results.add(FLOOR_COLUMN, &series, x, best, median);
        }
    })?;
    let subject = results.subjects.entry(FLOOR_COLUMN.into()).or_default();
    subject.command = shown;
    match outcome.end {
        End::Interrupted => Err(Failure::Interrupted),
        End::Exited(status) if status.success() => Ok(()),
        End::Exited(status) => {
            subject
                .failures
                .push(format!("floor: {status}\n{}", outcome.complaint));
            Ok(())
        }
        End::Silent => {
            let message = format!("floor: stopped, it said nothing for {START_SECONDS} s");
            subject.failures.push(message);
            Ok(())
        }
    }
}

/// Whether every rank had exactly one processor, and no two the same.
pub fn single_processors(processors: &[String]) -> bool {
    let mut seen = processors.to_vec();
    seen.sort();
    seen.dedup();
    seen.len() == processors.len() && seen.iter().all(|p| p.parse::<u32>().is_ok())
}

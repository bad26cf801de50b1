//! `weft bench`: the benchmarks of this library beside others, in one run.

pub mod benchmark;
pub mod catalog;
pub mod compare;
mod conditions;
mod core_latency;
mod endpoints;
pub mod ends;
mod job;
mod json;
pub mod library;
mod library_round;
mod mark;
mod options;
mod patterns;
pub mod plan;
pub mod plot;
pub mod progress;
pub mod record;
pub mod rounds;
mod scratch;
pub mod stats;
pub mod summary;
mod table;
pub mod tune;

use std::fs;
use std::process::ExitCode;

use serde_json::{Value, json};
use weft_endpoint::Category;

use crate::installation::Installation;
use crate::machine::{Machine, ProcessorTime};
pub use endpoints::PART;
pub use options::Options;

use benchmark::Benchmark;
use catalog::{ALL, FLOOR, WIRE};
use conditions::conditions;
use library::{Library, Pin};
use plan::Plan;
use plot::Chart;
use progress::{Progress, named};
use record::Results;
use rounds::{FLOOR_COLUMN, single_processors};
use table::View;

/// Processor time taken by the hypervisor beyond which figures are worth nothing, in per cent.
const STOLEN_PERCENT: f64 = 1.0;

pub fn run(options: &Options) -> ExitCode {
    if options.names.iter().any(|n| n == "list") {
        list();
        return ExitCode::SUCCESS;
    }
    let before = ProcessorTime::now();
    let done = measured(options);
    if let Some(line) = before.and_then(stolen) {
        eprintln!("weft bench: {line}");
    }
    report(done)
}

/// True when our own library did not fail.
fn measured(options: &Options) -> Result<bool, String> {
    if options.tune {
        return tune::run(options).map(|()| true);
    }
    let verbs = options
        .names
        .iter()
        .filter(|n| endpoints::is_one(n))
        .count();
    match verbs {
        0 => chosen(&options.names).and_then(|benchmarks| run_all(options, &benchmarks)),
        n if n == options.names.len() => endpoints::run(options).map(|()| true),
        _ => Err(
            "benchmarks of MPI and those on verbs run one after the other, not in one call".into(),
        ),
    }
}

/// What to think of the figures, if the machine was not this run's own.
fn stolen(before: ProcessorTime) -> Option<String> {
    let percent = ProcessorTime::now()?.stolen_since(before);
    (percent >= STOLEN_PERCENT).then(|| {
        format!(
            "the hypervisor gave {percent:.1} % of the processors' time to other machines meanwhile; figures are noise"
        )
    })
}

fn report(done: Result<bool, String>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("weft bench: {message}");
            ExitCode::FAILURE
        }
    }
}

fn list() {
    for benchmark in ALL.iter().chain([&FLOOR, &WIRE]) {
        let points: Vec<String> = benchmark
            .default_points()
            .iter()
            .map(|&p| stats::binary(p))
            .collect();
        println!("{:<12} {}", benchmark.name, benchmark.about);
        println!("{:<12} {}: {}", "", benchmark.axis_label, points.join(","));
    }
    println!("\non verbs, `endpoints` for all:");
    endpoints::list();
}

fn chosen(names: &[String]) -> Result<Vec<&'static Benchmark>, String> {
    if names.iter().any(|n| n == "all") {
        return Ok(ALL.iter().collect());
    }
    let find = |name: &String| {
        catalog::find(name)
            .ok_or_else(|| format!("no benchmark `{name}`; `weft bench list` shows them"))
    };
    names.iter().map(find).collect()
}

/// True when our own library did not fail.
fn run_all(options: &Options, benchmarks: &[&'static Benchmark]) -> Result<bool, String> {
    let installation = Installation::find()?;
    let machine = Machine::read(installation.tree.as_deref());
    let libraries = libraries(options, &installation, benchmarks)?;
    if options.folder.is_some() && !benchmarks.iter().any(|b| b.makes_file) {
        return Err("--folder goes with `file` and `file-patterns`".into());
    }
    let mut progress = Progress::new(options.prints_json());
    if options.compile_only {
        return compiled(options, benchmarks, &libraries, &installation).map(|()| true);
    }
    if !options.prints_json() {
        println!("{}\n", machine.line());
    }
    let (mut reports, mut ours_well) = (Vec::new(), true);
    for &benchmark in benchmarks {
        let plan = Plan::new(options, benchmark, &libraries, &installation)?;
        let results = rounds::run(&plan, &mut |text| progress.show(text));
        progress.clear();
        let results = results.map_err(|failure| failure.explained(benchmark))?;
        let mut ours = libraries.iter().filter(|library| library.peer.is_none());
        ours_well &= ours.all(|library| {
            let subject = results.subjects.get(&library.name);
            subject.is_none_or(|s| s.failures.is_empty())
        });
        let names = column_names(benchmark, &libraries);
        let said = conditions(options, &plan);
        let view = View::new(
            benchmark,
            &plan.series,
            &results,
            &names,
            &plan.points,
            &said,
        );
        deliver(
            options,
            &view,
            &plan,
            &machine,
            benchmarks.len() > 1,
            &mut reports,
        )?;
    }
    options.deliver_json(&json!({"machine": machine.json(), "benchmarks": reports}))?;
    Ok(ours_well)
}

fn compiled(
    options: &Options,
    benchmarks: &[&'static Benchmark],
    libraries: &[Library],
    installation: &Installation,
) -> Result<(), String> {
    for &benchmark in benchmarks {
        let plan = Plan::new(options, benchmark, libraries, installation)?;
        rounds::compile_all(&plan).map_err(|failure| failure.explained(benchmark))?;
    }
    Ok(())
}

fn libraries(
    options: &Options,
    installation: &Installation,
    benchmarks: &[&Benchmark],
) -> Result<Vec<Library>, String> {
    if benchmarks.iter().all(|b| **b == FLOOR) {
        return Ok(Vec::new());
    }
    let peers = options
        .peers_dir
        .clone()
        .unwrap_or_else(|| installation.build.join("peers"));
    let ours: Vec<_> = match &options.categories[..] {
        [] => vec![Library::weft(installation)],
        categories => {
            let of = |&category: &Category| Library::of_category(category, installation);
            categories.iter().map(of).collect()
        }
    };
    let all = ours.into_iter().chain(
        options
            .peers
            .iter()
            .map(|&peer| Library::peer(peer, &peers)),
    );
    let (found, missing): (Vec<_>, Vec<_>) = all.partition(Result::is_ok);
    for message in missing.into_iter().filter_map(Result::err) {
        eprintln!("weft bench: {message}");
    }
    let found: Vec<Library> = found.into_iter().flatten().collect();
    if found.is_empty() {
        Err("no library to measure".into())
    } else {
        Ok(found)
    }
}

fn column_names(benchmark: &Benchmark, libraries: &[Library]) -> Vec<String> {
    if benchmark == &FLOOR {
        return vec![FLOOR_COLUMN.into()];
    }
    libraries.iter().map(|l| l.name.clone()).collect()
}

/// Prints, plots and keeps what was measured.
fn deliver(
    options: &Options,
    view: &View,
    plan: &Plan,
    machine: &Machine,
    several: bool,
    reports: &mut Vec<Value>,
) -> Result<(), String> {
    for message in complaints(view.results, plan) {
        eprintln!("weft bench: {message}");
    }
    if options.json.is_some() {
        reports.push(json::benchmark(view));
    }
    if !options.prints_json() {
        println!(
            "{}: {}\n{}",
            view.benchmark.name,
            view.conditions,
            view.render()
        );
    }
    if let Some(file) = &options.plot {
        let file = if several {
            named(file, view.benchmark.name)
        } else {
            file.clone()
        };
        fs::write(&file, Chart::of_view(view, &machine.line()).svg())
            .map_err(|e| format!("{}: {e}", file.display()))?;
        if !options.prints_json() {
            println!("plot: {}\n", file.display());
        }
    }
    Ok(())
}

/// What makes figures doubtful: failed runs, and ranks that were not where they were asked to be.
fn complaints(results: &Results, plan: &Plan) -> Vec<String> {
    let mut all = Vec::new();
    for (name, subject) in &results.subjects {
        all.extend(subject.failures.iter().cloned());
        for (&ranks, processors) in &subject.processors {
            let pin = plan.pin.resolve(ranks, plan.cores, plan.benchmark.threads);
            if pin == Pin::Core && !single_processors(processors) {
                all.push(format!(
                    "{name}: pinning was asked for, but the ranks may run on {}",
                    processors.join(" | ")
                ));
            }
        }
    }
    all
}

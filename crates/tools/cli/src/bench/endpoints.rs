//! The benchmarks on verbs (`crates/rdma/bench/verbs-bench`): their options, and how their reports are printed, plotted and kept.

use std::fs;
use std::process;

use serde_json::json;
use weft_verbs_bench::catalog::{self, Benchmark};
use weft_verbs_bench::device::Choice;
use weft_verbs_bench::part::{Job, Part};
use weft_verbs_bench::party::Launcher;
use weft_verbs_bench::report::{self, Report};
use weft_verbs_bench::rounds::Effort;
use weft_verbs_bench::settings::Settings;

use super::library::Pin;
use super::options::Options;
use super::plot::{Chart, Curve, Panel};
use super::progress::{Progress, named};
use crate::installation::Installation;
use crate::machine::Machine;
use crate::output::align;
use crate::softrdma::{DEVICE, LIBRARY_PATH};

/// The hidden command by which this program becomes a process of a run.
pub const PART: &str = "bench-part";
const GROUP: &str = "endpoints";
const ROUNDS: usize = 3;
const SECONDS: f64 = 0.25;

pub fn is_one(name: &str) -> bool {
    name == GROUP || catalog::find(name).is_some()
}

pub fn list() {
    for benchmark in &catalog::ALL {
        println!("{:<12} {}", benchmark.name, benchmark.about);
        println!("{:<12} {}", "", benchmark.axis);
    }
}

fn chosen(names: &[String]) -> Vec<&'static Benchmark> {
    if names.iter().any(|n| n == GROUP) {
        return catalog::ALL.iter().collect();
    }
    names.iter().filter_map(|n| catalog::find(n)).collect()
}

pub fn run(options: &Options) -> Result<(), String> {
    let installation = Installation::find()?;
    let machine = Machine::read(installation.tree.as_deref());
    let settings = settings(options, &installation)?;
    let device = device_line(&settings)?;
    if !options.prints_json() {
        println!("{}\n{device}\n", machine.line());
    }
    let benchmarks = chosen(&options.names);
    let mut progress = Progress::new(options.prints_json());
    let mut reports = Vec::new();
    for benchmark in &benchmarks {
        let done = benchmark.run(&settings, &mut |text| progress.show(text));
        progress.clear();
        let report = done.map_err(|failure| format!("{}: {failure}", benchmark.name))?;
        if !options.prints_json() {
            print(&report);
        }
        plot(options, benchmark, &report, &machine, benchmarks.len() > 1)?;
        reports.push(report);
    }
    options
        .deliver_json(&json!({"machine": machine.json(), "device": device, "benchmarks": reports}))
}

fn settings(options: &Options, installation: &Installation) -> Result<Settings, String> {
    let own = &options.endpoints;
    let name = own.device.as_deref().unwrap_or(DEVICE);
    let is_software = name.starts_with("softrdma");
    let library = own.library.clone();
    let library = library.or_else(|| is_software.then(|| installation.prefix.join(LIBRARY_PATH)));
    if let Some(file) = library.as_ref().filter(|file| !file.is_file()) {
        return Err(format!("{} is not there (make install)", file.display()));
    }
    let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    // A fabric for this run alone, so that its account has nothing of others.
    let fabric = is_software.then(|| format!("weft-bench-{}", process::id()));
    let variable = |name: &String| ("SOFTRDMA_FABRIC".to_string(), name.clone());
    let count = |n: &u64| usize::try_from(*n).unwrap_or(usize::MAX);
    Ok(Settings {
        launcher: Launcher {
            program,
            arguments: vec![PART.into()],
            environment: fabric.iter().map(variable).collect(),
            fabric,
        },
        device: Choice {
            library,
            device: Some(name.into()),
        },
        effort: Effort {
            rounds: options.rounds.unwrap_or(ROUNDS).max(1),
            seconds: options.seconds.unwrap_or(SECONDS),
        },
        may_pin: matches!(options.pin, Pin::Auto | Pin::Core),
        points: options.sizes.iter().map(count).collect(),
        threads: own.threads.as_ref().map(count),
        bytes: own.bytes.as_ref().map(count),
        depth: own.depth.as_ref().map(count),
        order: own.order.as_ref().map(count),
        tile: own.tile.as_ref().map(count),
    })
}

/// The device by the name that it gives itself. It is asked for first: what is not there is told before anything runs.
fn device_line(settings: &Settings) -> Result<String, String> {
    let job = Job {
        device: settings.device.clone(),
        part: Part::Probe,
    };
    let mut part = settings
        .launcher
        .start("device", &job, &[])
        .map_err(|e| e.to_string())?;
    let name: String = part.hear().map_err(|e| e.to_string())?;
    part.finish().map_err(|e| e.to_string())?;
    Ok(match settings.launcher.fabric {
        Some(_) => format!("device {name}, in software"),
        None => format!("device {name}"),
    })
}

fn print(report: &Report) {
    println!("{}: {}", report.name, report.notes.join("; "));
    for table in &report.tables {
        println!("{}\n{}", table.title, lines(table));
    }
}

fn lines(table: &report::Table) -> String {
    let rows: Vec<Vec<String>> = [&table.header]
        .into_iter()
        .chain(&table.rows)
        .cloned()
        .collect();
    align(&rows)
}

fn plot(
    options: &Options,
    benchmark: &Benchmark,
    report: &Report,
    machine: &Machine,
    several: bool,
) -> Result<(), String> {
    let Some(file) = &options.plot else {
        return Ok(());
    };
    let file = if several {
        named(file, benchmark.name)
    } else {
        file.clone()
    };
    let chart = Chart {
        title: benchmark.name.into(),
        about: format!("{}; {}", benchmark.about, report.notes.join("; ")),
        machine: machine.line(),
        panels: report.panels.iter().map(panel).collect(),
    };
    fs::write(&file, chart.svg()).map_err(|e| format!("{}: {e}", file.display()))?;
    if !options.prints_json() {
        println!("plot: {}\n", file.display());
    }
    Ok(())
}

fn panel(panel: &report::Panel) -> Panel {
    let curve = |(index, (name, points)): (usize, &report::Curve)| Curve {
        name: name.clone(),
        // The first look is the floor's.
        look: index + 1,
        points: points.clone(),
        stopped: None,
    };
    let curves = panel.curves.iter().enumerate().map(curve).collect();
    let (title, x_label, y_label) = (&panel.title, &panel.x_label, &panel.y_label);
    Panel::of_curves(title.clone(), x_label.clone(), y_label.clone(), curves)
}

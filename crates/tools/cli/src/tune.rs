//! `weft tune`: measures each collective by every algorithm on this machine, finds the prices by which the library
//! chooses best, and writes them where the library looks for them.

mod groups;
mod measured;
mod options;
mod shown;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use weft_prices::{File, Group, Lists, Machine, Origin, Prices, own_file};
use weft_tune::{PLAIN, Point, fit, judge, read, summary};

use crate::installation::Installation;
use crate::machine;
pub use options::Options;

use groups::Groups;

pub fn run(options: &Options) -> ExitCode {
    match tuned(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("weft tune: {why}");
            ExitCode::FAILURE
        }
    }
}

fn tuned(options: &Options) -> Result<(), String> {
    let installation = Installation::find()?;
    let now = machine::Machine::read(installation.tree.as_deref());
    println!("{}", now.line());
    let path = match options.dry_run {
        true => None,
        false => Some(path(options)?),
    };
    let measured = match options.from[..] {
        [] => measured::measured(options, &installation)?,
        _ => read_all(options, path.is_some())?,
    };
    let mut lists = Vec::new();
    for (group, points) in &measured.0 {
        let built_in = Lists::BUILT_IN;
        let built_in = built_in.of(*group);
        let found = fit(points, if options.plain { &PLAIN } else { built_in });
        print!("\n{}", shown::table(*group, &judge(points, &found)));
        println!("  {}", compared(points, &found, built_in));
        lists.push((*group, found));
    }
    let file = File::new(machine_of_file()?, origin(&now), lists);
    match path {
        None => print!("\n{file}"),
        Some(path) => {
            write(&path, &file.to_string()).map_err(|why| format!("{}: {why}", path.display()))?;
            println!("\nprices: {}", path.display());
        }
    }
    Ok(())
}

fn machine_of_file() -> Result<Machine, String> {
    Machine::here()
        .ok_or_else(|| "the kernel does not tell what this machine is (/proc, /sys)".into())
}

fn path(options: &Options) -> Result<PathBuf, String> {
    match &options.output {
        Some(path) => Ok(path.clone()),
        None => own_file().ok_or_else(|| {
            "neither XDG_CACHE_HOME nor HOME names a folder to write to; --output names a file"
                .into()
        }),
    }
}

/// The same line for all that is made on one day by one program.
fn origin(now: &machine::Machine) -> Origin {
    let version = env!("CARGO_PKG_VERSION");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A field is one line.
    let command = format!("weft {}", arguments.join(" ")).replace(char::is_control, " ");
    Origin {
        version: match &now.commit {
            Some(commit) => format!("{version}, commit {commit}"),
            None => version.to_owned(),
        },
        date: now.date.clone(),
        command,
    }
}

fn compared(points: &[Point], found: &Prices, built_in: &Prices) -> String {
    let of = |prices| {
        let summary = summary(&judge(points, prices));
        format!(
            "{:.3} of the fastest on the mean, at most {:.2}",
            summary.mean, summary.most
        )
    };
    format!(
        "by these prices {}; by the built-in ones {}",
        of(found),
        of(built_in)
    )
}

/// What tables tell; those of another machine only if nothing is written.
fn read_all(options: &Options, is_written: bool) -> Result<Groups, String> {
    let here = machine::Machine::read(None);
    let own = format!(
        "{}, {} cores, Linux {},",
        here.processor, here.cores, here.kernel
    );
    let mut all = Groups::default();
    for path in &options.from {
        let at = |why: String| format!("{}: {why}", path.display());
        let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
        if is_written && !text.lines().any(|line| line.starts_with(&own)) {
            return Err(at(format!(
                "it is not of this machine (`{own} ...`); --dry-run shows its prices"
            )));
        }
        for point in read(&text).map_err(at)? {
            let group = match point.shared_cores {
                Some(_) => Group::SharedCores,
                None if options.near => Group::Near,
                None => Group::Far,
            };
            all.add(group, point);
        }
    }
    Ok(all)
}

/// In one step: a job that starts meanwhile reads the old file, or the new one.
fn write(path: &Path, text: &str) -> Result<(), std::io::Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    fs::write(&beside, text)?;
    let moved = fs::rename(&beside, path);
    moved.inspect_err(|_| {
        // What was written beside it is of no use to anybody; if it stays, it does no harm.
        let _ = fs::remove_file(&beside);
    })
}

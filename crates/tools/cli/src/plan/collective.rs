//! `weft plan collective`: what the library does between many hosts, how long that takes by LogGOPS, and the field's
//! other algorithms beside it; or each of its own algorithms on one host.

mod found;
mod one_host;
mod options;
mod table;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use found::{Found, Row};
pub use options::Options;
use weft_goal::Machine;
use weft_plan::competitors::{self, Setting};
use weft_plan::{Estimate, Library, MOST_OPERATIONS, Plan, schedule};

use crate::bench::progress::Progress;
use crate::bench::stats::binary;
use crate::output;

pub fn run(options: &Options) -> ExitCode {
    let answered = match options.hosts {
        1 => one_host::answer(options),
        _ => answer(options),
    };
    match answered {
        Ok(text) => {
            output::write("weft plan collective", &text);
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("weft plan collective: {why}");
            ExitCode::FAILURE
        }
    }
}

fn answer(options: &Options) -> Result<String, String> {
    weft_plan::choose_by(&options.machine(), options.combine);
    let mut progress = Progress::new(options.json);
    let mut rows = Vec::new();
    for &bytes in options.lengths() {
        rows.push(row(options, bytes, &mut progress)?);
    }
    progress.clear();
    Ok(match options.json {
        true => format!("{:#}\n", table::to_json(options, &rows)),
        false => table::to_text(options, &rows),
    })
}

fn row(options: &Options, bytes: u64, progress: &mut Progress) -> Result<Row, String> {
    let (machine, collective) = (options.machine(), options.collective);
    progress.show(&format!("{collective} of {}: ours", binary(bytes)));
    let library = Library::new(collective, options.shape(), bytes, machine, options.combine);
    let library = match library {
        Ok(library) => library,
        Err(found) => {
            return Ok(Row {
                bytes,
                found: Err(found),
            });
        }
    };
    let plan = library.plan();
    let (ours, within_ns) = (
        estimate(&plan, &machine, progress, "ours"),
        library.within_ns(),
    );
    if let Some(file) = &options.goal {
        let file = match options.lengths().len() {
            1 => file.clone(),
            _ => with_length(file, bytes),
        };
        write_goal(&file, &plan).map_err(|why| format!("{}: {why}", file.display()))?;
    }
    let host_bytes = options.bytes_a_host(bytes);
    let setting = Setting::new(plan.hosts, host_bytes, &machine, options.combine);
    let others = competitors::all(collective, setting).into_iter();
    let others = others.map(|one| {
        let mut found = estimate(&one.plan(), &machine, progress, one.name);
        found.ns += within_ns;
        (one.name, found)
    });
    Ok(Row {
        bytes,
        found: Ok(Found {
            others: others.collect(),
            algorithm: library.algorithm(),
            ours,
            within_ns,
        }),
    })
}

/// Every so many hosts it is said how far the recording is.
const HOSTS_A_LINE: usize = 1 << 12;

fn estimate(plan: &Plan<'_>, machine: &Machine, progress: &mut Progress, what: &str) -> Estimate {
    plan.estimate(machine, &mut |done| {
        if done.is_multiple_of(HOSTS_A_LINE) {
            progress.show(&format!("{what}: {done} of {} hosts", plan.hosts));
        }
    })
}

/// `plan.goal` as `plan-64K.goal`.
fn with_length(file: &Path, bytes: u64) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut name = format!("{stem}-{}", binary(bytes));
    if let Some(extension) = file.extension() {
        name += &format!(".{}", extension.to_string_lossy());
    }
    file.with_file_name(name)
}

fn write_goal(file: &Path, plan: &Plan<'_>) -> Result<(), String> {
    let operations = plan.operations();
    if operations > MOST_OPERATIONS {
        return Err(format!(
            "{operations} operations are more than the {MOST_OPERATIONS} that are written"
        ));
    }
    let all = schedule(plan, &mut |_| {});
    let write = || {
        let mut out = BufWriter::new(File::create(file)?);
        weft_goal::write(&all, &mut out)?;
        out.flush()
    };
    write().map_err(|error: std::io::Error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_lengths() {
        let named = |file: &str| with_length(Path::new(file), 65536).display().to_string();
        assert_eq!(named("a/b.goal"), "a/b-64K.goal");
        assert_eq!(named("b"), "b-64K");
    }
}

//! `weft softrdma stat`: once, or again and again.

use std::env;
use std::io::{self, ErrorKind, Write};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use weft_softrdma::stat::{self, Process};

use super::failure::Failure;
use super::report::{self, Row};
use super::table;

#[derive(Args, Debug)]
pub struct Options {
    /// The fabric to look at [default: SOFTRDMA_FABRIC, else "default"]
    #[arg(long, value_name = "NAME")]
    fabric: Option<String>,
    /// Only this process
    #[arg(long)]
    pid: Option<u32>,
    /// Everything as JSON; with --watch a line each time
    #[arg(long)]
    json: bool,
    /// Again every so many seconds, with what was done since then a second
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1", value_parser = seconds)]
    watch: Option<Duration>,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let fabric = options.fabric.clone().unwrap_or_else(default_fabric);
    match options.watch {
        None => write(&once(options, &fabric)?),
        Some(interval) => watch(options, &fabric, interval),
    }
}

fn default_fabric() -> String {
    let named = env::var("SOFTRDMA_FABRIC").ok();
    named
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "default".to_owned())
}

fn once(options: &Options, fabric: &str) -> Result<String, Failure> {
    let processes = read(options, fabric)?;
    Ok(if options.json {
        format!("{:#}\n", report::json(fabric, &processes))
    } else {
        let rows = report::rows(&processes);
        let mut text = table::resources(fabric, &rows);
        if !rows.is_empty() {
            text.push('\n');
            text.push_str(&table::activity(&rows));
        }
        text
    })
}

fn watch(options: &Options, fabric: &str, interval: Duration) -> Result<(), Failure> {
    let mut before: Option<(Instant, Vec<Row>)> = None;
    loop {
        let now = Instant::now();
        let processes = read(options, fabric)?;
        if options.json {
            write(&format!("{}\n", report::json(fabric, &processes)))?;
        } else {
            let rows = report::rows(&processes);
            let rates = before.map(|(then, old)| table::rates(&old, &rows, now - then));
            let text = table::resources(fabric, &rows);
            // The cursor goes home and the rest of the screen is cleared, without flicker.
            write(&format!(
                "\x1b[H\x1b[J{text}\n{}",
                rates.unwrap_or_default()
            ))?;
            before = Some((now, rows));
        }
        thread::sleep(interval);
    }
}

fn read(options: &Options, fabric: &str) -> Result<Vec<Process>, Failure> {
    let mut processes = stat::processes(fabric)
        .map_err(|error| Failure::other(format!("fabric {fabric}: {error}")))?;
    if let Some(pid) = options.pid {
        processes.retain(|process| process.pid == pid);
        if processes.is_empty() {
            let text = format!("process {pid} is not in fabric {fabric}");
            return Err(Failure::other(text));
        }
    }
    Ok(processes)
}

/// A reader that has gone away, as `head` does, is no failure.
fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        done => done.map_err(Failure::other),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.05..=86400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("a number of seconds from 0.05 to 86400".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "x", "NaN", "inf", "100000"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}

//! `weft plan goal`: how long the schedule in a GOAL file takes.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use weft_goal::{Fold, Schedule, Times, simulate};

use super::network;
use crate::output::{self, duration};

#[derive(Args, Debug)]
pub struct Options {
    /// The file
    file: PathBuf,
    /// Ranks on each host, in their order
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=4096))]
    ppn: u32,
    /// The same as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: network::Parameters,
}

pub fn run(options: &Options) -> ExitCode {
    match answer(options) {
        Ok(text) => {
            output::write("weft plan goal", &text);
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("weft plan goal: {}: {why}", options.file.display());
            ExitCode::FAILURE
        }
    }
}

fn answer(options: &Options) -> Result<String, String> {
    let file = File::open(&options.file).map_err(|error| error.to_string())?;
    let schedule = weft_goal::read(BufReader::new(file)).map_err(|error| error.to_string())?;
    let machine = options.network.machine(options.ppn);
    let times = simulate(&schedule, &machine, Fold::None).map_err(|error| error.to_string())?;
    Ok(match options.json {
        true => format!("{:#}\n", to_json(&schedule, &times)),
        false => to_text(&schedule, &times),
    })
}

fn operations(schedule: &Schedule) -> usize {
    let counts = schedule.ranks.iter().map(|rank| rank.operations.len());
    counts.sum()
}

/// When a rank's last operation was over.
fn end_of(over: &[f64]) -> f64 {
    over.iter().copied().fold(0.0, f64::max)
}

fn to_json(schedule: &Schedule, times: &Times) -> serde_json::Value {
    let ends = times.over_ns.iter().map(|over| end_of(over));
    json!({
        "ranks": schedule.ranks.len(),
        "operations": operations(schedule),
        "ns": times.end_ns,
        "ns_of_ranks": ends.collect::<Vec<_>>(),
        "unreceived": times.unreceived,
    })
}

fn to_text(schedule: &Schedule, times: &Times) -> String {
    let ends = times.over_ns.iter().map(|over| end_of(over));
    let first = ends.fold(f64::INFINITY, f64::min).min(times.end_ns);
    let mut text = format!(
        "{} ranks, {} operations: {} (the first rank is done after {})\n",
        schedule.ranks.len(),
        operations(schedule),
        duration(times.end_ns),
        duration(first)
    );
    if times.unreceived > 0 {
        text += &format!("{} messages are never received\n", times.unreceived);
    }
    text
}

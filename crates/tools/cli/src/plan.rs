//! `weft plan`: what scalable endpoints take of an adapter, computed without one; what a job of any size costs
//! (`job`); how long collectives take between many hosts (`collective`), and schedules of messages (`goal`).

mod collective;
mod goal;
pub mod job;
mod network;
mod table;

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use table::Row;
use weft_endpoint::{Adapter, Bound, Category, Choice, Layout, Resources, Verdict, choose_layout};

use crate::output;

/// Exits with 1 if nothing fits.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    other: Option<Other>,
    /// Threads of a rank
    #[arg(long, value_name = "N", default_value_t = 16)]
    threads: usize,
    /// Ranks on the node
    #[arg(long, value_name = "N", default_value_t = 1)]
    ranks: u64,
    /// Only this category: mpi-everywhere, 2xdynamic, dynamic, shared-dynamic, static or mpi-threads
    #[arg(long, value_name = "NAME")]
    category: Option<Category>,
    /// Queue pairs of a thread, on one completion queue
    #[arg(long, value_name = "N", default_value_t = 1)]
    queue_pairs: usize,
    /// Whose rules give UARs to contexts and queue pairs
    #[arg(long, value_enum, default_value = "paper")]
    driver: Driver,
    /// UAR pages of the adapter [default: 8192]
    #[arg(long, value_name = "N")]
    uars: Option<u32>,
    /// Those that no program gets [default: 29]
    #[arg(long, value_name = "N")]
    reserved_uars: Option<u32>,
    /// uUARs of a context that are not thread domains', MLX5_TOTAL_UUARS [default: 16]
    #[arg(long, value_name = "N")]
    total_uuars: Option<u32>,
    /// Those of them with one queue pair each, MLX5_NUM_LOW_LAT_UUARS [default: 4, and all but 12]
    #[arg(long, value_name = "N")]
    low_latency_uuars: Option<u32>,
    /// Memory that objects may take on the node
    #[arg(long, value_name = "MIB", value_parser = mebibytes)]
    memory: Option<u64>,
    /// uUARs that may be wasted, in per cent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    waste: Option<f64>,
    /// The same as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Other {
    /// Show what a job of a given size costs a rank and mpiexec, by filling their tables
    Job(job::Options),
    /// Show how long a collective takes between many hosts, simulated, beside the field's algorithms
    Collective(Box<collective::Options>),
    /// Simulate the schedule of messages in a GOAL file by LogGOPS
    Goal(Box<goal::Options>),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Driver {
    /// The paper's ConnectX-4: a context has its uUARs from the start
    Paper,
    /// rdma-core from 29 on: uUARs come with the queue pairs
    Today,
}

pub fn run(options: &Options) -> ExitCode {
    match &options.other {
        Some(Other::Job(options)) => return job::run(options),
        Some(Other::Collective(options)) => return collective::run(options),
        Some(Other::Goal(options)) => return goal::run(options),
        None => {}
    }
    match answer(options) {
        Ok((text, fits)) => {
            output::write("weft plan", &text);
            if fits {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(text) => {
            eprintln!("weft plan: {text}");
            ExitCode::from(2)
        }
    }
}

/// What is printed, and whether anything fits.
fn answer(options: &Options) -> Result<(String, bool), String> {
    let adapter = adapter(options);
    let bound = Bound {
        bytes: options.memory,
        waste: options.waste,
    };
    let layout = |category: Category| Layout {
        queue_pairs_each: options.queue_pairs,
        ..category.layout(options.threads)
    };
    let choice = choose_layout(layout, options.ranks, &adapter, &bound);
    let choice = choice.map_err(|error| error.to_string())?;
    let rows = rows(&choice, options.category);
    let fits = rows.iter().any(|row| row.verdict.refusals.is_empty());
    let text = if options.json {
        format!("{:#}\n", to_json(options, &adapter, &choice, &rows))
    } else {
        let table = format!("{}{}", head(options, &adapter), table::render(&rows));
        match rows[..] {
            [Row { verdict, .. }] => format!("{table}\n{verdict}\n"),
            _ => format!("{table}\n{choice}\n"),
        }
    };
    Ok((text, fits))
}

/// In the papers' order.
fn rows(choice: &Choice, only: Option<Category>) -> Vec<Row<'_>> {
    let find = |category| choice.verdicts.iter().find(|v| v.category == category);
    let everywhere = find(Category::MpiEverywhere).map_or(0, |v| v.plan.node.hardware.uars());
    let row = |verdict: &'_ Verdict| {
        let uars = verdict.plan.node.hardware.uars();
        (everywhere > 0).then(|| 100.0 * uars as f64 / everywhere as f64)
    };
    Category::ALL
        .into_iter()
        .filter(|category| only.is_none_or(|only| only == *category))
        .filter_map(find)
        .map(|verdict| Row {
            verdict,
            of_everywhere: row(verdict),
        })
        .collect()
}

fn adapter(options: &Options) -> Adapter {
    let driver = match options.driver {
        Driver::Paper => Adapter::CONNECTX4,
        Driver::Today => Adapter::TODAY,
    };
    let total_uuars = options.total_uuars.unwrap_or(driver.total_uuars);
    // As the driver raises it.
    let least = total_uuars.saturating_sub(12);
    let low_latency = options.low_latency_uuars;
    Adapter {
        uars: options.uars.unwrap_or(driver.uars),
        reserved_uars: options.reserved_uars.unwrap_or(driver.reserved_uars),
        total_uuars,
        low_latency_uuars: low_latency.unwrap_or(driver.low_latency_uuars).max(least),
        ..driver
    }
}

fn head(options: &Options, adapter: &Adapter) -> String {
    let plural = |count: u64, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    format!(
        "{} of {}, {} each; {} UARs, of which {} are the system's\n",
        plural(options.ranks, "rank"),
        plural(options.threads as u64, "thread"),
        plural(options.queue_pairs as u64, "queue pair"),
        adapter.uars,
        adapter.reserved_uars
    )
}

fn to_json(options: &Options, adapter: &Adapter, choice: &Choice, rows: &[Row<'_>]) -> Value {
    let categories: Vec<Value> = rows.iter().map(|row| row_json(row)).collect();
    let mut answer = json!({
        "threads": options.threads,
        "ranks": options.ranks,
        "queue_pairs_each": options.queue_pairs,
        "adapter": adapter,
        "memory_bound_bytes": options.memory,
        "waste_bound_percent": options.waste.map(|waste| 100.0 * waste),
        "categories": categories,
    });
    if options.category.is_none() {
        answer["choice"] = json!(choice.category);
        answer["why"] = json!(choice.to_string());
    }
    answer
}

fn row_json(row: &Row<'_>) -> Value {
    let Verdict {
        category,
        plan,
        refusals,
    } = row.verdict;
    let refusals: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    json!({
        "category": category,
        "fits": refusals.is_empty(),
        "refusals": refusals,
        "rank": resources_json(&plan.rank),
        "node": resources_json(&plan.node),
        "node_bytes": plan.bytes,
        "uars_percent_of_mpi_everywhere": row.of_everywhere,
        "most_ranks": plan.most_ranks,
        "paper_rate_percent": category.measured_rate_percent(),
    })
}

fn resources_json(resources: &Resources) -> Value {
    let Resources { objects, hardware } = resources;
    json!({
        "contexts": objects.contexts,
        "pds": objects.protection_domains,
        "mrs": objects.memory_regions,
        "qps": objects.queue_pairs,
        "cqs": objects.completion_queues,
        "tds_level_1": objects.thread_domains_level_1,
        "tds_level_2": objects.thread_domains_level_2,
        "uars": hardware.uars(),
        "static_uars": hardware.static_uars,
        "dynamic_uars": hardware.dynamic_uars,
        "uuars": hardware.uuars(),
        "static_uuars": hardware.static_uuars,
        "dynamic_uuars": hardware.dynamic_uuars,
        "used_uuars": hardware.used_uuars,
        "wasted_uuars": hardware.wasted_uuars(),
    })
}

fn mebibytes(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(mebibytes) if (0.0..=1e9).contains(&mebibytes) => {
            Ok((mebibytes * 1024.0 * 1024.0) as u64)
        }
        _ => Err("a number of MiB".to_owned()),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a number from 0 to 100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        let all = ["plan"].iter().chain(arguments);
        Command::try_parse_from(all).map(|command| command.options)
    }

    fn plan(arguments: &[&str]) -> (String, bool) {
        answer(&parse(arguments).unwrap()).unwrap()
    }

    fn json_of(arguments: &[&str]) -> Value {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&plan(&all).0).unwrap()
    }

    #[test]
    fn the_papers_table() {
        let (text, fits) = plan(&[]);
        assert!(fits);
        let words = |name: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().map(str::to_owned).collect()
        };
        let expected = "2xdynamic 1 32/0 32 32 40 80 31.25 32 48 3107 KiB 204";
        assert_eq!(words("2xdynamic").join(" "), expected);
        assert_eq!(words("mpi-everywhere")[7], "100");
        assert!(text.contains("\n2xdynamic: the fastest that fits"));
    }

    #[test]
    fn json_has_all_categories_and_the_choice() {
        let all = json_of(&["--memory", "2"]);
        assert_eq!(all["choice"], "dynamic");
        let categories = all["categories"].as_array().unwrap();
        assert_eq!(categories.len(), 6);
        let percent: Vec<f64> = (categories.iter())
            .map(|c| c["uars_percent_of_mpi_everywhere"].as_f64().unwrap())
            .collect();
        assert_eq!(percent, [100.0, 31.25, 18.75, 12.5, 6.25, 6.25]);
        assert_eq!(categories[1]["fits"], false);
        assert_eq!(categories[1]["node"]["wasted_uuars"], 48);
    }

    #[test]
    fn one_category_and_other_adapters() {
        let one = json_of(&["--category", "dynamic", "--ranks", "4", "--threads", "4"]);
        assert_eq!(one["categories"].as_array().unwrap().len(), 1);
        assert_eq!(one["categories"][0]["node"]["uars"], 4 * (8 + 4));
        assert!(one.get("choice").is_none());
        let today = json_of(&["--driver", "today"]);
        assert_eq!(today["categories"][1]["node"]["uars"], 33);
        let small = json_of(&["--uars", "129", "--category", "mpi-everywhere"]);
        assert_eq!(small["categories"][0]["fits"], false);
        let wide = json_of(&["--total-uuars", "32", "--category", "static"]);
        assert_eq!(wide["adapter"]["low_latency_uuars"], 20);
    }

    #[test]
    fn what_does_not_fit_says_why_and_is_a_failure() {
        let (text, fits) = plan(&["--category", "mpi-everywhere", "--ranks", "64"]);
        assert!(!fits);
        assert!(text.contains("8192 UARs needed, the adapter has 8163"));
        assert!(!plan(&["--waste", "1"]).1);
    }

    #[test]
    fn two_queue_pairs_of_a_thread_share_a_completion_queue() {
        let all = json_of(&["--queue-pairs", "2", "--threads", "1", "--ranks", "16"]);
        let node = &all["categories"][2]["node"];
        assert_eq!((&node["qps"], &node["cqs"]), (&json!(32), &json!(16)));
        assert_eq!(node["uars"], 160);
    }

    #[test]
    fn wrong_numbers_are_refused() {
        for arguments in [
            ["--category", "fast"],
            ["--waste", "101"],
            ["--memory", "-1"],
            ["--memory", "NaN"],
            ["--threads", "x"],
        ] {
            assert!(parse(&arguments).is_err(), "{arguments:?}");
        }
        for arguments in [
            ["--threads", "0"],
            ["--queue-pairs", "0"],
            ["--ranks", "100000"],
            ["--total-uuars", "15"],
            ["--uars", "5"],
        ] {
            let refused = answer(&parse(&arguments).unwrap());
            assert!(refused.is_err(), "{arguments:?}");
        }
    }
}

//! `weft plan job`: what a job of a given shape costs, found out by filling the library's and mpiexec's own tables.
//!
//! For each size a few of the job's ranks are processes of this program that start as ranks of the whole job, by the library's own
//! code, talk to each other on every lane, and tell the memory that this took. mpiexec's side is simulated by its own code.
//! With `--pools` it is what receive pools take of a node's adapter and memory ([`pools`]).

mod launch;
mod pools;
pub mod process;
mod table;

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::output;
use launch::Row;

#[derive(Args, Debug)]
pub struct Options {
    /// Ranks of the job [default: 100000; with --pools 8192]
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    ranks: Option<u32>,
    /// Ranks on each host [default: 64; with --pools 8]
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=4096))]
    ppn: Option<u32>,
    /// Deal the ranks out to the hosts in turn, as mpiexec's `--map-by node`
    #[arg(long, conflicts_with = "pools")]
    dealt: bool,
    #[command(flatten)]
    pools: pools::Options,
    /// The same as JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    fn ranks(&self) -> u32 {
        self.ranks.unwrap_or(100_000)
    }

    fn ppn(&self) -> u32 {
        self.ppn.unwrap_or(64)
    }
}

pub fn run(options: &Options) -> ExitCode {
    match answer(options) {
        Ok(text) => {
            output::write("weft plan job", &text);
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("weft plan job: {why}");
            ExitCode::FAILURE
        }
    }
}

fn answer(options: &Options) -> Result<String, String> {
    if let Some(pools) = options.pools.pools() {
        return pools::answer(
            pools,
            &options.pools,
            (options.ranks, options.ppn),
            options.json,
        );
    }
    let rows = rows(options)?;
    Ok(match options.json {
        true => format!("{:#}\n", to_json(options, &rows)),
        false => table::render(&rows, bytes_a_peer(&rows)),
    })
}

fn rows(options: &Options) -> Result<Vec<Row>, String> {
    let sizes = sizes(options.ranks()).into_iter();
    sizes
        .map(|ranks| launch::start(ranks, options.ppn(), options.dealt))
        .collect()
}

/// The powers of ten below the job's size, from 10 on, and that size.
fn sizes(ranks: u32) -> Vec<u32> {
    let powers = std::iter::successors(Some(10u32), |size| size.checked_mul(10));
    let below = powers.take_while(|size| *size < ranks);
    below.chain([ranks]).collect()
}

/// What each further rank adds to a process, from the first row that has hosts to the last; none if there is one such row at most.
fn bytes_a_peer(rows: &[Row]) -> Option<f64> {
    let first = rows.iter().find(|row| row.hosts > 1)?;
    let last = rows.last().filter(|last| last.ranks > first.ranks)?;
    let more = last.mean_talked_bytes() - first.mean_talked_bytes();
    Some(more / f64::from(last.ranks - first.ranks))
}

fn to_json(options: &Options, rows: &[Row]) -> Value {
    let row = |row: &Row| {
        json!({
            "ranks": row.ranks,
            "hosts": row.hosts,
            "started_bytes": row.started_bytes(),
            "talked_bytes": row.talked_bytes(),
            "lines_of_rank_0": row.lines_of_rank_0,
            "lines_of_a_rank": row.lines_of_a_rank,
            "lines_of_an_agent": row.lines_of_an_agent,
            "frames_of_the_busiest_agent": row.agent.messages,
            "frames_of_mpiexec": row.head.messages,
            "bytes_of_mpiexec": row.head.bytes,
        })
    };
    json!({
        "ppn": options.ppn(),
        "dealt": options.dealt,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "bytes_a_silent_peer": bytes_a_peer(rows),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_powers_of_ten_and_the_size() {
        assert_eq!(sizes(100_000), [10, 100, 1000, 10_000, 100_000]);
        assert_eq!(sizes(12), [10, 12]);
        assert_eq!(sizes(3), [3]);
    }

    #[test]
    fn a_peer_costs_what_more_of_them_add() {
        let row = |ranks, hosts, bytes: u64| Row {
            ranks,
            hosts,
            talked: vec![bytes - 100, bytes + 100],
            ..Row::default()
        };
        let rows = [row(10, 1, 199), row(100, 2, 1000), row(1100, 18, 6000)];
        assert_eq!(bytes_a_peer(&rows), Some(5.0));
        assert_eq!(bytes_a_peer(&rows[..2]), None);
        assert_eq!(bytes_a_peer(&rows[..1]), None);
    }
}

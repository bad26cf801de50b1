//! `weft plan job --pools`: queue pairs and receive memory of a node by size of the job, as the receive pools say, with all of them
//! shared (the paper's B-SRQ) and with all of them over XRC (its X-SRQ); and what mixes of messages make of the buffers.

mod mixes;
mod plot;
mod question;
mod table;

use std::path::PathBuf;

use clap::Args;
use question::{Question, Row};
use serde_json::{Value, json};
use weft_pools::{Account, Pools};

/// As the paper has it: a page for each.
const QUEUE_PAIR_BYTES: u64 = 4096;
/// The paper's 1,024 nodes with 8 ranks each.
const RANKS: u32 = 8192;
const PPN: u32 = 8;

#[derive(Args, Debug)]
#[group(skip)]
pub struct Options {
    /// What receive pools take of a node: TYPE,bytes,count[,low[,credits]]:... with P for each peer, S shared, X over XRC;
    /// `default` for the library's
    #[arg(long, value_name = "SPEC", value_parser = specification)]
    pools: Option<Pools>,
    /// With --pools: what messages use and waste of them; synchronization, halo, particles, graph, transposition or all
    #[arg(long, value_name = "NAME", requires = "pools", value_parser = mixes::Chosen::parse)]
    mix: Option<mixes::Chosen>,
    /// With --pools: memory of a queue pair [default: 4096]
    #[arg(long, value_name = "N", requires = "pools",
        value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    queue_pair_bytes: Option<u64>,
    /// With --pools: the figures as SVG
    #[arg(long, value_name = "FILE", requires = "pools", conflicts_with = "mix")]
    plot: Option<PathBuf>,
}

impl Options {
    pub fn pools(&self) -> Option<&Pools> {
        self.pools.as_ref()
    }
}

fn specification(text: &str) -> Result<Pools, weft_pools::SpecificationError> {
    match text {
        "default" => Ok(Pools::sensible(true)),
        _ => text.parse(),
    }
}

pub fn answer(
    pools: &Pools,
    options: &Options,
    (ranks, ppn): (Option<u32>, Option<u32>),
    is_json: bool,
) -> Result<String, String> {
    if let Some(mixes::Chosen(mixes)) = &options.mix {
        return Ok(mixes::answer(pools, mixes, is_json));
    }
    let question = Question {
        pools,
        ranks: ranks.unwrap_or(RANKS).into(),
        ppn: ppn.unwrap_or(PPN).into(),
        queue_pair_bytes: options.queue_pair_bytes.unwrap_or(QUEUE_PAIR_BYTES),
    };
    let rows = question.rows();
    if let Some(file) = &options.plot {
        std::fs::write(file, plot::chart(&question).svg())
            .map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(match is_json {
        true => format!("{:#}\n", to_json(&question, &rows)),
        false => table::render(&question, &rows),
    })
}

fn to_json(question: &Question<'_>, rows: &[Row]) -> Value {
    let bytes = question.queue_pair_bytes;
    let row = |row: &Row| {
        let [specified, shared, xrc] = row.accounts.each_ref().map(|a| account_json(a, bytes));
        json!({
            "nodes": row.nodes,
            "ranks": row.ranks,
            "node": specified,
            "node_all_shared": shared,
            "node_all_xrc": xrc,
        })
    };
    json!({
        "pools": question.pools.to_string(),
        "ppn": question.ppn,
        "queue_pair_bytes": bytes,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn account_json(account: &Account, queue_pair_bytes: u64) -> Value {
    json!({
        "queue_pairs": account.queue_pairs(),
        "connected_queue_pairs": account.connected_queue_pairs,
        "xrc_send_queue_pairs": account.send_queue_pairs,
        "xrc_receive_queue_pairs": account.receive_queue_pairs,
        "queue_pair_bytes": account.queue_pairs().saturating_mul(queue_pair_bytes),
        "shared_receive_queues": account.shared_receive_queues,
        "buffers": account.buffers,
        "buffer_bytes": account.buffer_bytes,
    })
}

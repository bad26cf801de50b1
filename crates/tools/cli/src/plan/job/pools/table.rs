//! The terminal table of `weft plan job --pools`.

use super::question::{Question, Row, mebibytes};
use crate::output::columns;

type Column = (&'static str, fn(&Row, u64) -> String);

const COLUMNS: [Column; 9] = [
    ("nodes", |row, _| row.nodes.to_string()),
    ("ranks", |row, _| row.ranks.to_string()),
    ("QPs", |row, _| row.accounts[0].queue_pairs().to_string()),
    ("memory", |row, bytes| queue_pair_memory(row, 0, bytes)),
    ("SRQs", |row, _| {
        row.accounts[0].shared_receive_queues.to_string()
    }),
    ("buffers", |row, _| mebibytes(row.accounts[0].buffer_bytes)),
    ("all S", |row, bytes| queue_pair_memory(row, 1, bytes)),
    ("all X", |row, bytes| queue_pair_memory(row, 2, bytes)),
    ("S/X", |row, _| ratio(row)),
];

fn queue_pair_memory(row: &Row, which: usize, bytes: u64) -> String {
    mebibytes(row.accounts[which].queue_pairs().saturating_mul(bytes))
}

fn ratio(row: &Row) -> String {
    let [_, shared, xrc] = row.accounts.each_ref().map(|a| a.queue_pairs());
    match xrc {
        0 => "-".to_owned(),
        _ => format!("{:.1}", shared as f64 / xrc as f64),
    }
}

/// A line for each size of the job.
pub fn render(question: &Question<'_>, rows: &[Row]) -> String {
    let bytes = question.queue_pair_bytes;
    let mut lines = vec![COLUMNS.map(|(title, _)| title.to_owned())];
    lines.extend((rows.iter()).map(|row| COLUMNS.map(|(_, value)| value(row, bytes))));
    format!(
        "a node of {} ranks, receive pools {}\n{}
QPs, memory: queue pairs of the node once all ranks have talked to all, at {bytes} bytes each
SRQs, buffers: shared receive queues, and receive buffers
all S, all X: memory of the queue pairs if all pools were shared behind connections, or over XRC; S/X: by how much fewer\n",
        question.ppn,
        question.pools,
        columns(&lines)
    )
}

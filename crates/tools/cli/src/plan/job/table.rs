//! The terminal table of `weft plan job`.

use super::launch::Row;
use crate::output::columns;

type Column = (&'static str, fn(&Row) -> String);

const COLUMNS: [Column; 9] = [
    ("ranks", |row| row.ranks.to_string()),
    ("hosts", |row| row.hosts.to_string()),
    ("started", |row| kibibytes(row.started_bytes())),
    ("talked", |row| kibibytes(row.talked_bytes())),
    ("rank 0", |row| row.lines_of_rank_0.to_string()),
    ("other", |row| row.lines_of_a_rank.to_string()),
    ("agent", |row| row.lines_of_an_agent.to_string()),
    ("frames", |row| {
        format!("{}/{}", row.agent.messages, row.head.messages)
    }),
    ("mpiexec", |row| kibibytes(row.head.bytes)),
];

const LEGEND: &str = "
started, talked: memory that a rank takes once MPI_Init returns, and once it has talked on every lane (the largest of those started)
rank 0, other, agent: PMI lines, both ways, of a rank and of one host's agent with all its ranks
frames, mpiexec: messages of the busiest agent and of mpiexec between hosts, and mpiexec's bytes
";

fn kibibytes(bytes: u64) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

/// A line for each size of the job, and what each further peer costs, if that is known.
pub fn render(rows: &[Row], bytes_a_peer: Option<f64>) -> String {
    let mut lines = vec![COLUMNS.map(|(title, _)| title.to_owned())];
    lines.extend(rows.iter().map(|row| COLUMNS.map(|(_, value)| value(row))));
    let mut text = columns(&lines);
    text += LEGEND;
    if let Some(bytes) = bytes_a_peer {
        text += &format!("a silent peer: {bytes:.2} bytes of a rank's memory\n");
    }
    text
}

//! The terminal table of `weft plan`: what all ranks of the node take.

use weft_endpoint::{Hardware, Objects, Verdict};

use crate::output::columns;

type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 12] = [
    ("category", |row| row.verdict.category.to_string()),
    ("CTXs", |row| objects(row).contexts.to_string()),
    ("TDs 1/2", |row| {
        let (one, two) = (
            objects(row).thread_domains_level_1,
            objects(row).thread_domains_level_2,
        );
        format!("{one}/{two}")
    }),
    ("QPs", |row| objects(row).queue_pairs.to_string()),
    ("CQs", |row| objects(row).completion_queues.to_string()),
    ("UARs", |row| hardware(row).uars().to_string()),
    ("uUARs", |row| hardware(row).uuars().to_string()),
    ("% of everywhere", |row| {
        row.of_everywhere.map_or("-".into(), short)
    }),
    ("used", |row| hardware(row).used_uuars.to_string()),
    ("wasted", |row| hardware(row).wasted_uuars().to_string()),
    ("memory", |row| {
        format!("{} KiB", row.verdict.plan.bytes.div_ceil(1024))
    }),
    ("most ranks", |row| row.verdict.plan.most_ranks.to_string()),
];

fn objects<'a>(row: &'a Row<'_>) -> &'a Objects {
    &row.verdict.plan.node.objects
}

fn hardware<'a>(row: &'a Row<'_>) -> &'a Hardware {
    &row.verdict.plan.node.hardware
}

/// Up to two places, without zeros that say nothing.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A line for each category.
pub fn render(rows: &[Row<'_>]) -> String {
    let mut lines = vec![COLUMNS.map(|(title, _)| title.to_owned())];
    lines.extend(rows.iter().map(|row| COLUMNS.map(|(_, value)| value(row))));
    columns(&lines)
}

/// A category beside MPI everywhere.
pub struct Row<'a> {
    pub verdict: &'a Verdict,
    /// Its UARs on the node in per cent of MPI everywhere's.
    pub of_everywhere: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_short() {
        assert_eq!(
            [100.0, 31.25, 12.5, 0.0].map(short),
            ["100", "31.25", "12.5", "0"]
        );
    }
}

//! Rates of all divisions side by side, resources of a node for each.

use serde_json::json;

use super::job::{CELL, NODES, STEPS, Variant};
use crate::counters;
use crate::report::{Panel, Report, Table, digits, millions};
use crate::rounds::{Sample, Series};
use weft_endpoint::Category;

/// "16.1": ranks a node and threads a rank.
fn name(variant: &Variant) -> String {
    format!(
        "{}.{}",
        variant.division.ranks / NODES,
        variant.division.threads
    )
}

pub fn report(variants: &[Variant], all: Vec<Vec<Sample>>) -> Report {
    let all: Vec<Series> = all.into_iter().map(Series).collect();
    let a_row = Category::ALL.len();
    let rows: Vec<(&[Variant], &[Series])> = variants
        .chunks_exact(a_row)
        .zip(all.chunks_exact(a_row))
        .collect();
    let division = variants[0].division;
    let mut tables = vec![rates(&rows)];
    for (row, series) in &rows {
        let named = row.iter().zip(*series);
        let named: Vec<(String, &Series)> = named
            .map(|(v, s)| (v.category.name().to_string(), s))
            .collect();
        let title = |table: Table| Table {
            title: format!("{}, {}", name(&row[0]), table.title),
            ..table
        };
        tables.extend(counters::resources("a node's", &named).map(title));
        tables.extend(counters::doings("category", &named).map(title));
    }
    let curve = |(at, category): (usize, &Category)| {
        let points = rows
            .iter()
            .map(|(row, series)| (row[0].division.threads as u64, series[at].rate() / 1e6));
        (category.name().to_string(), points.collect())
    };
    let (rows_of_grid, columns) = (division.rows, division.columns);
    Report {
        name: "stencil",
        notes: vec![
            variants[0].placement.line(),
            format!("{NODES} nodes on this machine, a process for each rank"),
            format!("a grid of {rows_of_grid} x {columns}, right to the last bit after {STEPS} steps, every halo byte checked"),
        ],
        panels: vec![Panel {
            title: "stencil: exchange of halos".into(),
            x_label: "threads of a rank".into(),
            y_label: "messages a second (M)".into(),
            curves: Category::ALL.iter().enumerate().map(curve).collect(),
        }],
        points: variants.iter().zip(&all).map(|(v, s)| {
            json!({"category": v.category.name(), "ranks_a_node": v.division.ranks / NODES,
                   "threads_a_rank": v.division.threads, "message_bytes": v.division.message_bytes,
                   "halo_bytes": v.division.columns_of_thread() * CELL, "messages_per_second": s.rate(),
                   "is_exact": true, "pinned": v.placement.is_pinned(), "rounds": s})
        }).collect(),
        tables,
    }
}

fn rates(rows: &[(&[Variant], &[Series])]) -> Table {
    let bytes = rows[0].0[0].division.message_bytes;
    let title = format!("halo messages of {bytes} B, Mmsg/s and per cent of MPI everywhere");
    let mut table = Table::new(title, &["ranks.threads"]);
    for category in Category::ALL {
        table
            .header
            .extend([category.name().to_string(), "%".into()]);
    }
    for (row, series) in rows {
        let mut cells = vec![name(&row[0])];
        for own in *series {
            cells.push(millions(own.rate()));
            cells.push(digits(100.0 * own.rate() / series[0].rate()));
        }
        table.rows.push(cells);
    }
    table
}

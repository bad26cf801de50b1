//! What the prices choose, beside what was measured.

use weft_prices::Group;
use weft_tune::Judged;

use crate::bench::stats::{binary, three_digits};
use crate::output::align;

/// A line for each point.
pub fn table(group: Group, judged: &[Judged]) -> String {
    let header = [
        "operation",
        "ranks",
        "bytes",
        "chosen",
        "us",
        "fastest",
        "us",
        "ratio",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for one in judged {
        let names = one.point.operation.algorithms();
        let us = |ns: f64| three_digits(ns / 1e3);
        rows.push(vec![
            one.point.operation.operation.to_owned(),
            one.point.ranks.to_string(),
            binary(one.point.bytes as u64),
            names[one.chosen.number].clone(),
            us(one.chosen.measured_ns),
            names[one.fastest.number].clone(),
            us(one.fastest.measured_ns),
            format!("{:.2}", one.ratio()),
        ]);
    }
    format!("{}\n{}", heading(group), align(&rows))
}

fn heading(group: Group) -> &'static str {
    match group {
        Group::Far => "ranks with a core each",
        Group::Near => "ranks whose cores are near each other",
        Group::SharedCores => "ranks that share cores",
        Group::Network | Group::NetworkOfSharedCores => "ranks that share no memory",
    }
}

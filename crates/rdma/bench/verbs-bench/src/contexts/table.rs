//! The paper's four figures as tables and plots.

use serde_json::{Value, json};

use super::job::{Calls, Sample, Shape, UNIT};
use crate::report::{Panel, Report, Table, digits, millions};
use crate::statistics::median;

/// A quantity of a sample.
type Quantity = (&'static str, fn(&Sample) -> f64);

fn rate(sample: &Sample) -> f64 {
    sample.plain.rate()
}

/// Cycles of the whole loop for one send and its completion, without measuring inside.
fn per_completed(sample: &Sample) -> f64 {
    sample.plain.cycles as f64 / sample.plain.completed as f64
}

fn per_post(sample: &Sample) -> f64 {
    sample.measured.posts.mean()
}

fn per_poll(sample: &Sample) -> f64 {
    sample.measured.all_polls().mean()
}

fn completions_per_poll(sample: &Sample) -> f64 {
    sample.measured.completed as f64 / sample.measured.all_polls().count as f64
}

/// Cycles in both calls for one completed send: the paper's Figure 4.
fn aggregate(sample: &Sample) -> f64 {
    let measured = &sample.measured;
    (measured.posts.cycles + measured.all_polls().cycles) as f64 / measured.completed as f64
}

fn over_rounds(samples: &[Sample], of: fn(&Sample) -> f64) -> f64 {
    median(samples.iter().map(of)).unwrap_or(f64::NAN)
}

pub fn report(shapes: &[Shape], all: &[Vec<Sample>]) -> Report {
    let first = &shapes[0];
    Report {
        name: "contexts",
        notes: vec![first.placement.line()],
        tables: vec![rates(shapes, all), polls(shapes, all)],
        panels: panels(shapes, all),
        points: shapes.iter().zip(all).map(|(s, r)| point(s, r)).collect(),
    }
}

fn rates(shapes: &[Shape], all: &[Vec<Sample>]) -> Table {
    let (bytes, depth) = (shapes[0].bytes, shapes[0].depth);
    let columns: [Quantity; 5] = [
        ("per completed send", per_completed),
        ("in post and poll", aggregate),
        ("a post", per_post),
        ("a poll", per_poll),
        ("completions a poll", completions_per_poll),
    ];
    let mut table = Table::new(
        format!("one sender, sends of {bytes} B, depth {depth}: rate in Mmsg/s, times in {UNIT}"),
        &["contexts", "rate", "of 1"],
    );
    table.header.extend(columns.iter().map(|c| c.0.to_string()));
    let base = over_rounds(&all[0], rate);
    for (shape, samples) in shapes.iter().zip(all) {
        let value = over_rounds(samples, rate);
        let mut row = vec![
            shape.contexts.to_string(),
            millions(value),
            format!("{:.2}", value / base),
        ];
        row.extend(columns.iter().map(|c| digits(over_rounds(samples, c.1))));
        table.rows.push(row);
    }
    table
}

/// Polls of all rounds by the completions that they gave, in powers of two.
fn by_completions(samples: &[Sample], depth: usize) -> Vec<(u64, Calls)> {
    let mut classes: Vec<(u64, Calls)> = Vec::new();
    for given in 0..=depth {
        let class = given.checked_next_power_of_two().unwrap_or(given) as u64;
        let class = if given == 0 { 0 } else { class };
        if classes.last().is_none_or(|last| last.0 != class) {
            classes.push((class, Calls::default()));
        }
        for sample in samples {
            if let (Some(last), Some(calls)) =
                (classes.last_mut(), sample.measured.polls.get(given))
            {
                last.1.count += calls.count;
                last.1.cycles += calls.cycles;
            }
        }
    }
    classes
}

fn polls(shapes: &[Shape], all: &[Vec<Sample>]) -> Table {
    let mut table = Table::new(
        format!("{UNIT} in a poll, by the completions that it gives (up to)"),
        &["contexts"],
    );
    for (shape, samples) in shapes.iter().zip(all) {
        let classes = by_completions(samples, shape.depth);
        if table.rows.is_empty() {
            table.header.extend(classes.iter().map(|c| c.0.to_string()));
        }
        let mut row = vec![shape.contexts.to_string()];
        row.extend(classes.iter().map(|(_, calls)| match calls.count {
            0 => "-".into(),
            _ => digits(calls.mean()),
        }));
        table.rows.push(row);
    }
    table
}

fn panels(shapes: &[Shape], all: &[Vec<Sample>]) -> Vec<Panel> {
    let curve = |name: &str, of: fn(&Sample) -> f64| {
        let points = shapes.iter().zip(all);
        let points = points.map(|(s, r)| (s.contexts as u64, over_rounds(r, of)));
        (name.to_string(), points.collect::<Vec<_>>())
    };
    let panel = |title: &str, y_label: &str, curves| Panel {
        title: title.into(),
        x_label: "contexts".into(),
        y_label: y_label.into(),
        curves,
    };
    vec![
        panel(
            "message rate",
            "sends a second (M)",
            vec![curve("one sender", |s| rate(s) / 1e6)],
        ),
        panel(
            "cost of a completed send",
            UNIT,
            vec![
                curve("whole loop", per_completed),
                curve("in post and poll", aggregate),
                curve("a post", per_post),
                curve("a poll", per_poll),
            ],
        ),
    ]
}

fn point(shape: &Shape, samples: &[Sample]) -> Value {
    json!({
        "contexts": shape.contexts, "depth": shape.depth, "bytes": shape.bytes, "unit": UNIT,
        "messages_per_second": over_rounds(samples, rate),
        "per_completed_send": over_rounds(samples, per_completed),
        "in_post_and_poll": over_rounds(samples, aggregate),
        "per_post": over_rounds(samples, per_post),
        "per_poll": over_rounds(samples, per_poll),
        "completions_per_poll": over_rounds(samples, completions_per_poll),
        "rounds": samples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contexts::Tally;
    use crate::pins::Placement;

    #[test]
    fn rates_and_costs_are_what_was_counted() {
        let mut polls = vec![Calls::default(); 5];
        polls[0] = Calls {
            count: 2,
            cycles: 20,
        };
        polls[3] = Calls {
            count: 2,
            cycles: 600,
        };
        polls[4] = Calls {
            count: 1,
            cycles: 400,
        };
        let tally = Tally {
            completed: 10,
            seconds: 5e-6,
            cycles: 5000,
            posts: Calls {
                count: 10,
                cycles: 1000,
            },
            polls,
        };
        let sample = Sample {
            plain: tally.clone(),
            measured: tally,
        };
        let shape = Shape {
            contexts: 2,
            depth: 4,
            bytes: 2,
            placement: Placement::of(2, &[]),
        };
        let report = report(&[shape], &[vec![sample]]);
        assert_eq!(
            report.tables[0].rows,
            [["2", "2.00", "1.00", "500", "202", "100", "204", "2.00"]]
        );
        assert_eq!(report.tables[1].header, ["contexts", "0", "1", "2", "4"]);
        assert_eq!(report.tables[1].rows, [["2", "10.0", "-", "-", "333"]]);
    }
}

//! `weft bench collectives --tune`: each collective by every algorithm that it has, beside what its table chooses.

use super::job::{self, End};
use super::library::{Layout, Library};
use super::library_round::patience;
use super::plan::{Failure, Plan, list};
use super::record::Line;
use super::rounds::{self, Progress};
use super::stats::{binary, median, three_digits};
use super::table::align;

/// The column of what the library chooses by itself.
const TABLE: &str = "table";

/// An operation's medians, a row for each algorithm.
struct Operation {
    name: String,
    /// In the order in which they were measured; the table's choice first.
    algorithms: Vec<Algorithm>,
}

struct Algorithm {
    name: String,
    /// Of each point, the medians of all rounds.
    medians: Vec<Vec<f64>>,
}

impl Algorithm {
    fn value(&self, point: usize) -> Option<f64> {
        median(&self.medians[point])
    }
}

/// Measures; the program is `collective-tune`, whose points are those of the plan.
pub fn run(plan: &Plan, library: &Library, progress: Progress) -> Result<String, Failure> {
    progress("compiling collective-tune");
    let program = rounds::compile(plan, library)?;
    let mut operations = Vec::new();
    for round in 0..plan.rounds {
        let layout = Layout {
            ranks: plan.ranks,
            pin: plan.pin.resolve(plan.ranks, plan.cores, false),
            cores: plan.cores,
            hosts: plan.hosts,
        };
        let mut command = library.launcher(layout, &program);
        command.args(["--sizes", &list(&plan.points)]);
        command.args(["--seconds", &plan.seconds.to_string()]);
        let outcome = job::run(command, patience(plan.limit_seconds), |line| {
            if let Some(Line::Point {
                series, x, median, ..
            }) = Line::parse(line)
            {
                progress(&format!(
                    "round {}/{} {series}, {} bytes",
                    round + 1,
                    plan.rounds,
                    binary(x)
                ));
                add(&mut operations, &plan.points, &series, x, median);
            }
        })?;
        match outcome.end {
            End::Interrupted => return Err(Failure::Interrupted),
            End::Exited(status) if status.success() => {}
            End::Exited(status) => {
                return Err(Failure::Message(format!("{status}\n{}", outcome.complaint)));
            }
            End::Silent => {
                let limit = plan.limit_seconds;
                return Err(Failure::Message(format!(
                    "nothing came for {limit} s; it was stopped"
                )));
            }
        }
    }
    let tables: Vec<String> = operations.iter().map(|one| render(one, plan)).collect();
    Ok(tables.join("\n"))
}

fn add(operations: &mut Vec<Operation>, points: &[u64], series: &str, x: u64, value: f64) {
    let Some((operation, algorithm)) = series.split_once('/') else {
        return;
    };
    let Some(point) = points.iter().position(|&point| point == x) else {
        return;
    };
    let at = operations.iter().position(|one| one.name == operation);
    let at = at.unwrap_or_else(|| {
        operations.push(Operation {
            name: operation.into(),
            algorithms: Vec::new(),
        });
        operations.len() - 1
    });
    let algorithms = &mut operations[at].algorithms;
    let at = algorithms.iter().position(|one| one.name == algorithm);
    let at = at.unwrap_or_else(|| {
        algorithms.push(Algorithm {
            name: algorithm.into(),
            medians: vec![Vec::new(); points.len()],
        });
        algorithms.len() - 1
    });
    algorithms[at].medians[point].push(value);
}

/// A line for each size; at its end the fastest algorithm, and how much longer the table's choice takes.
fn render(operation: &Operation, plan: &Plan) -> String {
    let mut header = vec!["bytes".to_string()];
    header.extend(operation.algorithms.iter().map(|one| one.name.clone()));
    header.extend(["fastest".into(), "table/fastest".into()]);
    let mut rows = vec![header];
    for (at, &bytes) in plan.points.iter().enumerate() {
        let values = operation.algorithms.iter().map(|one| one.value(at));
        let mut row = vec![binary(bytes)];
        row.extend(values.map(|value| value.map_or("-".into(), three_digits)));
        let given = operation.algorithms.iter().filter(|one| one.name != TABLE);
        let fastest = given
            .filter_map(|one| Some((one, one.value(at)?)))
            .min_by(|(_, a), (_, b)| a.total_cmp(b));
        let chosen = operation.algorithms.iter().find(|one| one.name == TABLE);
        let chosen = chosen.and_then(|one| one.value(at));
        row.push(fastest.map_or("-".into(), |(one, _)| one.name.clone()));
        let ratio = fastest.zip(chosen).map(|((_, best), chosen)| chosen / best);
        row.push(ratio.map_or("-".into(), |ratio| format!("{ratio:.2}")));
        rows.push(row);
    }
    let (name, ranks) = (&operation.name, plan.ranks);
    format!(
        "{name} on {ranks} ranks, by algorithm (us, lower is better)\n{}",
        align(&rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rows_of_their_operation() {
        let mut operations = Vec::new();
        let points = [8, 64];
        for (series, x, value) in [
            ("bcast/table", 8, 1.0),
            ("bcast/linear", 8, 2.0),
            ("bcast/linear", 8, 4.0),
            ("bcast/linear", 8, 3.0),
            ("bcast/linear", 64, 5.0),
            ("bcast/linear", 99, 5.0),
            ("reduce/table", 8, 6.0),
            ("nonsense", 8, 7.0),
        ] {
            add(&mut operations, &points, series, x, value);
        }
        let names: Vec<&str> = operations.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["bcast", "reduce"]);
        let linear = &operations[0].algorithms[1];
        assert_eq!((linear.value(0), linear.value(1)), (Some(3.0), Some(5.0)));
        assert_eq!(operations[0].algorithms[0].value(1), None);
    }
}

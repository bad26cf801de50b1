//! What was measured: of each operation each algorithm's medians, point by point.

use crate::bench::stats::{binary, median, three_digits};
use crate::output::align;

/// The column of what the library chooses by itself.
pub const CHOSEN: &str = "chosen";

/// The figures of all operations among the same ranks.
#[derive(Debug, Default)]
pub struct Figures {
    pub operations: Vec<Operation>,
}

/// An operation's medians, a row for each algorithm.
#[derive(Debug)]
pub struct Operation {
    pub name: String,
    /// In the order in which they were measured; what the library chooses first.
    pub algorithms: Vec<Algorithm>,
}

#[derive(Debug)]
pub struct Algorithm {
    pub name: String,
    /// Of each point, the medians of all rounds.
    medians: Vec<Vec<f64>>,
}

impl Algorithm {
    /// Microseconds at a point; none where nothing was measured.
    pub fn value(&self, point: usize) -> Option<f64> {
        median(&self.medians[point])
    }
}

/// The element of that name, made at the end if there is none.
fn named<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = all.iter().position(is_it).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    });
    &mut all[at]
}

impl Figures {
    /// Takes the figure of a series, `OPERATION/ALGORITHM`, at one of the points.
    pub fn add(&mut self, points: &[u64], series: &str, x: u64, value: f64) {
        let Some((operation, algorithm)) = series.split_once('/') else {
            return;
        };
        let Some(point) = points.iter().position(|&point| point == x) else {
            return;
        };
        let make = || Operation {
            name: operation.into(),
            algorithms: Vec::new(),
        };
        let operation = named(&mut self.operations, |one| one.name == operation, make);
        let make = || Algorithm {
            name: algorithm.into(),
            medians: vec![Vec::new(); points.len()],
        };
        let algorithm = named(&mut operation.algorithms, |one| one.name == algorithm, make);
        algorithm.medians[point].push(value);
    }
}

impl Figures {
    /// Microseconds of an operation, as the library calls it, by an algorithm at a point, if they were measured.
    pub fn value(&self, operation: &str, algorithm: &str, point: usize) -> Option<f64> {
        let name = operation.replace('_', "-");
        let operation = self.operations.iter().find(|one| one.name == name)?;
        let algorithm = operation
            .algorithms
            .iter()
            .find(|one| one.name == algorithm)?;
        algorithm.value(point)
    }
}

impl Operation {
    /// A line for each size; at its end the fastest algorithm, and how much longer what is chosen takes.
    pub fn render(&self, points: &[u64], ranks: &str) -> String {
        let mut header = vec!["bytes".to_string()];
        header.extend(self.algorithms.iter().map(|one| one.name.clone()));
        header.extend(["fastest".into(), "chosen/fastest".into()]);
        let mut rows = vec![header];
        for (at, &bytes) in points.iter().enumerate() {
            let values = self.algorithms.iter().map(|one| one.value(at));
            let mut row = vec![binary(bytes)];
            row.extend(values.map(|value| value.map_or("-".into(), three_digits)));
            let given = self.algorithms.iter().filter(|one| one.name != CHOSEN);
            let fastest = given
                .filter_map(|one| Some((one, one.value(at)?)))
                .min_by(|(_, a), (_, b)| a.total_cmp(b));
            let chosen = self.algorithms.iter().find(|one| one.name == CHOSEN);
            let chosen = chosen.and_then(|one| one.value(at));
            row.push(fastest.map_or("-".into(), |(one, _)| one.name.clone()));
            let ratio = fastest.zip(chosen).map(|((_, best), chosen)| chosen / best);
            row.push(ratio.map_or("-".into(), |ratio| format!("{ratio:.2}")));
            rows.push(row);
        }
        format!(
            "{} on {ranks}, by algorithm (us, lower is better)\n{}",
            self.name,
            align(&rows)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rows_of_their_operation() {
        let mut figures = Figures::default();
        let points = [8, 64];
        for (series, x, value) in [
            ("bcast/chosen", 8, 1.0),
            ("bcast/linear", 8, 2.0),
            ("bcast/linear", 8, 4.0),
            ("bcast/linear", 8, 3.0),
            ("bcast/linear", 64, 5.0),
            ("bcast/linear", 99, 5.0),
            ("reduce/chosen", 8, 6.0),
            ("nonsense", 8, 7.0),
        ] {
            figures.add(&points, series, x, value);
        }
        let operations = &figures.operations;
        let names: Vec<&str> = operations.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["bcast", "reduce"]);
        let linear = &operations[0].algorithms[1];
        assert_eq!((linear.value(0), linear.value(1)), (Some(3.0), Some(5.0)));
        assert_eq!(operations[0].algorithms[0].value(1), None);
    }
}

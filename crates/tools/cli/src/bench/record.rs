//! What the programs print (one JSON object a line) and what the rounds gather of it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::stats::median;

/// A line of a program.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// The first: which library this is and where each rank may run.
    Start {
        library: String,
        processors: Vec<String>,
    },
    Point {
        series: String,
        x: u64,
        best: f64,
        median: f64,
    },
}

impl Line {
    /// `None` for anything else that a launcher or library prints.
    pub fn parse(text: &str) -> Option<Line> {
        let object: Value = serde_json::from_str(text).ok()?;
        if let Some(library) = object["library"].as_str() {
            let processors = object["processors"]
                .as_array()?
                .iter()
                .map(|p| p.as_str().unwrap_or("").to_string());
            return Some(Line::Start {
                library: library.to_string(),
                processors: processors.collect(),
            });
        }
        Some(Line::Point {
            series: object["series"].as_str()?.to_string(),
            x: object["x"].as_u64()?,
            best: object["best"].as_f64()?,
            median: object["median"].as_f64()?,
        })
    }
}

/// One library at one point of one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The median of each round.
    pub medians: Vec<f64>,
    /// The best batch of each round.
    pub bests: Vec<f64>,
    /// It took longer than this many seconds and was stopped.
    pub over_limit: Option<f64>,
}

impl Cell {
    /// The median over the rounds; `None` once it was over the limit.
    pub fn value(&self) -> Option<f64> {
        if self.over_limit.is_some() {
            None
        } else {
            median(&self.medians)
        }
    }
}

/// What is known of a library from its runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    pub version: String,
    /// By number of ranks, where each rank may run.
    pub processors: BTreeMap<u64, Vec<String>>,
    pub command: String,
    pub failures: Vec<String>,
}

/// Everything measured for one benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// By library, series and point.
    pub cells: BTreeMap<(String, String, u64), Cell>,
    pub subjects: BTreeMap<String, Subject>,
}

impl Results {
    pub fn add(&mut self, library: &str, series: &str, x: u64, best: f64, median: f64) {
        let cell = self
            .cells
            .entry((library.into(), series.into(), x))
            .or_default();
        cell.medians.push(median);
        cell.bests.push(best);
    }

    pub fn cell(&self, library: &str, series: &str, x: u64) -> Option<&Cell> {
        self.cells
            .get(&(library.to_string(), series.to_string(), x))
    }

    pub fn value(&self, library: &str, series: &str, x: u64) -> Option<f64> {
        self.cell(library, series, x).and_then(Cell::value)
    }

    /// Marks a series of a library as too slow from `x` on, in the order of the points.
    pub fn mark_over_limit(
        &mut self,
        library: &str,
        series: &str,
        points: &[u64],
        x: u64,
        seconds: f64,
    ) {
        for &point in points.iter().skip_while(|&&p| p != x) {
            self.cells
                .entry((library.into(), series.into(), point))
                .or_default()
                .over_limit = Some(seconds);
        }
    }

    /// The points before the first at which a library was stopped: those that it can be asked for again.
    pub fn within_limit(&self, library: &str, points: &[u64]) -> Vec<u64> {
        let stopped = |x: u64| {
            self.cells
                .iter()
                .any(|((l, _, p), cell)| l == library && *p == x && cell.over_limit.is_some())
        };
        points
            .iter()
            .copied()
            .take_while(|&x| !stopped(x))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_programs_are_read_and_others_passed_over() {
        let point = r#"{"bench":"b","series":"s","x":8,"unit":"us","best":1.5,"median":2,"p90":3,"batches":5}"#;
        assert_eq!(
            Line::parse(point),
            Some(Line::Point {
                series: "s".into(),
                x: 8,
                best: 1.5,
                median: 2.0
            })
        );
        let start = r#"{"bench":"b","ranks":2,"library":"L 1","processors":["0","1"]}"#;
        assert_eq!(
            Line::parse(start),
            Some(Line::Start {
                library: "L 1".into(),
                processors: vec!["0".into(), "1".into()]
            })
        );
        for other in ["", "warning: x", "{}", r#"{"series":"s"}"#, "[1]"] {
            assert_eq!(Line::parse(other), None, "{other}");
        }
    }

    #[test]
    fn the_value_is_the_median_of_the_rounds_and_none_over_the_limit() {
        let mut results = Results::default();
        for median in [3.0, 1.0, 2.0] {
            results.add("l", "s", 64, 0.5, median);
        }
        assert_eq!(results.value("l", "s", 64), Some(2.0));
        results.mark_over_limit("l", "s", &[16, 64, 256], 64, 20.0);
        assert_eq!(results.value("l", "s", 64), None);
        assert_eq!(results.cell("l", "s", 256).unwrap().over_limit, Some(20.0));
        assert_eq!(results.cell("l", "s", 16), None);
        assert_eq!(results.within_limit("l", &[16, 64, 256]), [16]);
        assert_eq!(results.within_limit("other", &[16, 64]), [16, 64]);
        results.mark_over_limit("other", "s", &[256, 64, 16], 64, 20.0);
        assert_eq!(results.within_limit("other", &[256, 64, 16]), [256]);
    }
}

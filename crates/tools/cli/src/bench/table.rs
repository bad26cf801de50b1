//! The terminal tables: a line for each point, a column for each library, ours against the best peer and the floor.

use super::benchmark::{Benchmark, Series};
use super::catalog::FLOOR_TRANSFERS;
use super::compare::{Comparison, Measured, OURS};
use super::ends;
use super::record::Results;
use super::rounds::FLOOR_COLUMN;
use super::stats::{binary, three_digits};
use super::summary;
use crate::output::align;

/// What the tables of one benchmark are made from.
pub struct View<'a> {
    pub benchmark: &'a Benchmark,
    /// Those of its series that were wanted.
    pub series: &'a [&'static Series],
    pub results: &'a Results,
    /// Libraries in the order of their columns.
    pub libraries: &'a [String],
    pub points: &'a [u64],
    /// Under which conditions it was measured, in words.
    pub conditions: &'a str,
    pub comparison: Comparison,
}

impl<'a> View<'a> {
    pub fn new(
        benchmark: &'a Benchmark,
        series: &'a [&'static Series],
        results: &'a Results,
        libraries: &'a [String],
        points: &'a [u64],
        conditions: &'a str,
    ) -> View<'a> {
        let measured: Vec<Measured> = series.iter().map(|s| s.measured(points)).collect();
        View {
            benchmark,
            series,
            results,
            libraries,
            points,
            conditions,
            comparison: Comparison::new(&measured, libraries, results),
        }
    }

    /// What this machine allows at the point, as our own run of the program measured it if the program does; `None` where nothing
    /// of it was measured.
    pub fn floor(&self, series: &Series, x: u64) -> Option<f64> {
        let floors = self.benchmark.floors.iter();
        let own = floors.into_iter().find(|(name, _)| *name == series.name);
        if let Some((_, floor)) = own {
            return self.results.value(OURS, floor, x);
        }
        if self.benchmark.name != "pingpong" {
            return None;
        }
        let times = FLOOR_TRANSFERS
            .iter()
            .filter_map(|f| self.results.value(FLOOR_COLUMN, f, x));
        let us = times.min_by(f64::total_cmp)?;
        Some(if series.larger_is_better() {
            x as f64 / us
        } else {
            us
        })
    }

    fn has_floor(&self, series: &Series) -> bool {
        self.points.iter().any(|&x| self.floor(series, x).is_some())
    }

    fn text(&self, library: &str, series: &Series, x: u64) -> String {
        match self.results.cell(library, series.name, x) {
            Some(cell) => match (cell.over_limit, cell.value()) {
                (Some(seconds), _) => format!("> {seconds} s"),
                (None, Some(value)) => three_digits(value),
                (None, None) => "-".into(),
            },
            None => "-".into(),
        }
    }

    /// All tables of the benchmark as text.
    pub fn render(&self) -> String {
        if self.libraries.len() == 1 && self.series.len() > 1 {
            return self.one_library();
        }
        let tables = self.series.iter().map(|s| self.one_series(s));
        let summed_up = summary::render(self.benchmark.name, &self.comparison);
        let summed_up = summed_up.filter(|_| self.benchmark.summary);
        tables.chain(summed_up).collect::<Vec<_>>().join("\n")
    }

    fn one_series(&self, series: &Series) -> String {
        let compared = self.libraries.iter().any(|l| l == OURS) && self.libraries.len() > 1;
        let spread = compared && self.benchmark.summary;
        let floored = self.has_floor(series);
        let mut header = vec![self.benchmark.axis_label.to_string()];
        header.extend(floored.then(|| FLOOR_COLUMN.into()));
        header.extend(self.libraries.iter().cloned());
        header.extend(compared.then(|| format!("{OURS}/best")));
        header.extend(spread.then(|| "95 %".into()));
        header.extend((floored && compared).then(|| format!("{OURS}/floor")));
        let ratio = |value: Option<f64>| value.map_or("-".into(), |v| format!("{v:.2}"));
        let mut rows = vec![header];
        for &x in series.points(self.points) {
            let floor = self.floor(series, x);
            let best = self.comparison.at(series.name, x).map(|point| point.ratio);
            let mut row = vec![binary(x)];
            row.extend(floored.then(|| floor.map_or("-".into(), three_digits)));
            row.extend(self.libraries.iter().map(|l| self.text(l, series, x)));
            row.extend(compared.then(|| ratio(best.map(|r| r.value))));
            row.extend(spread.then(|| best.map_or("-".into(), |r| summary::interval(&r))));
            let ours = self.results.value(OURS, series.name, x);
            row.extend((floored && compared).then(|| ratio(ours.zip(floor).map(|(o, f)| o / f))));
            rows.push(row);
        }
        rows.extend(self.growth(series, floored, compared));
        let better = if series.larger_is_better() {
            "higher"
        } else {
            "lower"
        };
        let name = title(self.benchmark, series);
        format!(
            "{name}: {} ({}, {better} is better)\n{}",
            series.about,
            series.unit,
            align(&rows)
        )
    }

    /// Points over the first, where that is what the benchmark is about.
    fn growth(&self, series: &Series, floored: bool, compared: bool) -> Vec<Vec<String>> {
        let row = |(x, first): (u64, u64)| {
            let mut row = vec![format!("{}/{}", binary(x), binary(first))];
            row.extend(floored.then(String::new));
            row.extend(self.libraries.iter().map(|l| {
                let value = |x| self.results.value(l, series.name, x);
                let ends = value(first).zip(value(x));
                ends.map_or("-".into(), |(a, b)| format!("x {}", three_digits(b / a)))
            }));
            row.extend(compared.then(String::new));
            row
        };
        let pairs = ends::pairs(self.benchmark.axis_label, self.points);
        pairs.into_iter().map(row).collect()
    }

    fn one_library(&self) -> String {
        let library = &self.libraries[0];
        let mut rows = vec![vec![self.benchmark.axis_label.to_string()]];
        rows[0].extend(self.series.iter().map(|s| format!("{} {}", s.name, s.unit)));
        let floors = self.benchmark.floors.iter();
        rows[0].extend(
            floors
                .clone()
                .map(|(name, floor)| format!("{name}/{floor}")),
        );
        let mut points: Vec<u64> = self
            .results
            .cells
            .keys()
            .filter(|k| k.0 == *library)
            .map(|k| k.2)
            .collect();
        points.extend(self.points);
        points.sort_unstable();
        points.dedup();
        for x in points {
            let mut row = vec![binary(x)];
            row.extend(self.series.iter().map(|s| self.text(library, s, x)));
            row.extend(floors.clone().map(|(name, floor)| {
                let value = self.results.value(library, name, x);
                let ratio = value.zip(self.results.value(library, floor, x));
                ratio.map_or("-".into(), |(value, floor)| format!("{:.2}", value / floor))
            }));
            rows.push(row);
        }
        format!(
            "{} of {library}: {}\n{}",
            self.benchmark.name,
            self.benchmark.about,
            align(&rows)
        )
    }
}

/// The name of a series: the benchmark's own where it has but one.
pub fn title(benchmark: &Benchmark, series: &Series) -> String {
    if benchmark.name == series.name {
        series.name.into()
    } else {
        format!("{} {}", benchmark.name, series.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::catalog::find;

    fn render(benchmark: &str, results: &Results, libraries: &[&str], points: &[u64]) -> String {
        let libraries: Vec<String> = libraries.iter().map(|l| l.to_string()).collect();
        let benchmark = find(benchmark).unwrap();
        let series: Vec<&Series> = benchmark.series.iter().collect();
        View::new(benchmark, &series, results, &libraries, points, "").render()
    }

    #[test]
    fn ratios_limits_and_growth() {
        let mut results = Results::default();
        for (library, x, value) in [
            ("weft", 64, 100.0),
            ("weft", 256, 110.0),
            ("mpich", 64, 400.0),
            ("intel", 64, 200.0),
            ("intel", 256, 9.0),
        ] {
            results.add(library, "shuffle", x, value, value);
        }
        results.mark_over_limit("mpich", "shuffle", &[64, 256], 256, 20.0);
        let text = render("shuffle", &results, &["weft", "mpich", "intel"], &[64, 256]);
        let expected = "\
shuffle: time per message (ns, lower is better)
  requests    weft   mpich     intel  weft/best
  64           100     400       200       0.50
  256          110  > 20 s      9.00      12.22
  256/64    x 1.10       -  x 0.0450
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_rate_is_compared_with_the_highest_and_the_floor_becomes_a_rate() {
        let mut results = Results::default();
        for (library, series, value) in [
            ("weft", "latency", 0.4),
            ("weft", "bandwidth", 160.0),
            ("mpich", "latency", 0.8),
            ("mpich", "bandwidth", 80.0),
            (FLOOR_COLUMN, "lines", 0.2),
            (FLOOR_COLUMN, "flip", 0.1),
        ] {
            results.add(library, series, 64, value, value);
        }
        let text = render("pingpong", &results, &["weft", "mpich"], &[64]);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(rows[2], ["64", "0.200", "0.400", "0.800", "0.50", "2.00"]);
        assert_eq!(rows[6], ["64", "320", "160", "80.0", "2.00", "0.50"]);
    }

    #[test]
    fn what_has_a_floor_of_its_own_is_shown_over_it() {
        let mut results = Results::default();
        for (series, value) in [("tcp-spin", 20.0), ("spin", 22.0), ("tcp-stream", 4000.0)] {
            results.add("weft", series, 8, value, value);
        }
        let text = render("wire", &results, &["weft"], &[8]);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| {
                line.split("  ")
                    .map(str::trim)
                    .filter(|cell| !cell.is_empty())
                    .collect()
            })
            .collect();
        let head = &rows[1];
        assert_eq!(
            head[7..],
            ["spin/tcp-spin", "block/tcp-block", "stream/tcp-stream"]
        );
        assert_eq!(
            rows[2],
            ["8", "20.0", "22.0", "-", "-", "4000", "-", "1.10", "-", "-"]
        );
    }

    #[test]
    fn a_floor_that_the_program_measures_stands_beside_the_libraries() {
        let mut results = Results::default();
        for (library, series, value) in [
            ("weft", "write", 900.0),
            ("weft", "raw-write", 1000.0),
            ("mpich", "write", 600.0),
            ("mpich", "raw-write", 2000.0),
        ] {
            results.add(library, series, 16, value, value);
        }
        let text = render("file", &results, &["weft", "mpich"], &[16]);
        let tables: Vec<&str> = text.split("\n\n").collect();
        let table = |title: &str| *tables.iter().find(|t| t.starts_with(title)).unwrap();
        let written = table("file write:");
        let row: Vec<&str> = written.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(
            row,
            ["16", "1000", "900", "600", "1.50", "1.50..1.50", "0.90"]
        );
        let raw = table("file raw-write:");
        assert!(!raw.contains("floor"), "{raw}");
    }

    #[test]
    fn one_library_alone_shows_its_series_as_columns() {
        let mut results = Results::default();
        results.add("weft", "tags", 2, 3.0, 3.0);
        let text = render("threads", &results, &["weft"], &[2, 4]);
        assert!(
            text.contains("tags Mmsg/s  hints Mmsg/s  comms Mmsg/s"),
            "{text}"
        );
        assert!(
            text.lines()
                .any(|l| l.split_whitespace().eq(["2", "3.00", "-", "-"])),
            "{text}"
        );
    }
}

//! Our figures beside the best of the other libraries, point by point and on average, with intervals.
//!
//! A point's ratio is of medians over the rounds; the best is the library of the best median. The 95 % intervals are the bootstrap's:
//! rounds are drawn again, with repetition, the same for all libraries and points, and everything is computed anew from them.

use std::collections::BTreeMap;

use super::record::{Cell, Results};
use super::stats::{Draws, median};

/// The library that the others are compared with.
pub const OURS: &str = "weft";
/// Beyond this ratio of times we are behind, below its inverse ahead.
const LEVEL: f64 = 1.05;
/// How often rounds are drawn.
const REPLICATES: usize = 999;

/// Our figure divided by the best other one, or what many such ratios are on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub value: f64,
    /// Of the 95 % interval.
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    /// The interval holds all but the 2.5 % of the replicates at either end.
    fn new(value: f64, mut replicates: Vec<f64>) -> Ratio {
        replicates.sort_by(f64::total_cmp);
        let skipped = replicates.len() / 40;
        let low = replicates.get(skipped).copied().unwrap_or(value);
        let high = replicates.iter().rev().nth(skipped).copied();
        Ratio {
            value,
            low: low.min(value),
            high: high.unwrap_or(value).max(value),
        }
    }

    /// Of rates the ratio of times, so that less is better for all.
    fn of_times(self, larger_is_better: bool) -> Ratio {
        if !larger_is_better {
            return self;
        }
        Ratio {
            value: 1.0 / self.value,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
        }
    }
}

/// A series and the points at which it was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    pub name: &'a str,
    pub larger_is_better: bool,
    pub points: &'a [u64],
}

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub series: String,
    pub x: u64,
    /// The best of the others.
    pub best: String,
    /// As the figures are, so that of rates more is better.
    pub ratio: Ratio,
    /// Of times, so that less is better.
    pub slowness: Ratio,
}

/// Many points together.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub points: usize,
    /// The geometric mean of the ratios of times.
    pub mean: Ratio,
    pub ahead: usize,
    pub level: usize,
    pub behind: usize,
    /// Those behind whose whole interval is.
    pub surely_behind: usize,
    pub worst: Point,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub points: Vec<Point>,
    /// By series, in their order; those that have points.
    pub series: Vec<(String, Summary)>,
    pub overall: Option<Summary>,
}

/// A point, and the logarithm of its slowness in every replicate.
struct Sampled {
    point: Point,
    logarithms: Vec<f64>,
}

impl Comparison {
    pub fn new(series: &[Measured], libraries: &[String], results: &Results) -> Comparison {
        let others = libraries.iter().map(String::as_str);
        let others: Vec<&str> = others.filter(|l| *l != OURS).collect();
        let rounds = results.cells.values().map(|c| c.medians.len()).max();
        let draws = Draws::new(REPLICATES, rounds.unwrap_or(0));
        let mut all = Vec::new();
        for one in series {
            let at = |x| compared(one, x, &others, results, &draws);
            all.extend(one.points.iter().filter_map(|&x| at(x)));
        }
        let of = |name: &str| {
            summary(
                all.iter()
                    .filter(|s: &&Sampled| s.point.series == name)
                    .collect(),
            )
        };
        let names = series.iter().map(|s| s.name);
        Comparison {
            series: names
                .filter_map(|name| Some((name.to_owned(), of(name)?)))
                .collect(),
            overall: summary(all.iter().collect()),
            points: all.into_iter().map(|s| s.point).collect(),
        }
    }

    pub fn at(&self, series: &str, x: u64) -> Option<&Point> {
        self.points.iter().find(|p| p.series == series && p.x == x)
    }

    /// The points at which we are most behind, the worst first.
    pub fn worst(&self, count: usize) -> Vec<&Point> {
        let mut behind: Vec<&Point> = self
            .points
            .iter()
            .filter(|p| p.slowness.value > LEVEL)
            .collect();
        behind.sort_by(|a, b| b.slowness.value.total_cmp(&a.slowness.value));
        behind.truncate(count);
        behind
    }
}

/// None where we or all others have no figure.
fn compared(
    series: &Measured,
    x: u64,
    others: &[&str],
    results: &Results,
    draws: &Draws,
) -> Option<Sampled> {
    let cell = |library: &str| {
        results
            .cell(library, series.name, x)
            .filter(|c| c.value().is_some())
    };
    let ours = cell(OURS)?;
    let others: BTreeMap<&str, &Cell> =
        others.iter().filter_map(|&l| Some((l, cell(l)?))).collect();
    let better = |a: &f64, b: &f64| {
        if series.larger_is_better {
            b.total_cmp(a)
        } else {
            a.total_cmp(b)
        }
    };
    let (best, theirs) = others
        .iter()
        .filter_map(|(&name, cell)| Some((name, cell.value()?)))
        .min_by(|a, b| better(&a.1, &b.1))?;
    let again = |draw: &[usize]| {
        let theirs = others.values().filter_map(|c| median(&drawn(c, draw)));
        Some(median(&drawn(ours, draw))? / theirs.min_by(better)?)
    };
    let value = ours.value()? / theirs;
    let replicates: Vec<f64> = draws.iter().filter_map(again).collect();
    if !value.is_finite() || value <= 0.0 || !replicates.iter().all(|r| r.is_finite() && *r > 0.0) {
        return None;
    }
    let sign = if series.larger_is_better { -1.0 } else { 1.0 };
    let logarithms = replicates.iter().map(|r| sign * r.ln()).collect();
    let ratio = Ratio::new(value, replicates);
    let point = Point {
        series: series.name.into(),
        x,
        best: best.into(),
        ratio,
        slowness: ratio.of_times(series.larger_is_better),
    };
    Some(Sampled { point, logarithms })
}

/// The rounds that were drawn, of a library that may have missed the last ones.
fn drawn(cell: &Cell, draw: &[usize]) -> Vec<f64> {
    let rounds = cell.medians.len();
    draw.iter()
        .take(rounds)
        .map(|&round| cell.medians[round % rounds])
        .collect()
}

fn summary(points: Vec<&Sampled>) -> Option<Summary> {
    let worst = points
        .iter()
        .max_by(|a, b| a.point.slowness.value.total_cmp(&b.point.slowness.value))?;
    let mean = |logarithms: &mut dyn Iterator<Item = f64>| {
        (logarithms.sum::<f64>() / points.len() as f64).exp()
    };
    let value = mean(&mut points.iter().map(|s| s.point.slowness.value.ln()));
    let replicate =
        |r: usize| mean(&mut points.iter().filter_map(|s| s.logarithms.get(r).copied()));
    let count =
        |is: &dyn Fn(&Ratio) -> bool| points.iter().filter(|s| is(&s.point.slowness)).count();
    let (ahead, behind) = (
        count(&|r| r.value < 1.0 / LEVEL),
        count(&|r| r.value > LEVEL),
    );
    Some(Summary {
        points: points.len(),
        mean: Ratio::new(value, (0..REPLICATES).map(replicate).collect()),
        ahead,
        level: points.len() - ahead - behind,
        behind,
        surely_behind: count(&|r| r.low > LEVEL),
        worst: worst.point.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::catalog::find;

    fn results(figures: &[(&str, &str, u64, &[f64])]) -> Results {
        let mut results = Results::default();
        for &(library, series, x, medians) in figures {
            for &median in medians {
                results.add(library, series, x, median, median);
            }
        }
        results
    }

    fn compared(benchmark: &str, points: &[u64], results: &Results) -> Comparison {
        let series = find(benchmark).unwrap().series.iter();
        let series: Vec<Measured> = series.map(|s| s.measured(points)).collect();
        let libraries = ["weft", "mpich", "intel"].map(String::from);
        Comparison::new(&series, &libraries, results)
    }

    #[test]
    fn the_best_is_that_of_the_best_median_and_the_interval_spans_the_rounds() {
        let steady = [
            ("weft", "shuffle", 64, &[3.0, 3.0, 3.0][..]),
            ("mpich", "shuffle", 64, &[9.0, 2.0, 2.0]),
            ("intel", "shuffle", 64, &[1.0, 4.0, 4.0]),
        ];
        let all = compared("shuffle", &[64, 256], &results(&steady));
        let point = all.at("shuffle", 64).unwrap();
        assert_eq!((point.best.as_str(), point.ratio.value), ("mpich", 1.5));
        // All rounds may be drawn to be the first, or one of the others.
        assert_eq!((point.ratio.low, point.ratio.high), (1.5, 3.0));
        assert_eq!(all.at("shuffle", 256), None);
        let without = compared("shuffle", &[64], &results(&steady[..1]));
        assert_eq!(without, Comparison::default());
    }

    #[test]
    fn what_never_varies_has_no_interval() {
        let all = compared(
            "shuffle",
            &[64],
            &results(&[
                ("weft", "shuffle", 64, &[3.0; 5]),
                ("mpich", "shuffle", 64, &[2.0; 5]),
            ]),
        );
        let Ratio { value, low, high } = all.points[0].ratio;
        assert_eq!((value, low, high), (1.5, 1.5, 1.5));
    }

    #[test]
    fn of_rates_more_is_ahead_and_the_mean_is_geometric() {
        let all = compared(
            "pingpong",
            &[8, 64],
            &results(&[
                ("weft", "latency", 8, &[2.0]),
                ("mpich", "latency", 8, &[1.0]),
                ("weft", "bandwidth", 8, &[20.0]),
                ("intel", "bandwidth", 8, &[10.0]),
                ("mpich", "bandwidth", 8, &[5.0]),
                ("weft", "latency", 64, &[8.0]),
                ("intel", "latency", 64, &[1.0]),
            ]),
        );
        let bandwidth = all.at("bandwidth", 8).unwrap();
        assert_eq!(
            (bandwidth.ratio.value, bandwidth.slowness.value),
            (2.0, 0.5)
        );
        assert!((all.series[0].1.mean.value - 4.0).abs() < 1e-9);
        let overall = all.overall.as_ref().unwrap();
        assert!((overall.mean.value - 2.0).abs() < 1e-9);
        assert_eq!((overall.ahead, overall.level, overall.behind), (1, 0, 2));
        assert_eq!(
            (overall.worst.series.as_str(), overall.worst.x),
            ("latency", 64)
        );
        let worst: Vec<u64> = all.worst(9).iter().map(|p| p.x).collect();
        assert_eq!(worst, [64, 8]);
    }

    #[test]
    fn behind_for_certain_is_only_what_all_rounds_say() {
        let noisy = [4.0, 0.5, 0.5, 4.0, 4.0];
        let all = compared(
            "shuffle",
            &[64, 256],
            &results(&[
                ("weft", "shuffle", 64, &noisy),
                ("mpich", "shuffle", 64, &[1.0; 5]),
                ("weft", "shuffle", 256, &[2.0; 5]),
                ("mpich", "shuffle", 256, &[1.0; 5]),
            ]),
        );
        let overall = all.overall.unwrap();
        assert_eq!((overall.behind, overall.surely_behind), (2, 1));
    }

    #[test]
    fn a_library_that_was_stopped_is_not_the_best() {
        let mut figures = results(&[
            ("weft", "shuffle", 64, &[2.0]),
            ("mpich", "shuffle", 64, &[1.0]),
            ("intel", "shuffle", 64, &[4.0]),
        ]);
        figures.mark_over_limit("mpich", "shuffle", &[64], 64, 20.0);
        assert_eq!(compared("shuffle", &[64], &figures).points[0].best, "intel");
    }
}

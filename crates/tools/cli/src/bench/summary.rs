//! The many points of a benchmark in a few lines: by series, all together, and where we are most behind.

use super::compare::{Comparison, Point, Ratio, Summary};
use super::stats::binary;
use crate::output::align;

/// How many of the points at which we are behind are listed.
const LISTED: usize = 12;

/// A ratio with two digits, and its interval.
pub fn with_interval(ratio: &Ratio) -> [String; 2] {
    [format!("{:.2}", ratio.value), interval(ratio)]
}

pub fn interval(ratio: &Ratio) -> String {
    format!("{:.2}..{:.2}", ratio.low, ratio.high)
}

/// Nothing where nothing is compared.
pub fn render(benchmark: &str, comparison: &Comparison) -> Option<String> {
    let overall = comparison.overall.as_ref()?;
    let header = [
        "",
        "points",
        "weft/best",
        "95 %",
        "ahead",
        "level",
        "behind",
        "surely",
        "worst",
        "at",
    ];
    let mut rows = vec![header.map(String::from).to_vec()];
    rows.extend(
        comparison
            .series
            .iter()
            .map(|(name, summary)| row(name, summary)),
    );
    rows.push(row("all", overall));
    let mut text = format!(
        "{benchmark}, summed up: geometric means of weft/best (times, lower is better)\n{}\n{}\n",
        align(&rows),
        sentence(overall)
    );
    let worst = comparison.worst(LISTED);
    if !worst.is_empty() {
        let rows: Vec<Vec<String>> = worst.iter().map(|p| behind(p)).collect();
        text += &format!("\nmost behind\n{}", align(&rows));
    }
    Some(text)
}

/// All points in one line.
pub fn sentence(all: &Summary) -> String {
    format!(
        "level or ahead (at most 1.05) at {} of {} points, ahead (under 0.95) at {}; behind at {}, of which {} beyond noise",
        all.ahead + all.level,
        all.points,
        all.ahead,
        all.behind,
        all.surely_behind
    )
}

fn row(name: &str, summary: &Summary) -> Vec<String> {
    let mut row = vec![name.to_string(), summary.points.to_string()];
    row.extend(with_interval(&summary.mean));
    let counts = [
        summary.ahead,
        summary.level,
        summary.behind,
        summary.surely_behind,
    ];
    row.extend(counts.map(|c| c.to_string()));
    row.push(format!("{:.2}", summary.worst.slowness.value));
    row.push(place(name, &summary.worst));
    row
}

/// The size, and the series where it is not said already.
fn place(name: &str, point: &Point) -> String {
    if name == point.series {
        binary(point.x)
    } else {
        format!("{} {}", point.series, binary(point.x))
    }
}

fn behind(point: &Point) -> Vec<String> {
    let mut row = vec![place("", point)];
    row.extend(with_interval(&point.slowness));
    row.push(format!("of {}", point.best));
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::catalog::find;
    use crate::bench::record::Results;

    #[test]
    fn series_all_and_the_worst_have_their_lines() {
        let mut results = Results::default();
        for (library, series, x, value) in [
            ("weft", "PingPong", 0, 1.0),
            ("mpich", "PingPong", 0, 2.0),
            ("weft", "PingPong", 64, 4.0),
            ("mpich", "PingPong", 64, 2.0),
            ("weft", "Barrier", 0, 3.0),
            ("mpich", "Barrier", 0, 3.0),
        ] {
            results.add(library, series, x, value, value);
        }
        let series = find("patterns").unwrap().series.iter();
        let series: Vec<_> = series.map(|s| s.measured(&[0, 64])).collect();
        let libraries = ["weft", "mpich"].map(String::from);
        let comparison = Comparison::new(&series, &libraries, &results);
        let text = render("patterns", &comparison).unwrap();
        let expected = "\
patterns, summed up: geometric means of weft/best (times, lower is better)
            points  weft/best        95 %  ahead  level  behind  surely  worst           at
  PingPong       2       1.00  1.00..1.00      1      0       1       1   2.00           64
  Barrier        1       1.00  1.00..1.00      0      1       0       0   1.00            0
  all            3       1.00  1.00..1.00      1      1       1       1   2.00  PingPong 64

level or ahead (at most 1.05) at 2 of 3 points, ahead (under 0.95) at 1; behind at 1, of which 1 beyond noise

most behind
  PingPong 64  2.00  2.00..2.00  of mpich
";
        assert_eq!(text, expected);
        assert_eq!(render("patterns", &Comparison::default()), None);
    }
}

//! Everything measured as JSON, for machines.

use serde_json::{Value, json};

use super::benchmark::larger_is_better;
use super::compare::{Comparison, Point, Summary};
use super::record::Results;
use super::rounds::FLOOR_COLUMN;
use super::table::View;

/// One benchmark.
pub fn benchmark(view: &View) -> Value {
    let unit = |series: &str| {
        let all = view
            .benchmark
            .series
            .iter()
            .chain(super::catalog::FLOOR.series);
        all.into_iter()
            .find(|s| s.name == series)
            .map_or("", |s| s.unit)
    };
    let cells = view.results.cells.iter().map(|((library, series, x), cell)| {
        json!({
            "library": library, "series": series, "x": x, "unit": unit(series), "median": cell.value(),
            "best": best(cell.bests.as_slice(), unit(series)), "rounds": cell.medians,
            "over_limit_seconds": cell.over_limit,
        })
    });
    let series = view
        .series
        .iter()
        .map(|s| json!({"name": s.name, "unit": s.unit, "about": s.about}));
    let series: Vec<Value> = series.collect();
    json!({
        "name": view.benchmark.name,
        "about": view.benchmark.about,
        "series": series,
        "axis": view.benchmark.axis_label,
        "conditions": view.conditions,
        "floors": floors(view),
        "libraries": subjects(view.results),
        "points": cells.collect::<Vec<_>>(),
        "comparison": comparison(&view.comparison),
    })
}

/// Ours beside the best of the others; ratios of points as the figures are, means of times.
fn comparison(all: &Comparison) -> Value {
    let point = |p: &Point| json!({"series": p.series, "x": p.x, "best": p.best, "ratio": p.ratio.value, "low": p.ratio.low, "high": p.ratio.high});
    let summed_up = |name: &str, s: &Summary| {
        json!({
            "series": name, "points": s.points, "mean": s.mean.value, "low": s.mean.low, "high": s.mean.high, "ahead": s.ahead,
            "level": s.level, "behind": s.behind, "surely_behind": s.surely_behind, "worst": point(&s.worst),
        })
    };
    let series = all
        .series
        .iter()
        .map(|(name, summary)| summed_up(name, summary));
    json!({
        "points": all.points.iter().map(point).collect::<Vec<_>>(),
        "series": series.collect::<Vec<_>>(),
        "all": all.overall.as_ref().map(|summary| summed_up("all", summary)),
    })
}

/// Which series is the floor of which.
fn floors(view: &View) -> Value {
    let floors = view.benchmark.floors.iter();
    let floors = floors.map(|&(series, floor)| (series.to_owned(), floor.into()));
    Value::Object(floors.collect())
}

fn best(values: &[f64], unit: &str) -> Option<f64> {
    let values = values.iter().copied();
    if larger_is_better(unit) {
        values.max_by(f64::total_cmp)
    } else {
        values.min_by(f64::total_cmp)
    }
}

fn subjects(results: &Results) -> Vec<Value> {
    let subject = results.subjects.iter().map(|(name, s)| {
        json!({
            "name": name, "version": s.version, "command": s.command, "processors": s.processors,
            "failures": s.failures, "is_floor": name == FLOOR_COLUMN,
        })
    });
    subject.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::benchmark::Series;
    use crate::bench::catalog::find;

    #[test]
    fn points_carry_their_rounds_and_the_better_end() {
        let mut results = Results::default();
        results.add("weft", "bandwidth", 8, 20.0, 10.0);
        results.add("weft", "bandwidth", 8, 30.0, 12.0);
        results.mark_over_limit("mpich", "latency", &[8], 8, 20.0);
        let libraries = ["weft".to_string(), "mpich".into()];
        let pingpong = find("pingpong").unwrap();
        let series: Vec<&Series> = pingpong.series.iter().collect();
        let view = View::new(pingpong, &series, &results, &libraries, &[8], "2 ranks");
        let value = benchmark(&view);
        assert_eq!(value["points"][1]["best"], 30.0);
        assert_eq!(value["points"][1]["rounds"], json!([10.0, 12.0]));
        assert_eq!(value["points"][1]["unit"], "MB/s");
        assert_eq!(value["points"][0]["over_limit_seconds"], 20.0);
        assert!(value["points"][0]["median"].is_null());
    }
}

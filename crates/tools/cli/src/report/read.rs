//! From the JSON of a run to what a page shows. What a file lacks or has in another form is an error that names it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bench::benchmark::larger_is_better;
use crate::bench::compare::{Comparison, Measured, OURS};
use crate::bench::plot::{Curve, Panel};
use crate::bench::record::Results;

/// All runs that a page shows.
#[derive(Default)]
pub struct Document {
    /// Of each run, where and when.
    pub machines: Vec<String>,
    /// What libraries call themselves, by the name of their column.
    pub versions: BTreeMap<String, String>,
    pub sections: Vec<Section>,
}

/// A benchmark.
pub struct Section {
    pub name: String,
    pub about: String,
    /// Under which it was measured, and when.
    pub conditions: Vec<String>,
    pub content: Content,
}

pub enum Content {
    /// Of libraries beside each other.
    Figures(Box<Figures>),
    /// As a benchmark on verbs made them.
    Tables {
        tables: Vec<Table>,
        panels: Vec<Panel>,
    },
}

pub struct Table {
    pub title: String,
    /// The header is the first.
    pub rows: Vec<Vec<String>>,
}

pub struct Figures {
    pub axis: String,
    /// Ours first.
    pub libraries: Vec<String>,
    pub series: Vec<Series>,
    pub results: Results,
    pub comparison: Comparison,
    /// What went wrong in runs.
    pub failures: Vec<String>,
}

pub struct Series {
    pub name: String,
    pub unit: String,
    pub about: String,
    pub points: Vec<u64>,
}

impl Document {
    /// Adds the benchmarks of one run.
    pub fn take(&mut self, run: &Value) -> Result<(), String> {
        let machine = machine(&run["machine"])?;
        if !self.machines.contains(&machine) {
            self.machines.push(machine);
        }
        for benchmark in array(run, "benchmarks")? {
            let name = text(benchmark, "name")?;
            let section = if benchmark["tables"].is_array() {
                of_tables(benchmark, &run["device"])
            } else {
                self.versions.extend(versions(benchmark)?);
                of_libraries(benchmark)
            };
            let mut section = section.map_err(|e| format!("{name}: {e}"))?;
            section.conditions.extend(moment(&run["machine"]));
            self.sections.push(section);
        }
        Ok(())
    }
}

fn text(of: &Value, key: &str) -> Result<String, String> {
    let found = of[key].as_str().map(str::to_owned);
    found.ok_or_else(|| format!("`{key}` is no text"))
}

/// Nothing where there is none.
fn optional(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}

fn array<'a>(of: &'a Value, key: &str) -> Result<&'a Vec<Value>, String> {
    of[key]
        .as_array()
        .ok_or_else(|| format!("`{key}` is no list"))
}

fn texts(of: &Value, key: &str) -> Result<Vec<String>, String> {
    let all = array(of, key)?
        .iter()
        .map(|t| t.as_str().map(str::to_owned));
    all.collect::<Option<_>>()
        .ok_or_else(|| format!("`{key}` has what is no text"))
}

/// What it is, and which commit was measured.
fn machine(of: &Value) -> Result<String, String> {
    let mut parts = vec![text(of, "processor")?];
    parts.extend(of["cores"].as_u64().map(|cores| format!("{cores} cores")));
    parts.extend(named(of, "kernel", "Linux "));
    parts.extend(named(of, "commit", "commit "));
    Ok(parts.join(", "))
}

/// When it was measured, and what else ran then.
fn moment(of: &Value) -> Vec<String> {
    let parts = [named(of, "load", "load "), named(of, "date", "")];
    parts.into_iter().flatten().collect()
}

fn named(of: &Value, key: &str, before: &str) -> Option<String> {
    of[key].as_str().map(|value| format!("{before}{value}"))
}

fn versions(benchmark: &Value) -> Result<Vec<(String, String)>, String> {
    let pair = |l: &Value| Ok((text(l, "name")?, optional(l, "version")));
    let all: Vec<_> = array(benchmark, "libraries")?
        .iter()
        .map(pair)
        .collect::<Result<_, String>>()?;
    Ok(all
        .into_iter()
        .filter(|(_, version)| !version.is_empty())
        .collect())
}

fn of_libraries(benchmark: &Value) -> Result<Section, String> {
    let mut results = Results::default();
    let mut series = named_series(benchmark)?;
    for point in array(benchmark, "points")? {
        take_point(point, &mut series, &mut results)?;
    }
    for one in &mut series {
        one.points.sort_unstable();
        one.points.dedup();
    }
    series.retain(|s| !s.points.is_empty());
    let libraries = libraries(benchmark)?;
    let measured: Vec<Measured> = series.iter().map(Series::measured).collect();
    let comparison = Comparison::new(&measured, &compared(benchmark, &libraries)?, &results);
    let failures = array(benchmark, "libraries")?
        .iter()
        .map(|l| texts(l, "failures"));
    let failures: Vec<Vec<String>> = failures.collect::<Result<_, _>>()?;
    Ok(Section {
        name: text(benchmark, "name")?,
        about: optional(benchmark, "about"),
        conditions: named(benchmark, "conditions", "").into_iter().collect(),
        content: Content::Figures(Box::new(Figures {
            axis: text(benchmark, "axis")?,
            libraries,
            series,
            results,
            comparison,
            failures: failures.concat(),
        })),
    })
}

impl Series {
    pub fn measured(&self) -> Measured<'_> {
        Measured {
            name: &self.name,
            larger_is_better: larger_is_better(&self.unit),
            points: &self.points,
        }
    }
}

/// Those that the benchmark names, in its order; others, such as the floor's, come with their points.
fn named_series(benchmark: &Value) -> Result<Vec<Series>, String> {
    let one = |s: &Value| {
        Ok(Series {
            name: text(s, "name")?,
            unit: text(s, "unit")?,
            about: text(s, "about")?,
            points: Vec::new(),
        })
    };
    array(benchmark, "series")?.iter().map(one).collect()
}

fn take_point(
    point: &Value,
    series: &mut Vec<Series>,
    results: &mut Results,
) -> Result<(), String> {
    let (library, name, unit) = (
        text(point, "library")?,
        text(point, "series")?,
        text(point, "unit")?,
    );
    let x = point["x"].as_u64().ok_or("`x` is no number")?;
    let rounds = array(point, "rounds")?.iter().map(Value::as_f64);
    let rounds: Vec<f64> = rounds
        .collect::<Option<_>>()
        .ok_or("`rounds` has what is no number")?;
    for &median in &rounds {
        results.add(
            &library,
            &name,
            x,
            point["best"].as_f64().unwrap_or(median),
            median,
        );
    }
    if let Some(seconds) = point["over_limit_seconds"].as_f64() {
        results.mark_over_limit(&library, &name, &[x], x, seconds);
    }
    match series.iter_mut().find(|s| s.name == name) {
        Some(one) => one.points.push(x),
        None => series.push(Series {
            name,
            unit,
            about: String::new(),
            points: vec![x],
        }),
    }
    Ok(())
}

/// All columns, ours first.
fn libraries(benchmark: &Value) -> Result<Vec<String>, String> {
    let names = array(benchmark, "libraries")?
        .iter()
        .map(|l| text(l, "name"));
    let mut names: Vec<String> = names.collect::<Result<_, _>>()?;
    names.sort_by_key(|name| name != OURS);
    Ok(names)
}

/// Those that are libraries, not the machine's limits.
fn compared(benchmark: &Value, libraries: &[String]) -> Result<Vec<String>, String> {
    let is_floor = |l: &&Value| l["is_floor"].as_bool() == Some(true);
    let floors = array(benchmark, "libraries")?.iter().filter(is_floor);
    let floors: Vec<String> = floors.map(|l| text(l, "name")).collect::<Result<_, _>>()?;
    Ok(libraries
        .iter()
        .filter(|l| !floors.contains(l))
        .cloned()
        .collect())
}

fn of_tables(benchmark: &Value, device: &Value) -> Result<Section, String> {
    let table = |t: &Value| {
        let mut rows = vec![texts(t, "header")?];
        for row in array(t, "rows")? {
            let cells = row.as_array().map(|cells| {
                cells
                    .iter()
                    .map(|c| c.as_str().unwrap_or_default().to_owned())
            });
            rows.push(cells.ok_or("a row is no list")?.collect());
        }
        Ok(Table {
            title: text(t, "title")?,
            rows,
        })
    };
    let mut notes = texts(benchmark, "notes")?;
    notes.extend(device.as_str().map(str::to_owned));
    Ok(Section {
        name: text(benchmark, "name")?,
        about: String::new(),
        conditions: notes,
        content: Content::Tables {
            tables: array(benchmark, "tables")?
                .iter()
                .map(table)
                .collect::<Result<_, String>>()?,
            panels: array(benchmark, "panels")?
                .iter()
                .map(panel)
                .collect::<Result<_, String>>()?,
        },
    })
}

fn panel(of: &Value) -> Result<Panel, String> {
    let mut curves = Vec::new();
    for (index, curve) in array(of, "curves")?.iter().enumerate() {
        let name = curve[0].as_str().ok_or("a curve has no name")?;
        let points = curve[1].as_array().ok_or("a curve has no points")?.iter();
        let points = points.map(|p| Some((p[0].as_u64()?, p[1].as_f64()?)));
        curves.push(Curve {
            name: name.into(),
            // The first look is the floor's.
            look: index + 1,
            points: points
                .collect::<Option<_>>()
                .ok_or("a curve's point is no pair")?,
            stopped: None,
        });
    }
    Ok(Panel::of_curves(
        text(of, "title")?,
        text(of, "x_label")?,
        text(of, "y_label")?,
        curves,
    ))
}

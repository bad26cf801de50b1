//! One benchmark of the page: a map of its ratios, a plot and a table for each of its series.

use std::fmt::Write;

use super::read::{Content, Figures, Section, Series, Table};
use crate::bench::benchmark::larger_is_better;
use crate::bench::compare::{Point, Ratio, Summary};
use crate::bench::ends;
use crate::bench::plot::{Curve, Panel, escape};
use crate::bench::stats::{binary, three_digits};
use crate::bench::summary::{interval, sentence};

/// A benchmark of more series shows only the first ones' plots and tables before somebody opens others.
const OPEN: usize = 4;

/// `id` is what links lead to.
pub fn render(section: &Section, id: &str) -> String {
    let mut out = format!(
        "<section id=\"{id}\">\n<h2>{}</h2>\n",
        escape(&section.name)
    );
    for text in [&section.about, &section.conditions.join(", ")] {
        if !text.is_empty() {
            let _ = writeln!(out, "<p>{}</p>", escape(text));
        }
    }
    match &section.content {
        Content::Figures(figures) => of_figures(&mut out, figures),
        Content::Tables { tables, panels } => of_tables(&mut out, tables, panels),
    }
    out.push_str("</section>\n");
    out
}

fn of_tables(out: &mut String, tables: &[Table], panels: &[Panel]) {
    for panel in panels {
        let _ = writeln!(out, "<figure>{}</figure>", panel.inline());
    }
    for table in tables {
        let _ = writeln!(out, "<h3>{}</h3>", escape(&table.title));
        let row = |row: &Vec<String>| row.iter().map(|cell| Cell::of(cell)).collect();
        out.push_str(&rows(&table.rows.iter().map(row).collect::<Vec<_>>(), ""));
    }
}

fn of_figures(out: &mut String, figures: &Figures) {
    for failure in &figures.failures {
        let _ = writeln!(out, "<p class=\"failure\">{}</p>", escape(failure));
    }
    if let Some(all) = &figures.comparison.overall {
        let _ = writeln!(
            out,
            "<p>Geometric mean of weft/best: {}; {}.</p>",
            with_interval(&all.mean),
            sentence(all)
        );
        out.push_str(&map(figures));
    }
    for (index, series) in figures.series.iter().enumerate() {
        let open = if index < OPEN && figures.series.len() <= 2 * OPEN {
            " open=\"open\""
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "<details{open}><summary><b>{}</b> {} ({}, {} is better){}</summary>\n<figure>{}</figure>\n{}</details>",
            escape(&series.name),
            escape(&series.about),
            escape(&series.unit),
            if larger_is_better(&series.unit) {
                "higher"
            } else {
                "lower"
            },
            mean_of(figures, series),
            panel(figures, series).inline(),
            table(figures, series)
        );
    }
}

fn mean_of(figures: &Figures, series: &Series) -> String {
    let found = figures
        .comparison
        .series
        .iter()
        .find(|(name, _)| *name == series.name);
    found.map_or(String::new(), |(_, summary)| format!(" {}", badge(summary)))
}

/// A mean in the colour that says where it is.
pub fn badge(summary: &Summary) -> String {
    let mean = &summary.mean;
    format!(
        "<span class=\"{}\" title=\"95 %: {}\">{:.2}</span>",
        colour(mean.value),
        interval(mean),
        mean.value
    )
}

fn with_interval(ratio: &Ratio) -> String {
    format!("{:.2} ({})", ratio.value, interval(ratio))
}

/// The class of a ratio of times: `a` ahead, `l` level, `b` behind, with a number that grows with the distance.
pub fn colour(ratio: f64) -> &'static str {
    match ratio {
        r if r < 0.5 => "r a3",
        r if r < 0.8 => "r a2",
        r if r < 0.95 => "r a1",
        r if r <= 1.05 => "r l",
        r if r <= 1.25 => "r b1",
        r if r <= 2.0 => "r b2",
        _ => "r b3",
    }
}

#[derive(Default)]
struct Cell {
    text: String,
    class: &'static str,
    title: String,
}

impl Cell {
    fn of(text: &str) -> Cell {
        Cell {
            text: text.into(),
            ..Cell::default()
        }
    }
}

/// A table that scrolls sideways where it is too wide. The first row is its header, the first column names rows.
fn rows(all: &[Vec<Cell>], class: &str) -> String {
    let mut out = format!("<div class=\"wide\"><table class=\"{class}\">\n");
    for (index, row) in all.iter().enumerate() {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let tag = if index == 0 || column == 0 {
                "th"
            } else {
                "td"
            };
            let _ = write!(out, "<{tag}");
            for (name, value) in [("class", cell.class), ("title", &cell.title)] {
                if !value.is_empty() {
                    let _ = write!(out, " {name}=\"{}\"", escape(value));
                }
            }
            let _ = write!(out, ">{}</{tag}>", escape(&cell.text));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    out
}

/// Ratios of times, a row for each series, a column for each point.
fn map(figures: &Figures) -> String {
    let compared = |s: &&Series| figures.comparison.points.iter().any(|p| p.series == s.name);
    let series: Vec<&Series> = figures.series.iter().filter(compared).collect();
    let mut points: Vec<u64> = series.iter().flat_map(|s| s.points.clone()).collect();
    points.sort_unstable();
    points.dedup();
    let mut all = vec![vec![Cell::of(&figures.axis)]];
    all[0].extend(points.iter().map(|&x| Cell::of(&binary(x))));
    for one in series {
        let mut row = vec![Cell::of(&one.name)];
        row.extend(points.iter().map(|&x| map_cell(figures, one, x)));
        all.push(row);
    }
    rows(&all, "map")
}

fn map_cell(figures: &Figures, series: &Series, x: u64) -> Cell {
    let Some(point) = figures.comparison.at(&series.name, x) else {
        return Cell::default();
    };
    let value = |library: &String| {
        let value = figures.results.value(library, &series.name, x)?;
        Some(format!("{library} {}", three_digits(value)))
    };
    let values: Vec<String> = figures.libraries.iter().filter_map(value).collect();
    Cell {
        text: format!("{:.2}", point.slowness.value),
        class: colour(point.slowness.value),
        title: format!(
            "{} {}: {} of {}; {} {}",
            series.name,
            binary(x),
            with_interval(&point.slowness),
            point.best,
            values.join(", "),
            series.unit
        ),
    }
}

fn panel(figures: &Figures, series: &Series) -> Panel {
    let curve = |library: &String| {
        let cell = |x: u64| figures.results.cell(library, &series.name, x);
        let value = |&x: &u64| Some((x, figures.results.value(library, &series.name, x)?));
        let is_stopped = |x: &&u64| cell(**x).is_some_and(|c| c.over_limit.is_some());
        let stopped = series.points.iter().find(is_stopped).copied();
        Curve::new(
            library,
            series.points.iter().filter_map(value).collect(),
            stopped,
        )
    };
    Panel {
        title: series.name.clone(),
        x_label: figures.axis.clone(),
        y_label: series.unit.clone(),
        points: series.points.clone(),
        is_percentage: series.unit == "%",
        curves: figures
            .libraries
            .iter()
            .map(curve)
            .filter(|c| !c.points.is_empty())
            .collect(),
    }
}

fn table(figures: &Figures, series: &Series) -> String {
    let has_any = |l: &&String| {
        series
            .points
            .iter()
            .any(|&x| figures.results.cell(l, &series.name, x).is_some())
    };
    let libraries: Vec<&String> = figures.libraries.iter().filter(has_any).collect();
    let compared = series
        .points
        .iter()
        .any(|&x| figures.comparison.at(&series.name, x).is_some());
    let mut header = vec![Cell::of(&figures.axis)];
    header.extend(libraries.iter().map(|l| Cell::of(l)));
    if compared {
        header.extend(["weft/best", "95 %"].map(Cell::of));
    }
    let mut all = vec![header];
    for &x in &series.points {
        let mut row = vec![Cell::of(&binary(x))];
        row.extend(libraries.iter().map(|l| figure(figures, l, series, x)));
        if compared {
            row.extend(ratio(figures.comparison.at(&series.name, x)));
        }
        all.push(row);
    }
    for (x, first) in ends::pairs(&figures.axis, &series.points) {
        let mut row = vec![Cell::of(&format!("{}/{}", binary(x), binary(first)))];
        row.extend(libraries.iter().map(|l| {
            let value = |x| figures.results.value(l, &series.name, x);
            let both = value(first).zip(value(x));
            Cell::of(&both.map_or("-".into(), |(a, b)| format!("x {}", three_digits(b / a))))
        }));
        all.push(row);
    }
    rows(&all, "")
}

/// A library's median; the rounds for who points at it.
fn figure(figures: &Figures, library: &str, series: &Series, x: u64) -> Cell {
    let Some(cell) = figures.results.cell(library, &series.name, x) else {
        return Cell::of("-");
    };
    let rounds: Vec<String> = cell.medians.iter().map(|&m| three_digits(m)).collect();
    let text = match cell.over_limit {
        Some(seconds) => format!("> {seconds} s"),
        None => cell.value().map_or("-".into(), three_digits),
    };
    Cell {
        text,
        class: "",
        title: format!("rounds: {}", rounds.join(", ")),
    }
}

/// As the figures are, coloured by what it means.
fn ratio(point: Option<&Point>) -> [Cell; 2] {
    let Some(point) = point else {
        return ["-", "-"].map(Cell::of);
    };
    let value = Cell {
        text: format!("{:.2}", point.ratio.value),
        class: colour(point.slowness.value),
        title: format!("of {}", point.best),
    };
    [value, Cell::of(&interval(&point.ratio))]
}

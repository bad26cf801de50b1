//! The plot of a benchmark as SVG: a panel for each series, points on a logarithmic axis, a line for each library.
//! Text and axes follow the reader's light or dark scheme; the lines' colours and marks are told apart in both.

use std::fmt::Write;

use super::catalog::Series;
use super::rounds::FLOOR_COLUMN;
use super::stats::{binary, three_digits};
use super::table::{View, title};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;
const HEAD: f64 = 64.0;
/// Of the machine's floor, then of the libraries by their column. From the colour-blind safe set of Okabe and Ito,
/// those that stand out from white and from black.
const COLOURS: [&str; 6] = [
    "#808080", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#b8860b",
];

const STYLE: &str = "\
text{font-family:system-ui,sans-serif;font-size:13px;fill:#222}\
.title{font-size:15px;font-weight:600}\
.page{fill:#fff}.axis{stroke:#555;fill:none}.grid{stroke:#ddd}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.page{fill:#16181c}.axis{stroke:#999}.grid{stroke:#333}}";

/// One axis: from a value to a position between two ends.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let place = |v: f64| if self.logarithmic { v.ln() } else { v };
        let (low, high) = (place(self.low), place(self.high));
        let part = if high > low {
            (place(value) - low) / (high - low)
        } else {
            0.5
        };
        self.from + part * (self.to - self.from)
    }

    /// 1, 2, 5 of each decade, or the decades alone when there are many; tenths of a linear axis.
    fn ticks(&self) -> Vec<f64> {
        if !self.logarithmic {
            return (0..=5)
                .map(|i| self.low + (self.high - self.low) * f64::from(i) / 5.0)
                .collect();
        }
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = if decades > 3.0 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let all = (first..=last).flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)));
        all.filter(|t| *t >= self.low * 0.999 && *t <= self.high * 1.001)
            .collect()
    }
}

/// A line of a panel.
struct Curve {
    name: String,
    colour: &'static str,
    mark: usize,
    points: Vec<(u64, f64)>,
    /// Where the library was first stopped.
    stopped: Option<u64>,
}

/// The plot as an SVG document; `machine` is the line under the title.
pub fn svg(view: &View, machine: &str) -> String {
    let panels: Vec<(&Series, Vec<Curve>)> = view
        .benchmark
        .series
        .iter()
        .map(|s| (s, curves(view, s)))
        .filter(|(_, c)| !c.is_empty())
        .collect();
    let columns = panels.len().clamp(1, 2);
    let rows = panels.len().div_ceil(2);
    let (width, height) = (WIDTH * columns as f64, HEAD + HEIGHT * rows as f64);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n<style>{STYLE}</style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    text(
        &mut out,
        16.0,
        24.0,
        "start",
        "title",
        &format!("{}: {}", view.benchmark.name, view.benchmark.about),
    );
    paragraph(&mut out, machine, width);
    for (i, (series, curves)) in panels.iter().enumerate() {
        let (x, y) = (WIDTH * (i % 2) as f64, HEAD + HEIGHT * (i / 2) as f64);
        panel(&mut out, view, series, curves, x, y);
    }
    out.push_str("</svg>\n");
    out
}

/// The machine's line in small letters, in two lines where one is too narrow.
fn paragraph(out: &mut String, machine: &str, width: f64) {
    let room = (width / 6.6) as usize;
    let cut = if machine.len() > room {
        machine[..room].rfind(", ")
    } else {
        None
    };
    let (first, second) = cut.map_or((machine, ""), |at| machine.split_at(at + 2));
    for (i, part) in [first, second].iter().enumerate() {
        let y = 42.0 + 15.0 * i as f64;
        let _ = writeln!(
            out,
            "<text x=\"16\" y=\"{y}\" style=\"font-size:11px\">{}</text>",
            escape(part)
        );
    }
}

fn curves(view: &View, series: &Series) -> Vec<Curve> {
    let floor = view
        .points
        .iter()
        .filter_map(|&x| Some((x, view.floor(series, x)?)))
        .collect();
    let mut all = vec![Curve {
        name: FLOOR_COLUMN.into(),
        colour: COLOURS[0],
        mark: 0,
        points: floor,
        stopped: None,
    }];
    for (i, library) in view.libraries.iter().enumerate() {
        let value = |&x: &u64| Some((x, view.results.value(library, series.name, x)?));
        let is_stopped = |x: &&u64| {
            view.results
                .cell(library, series.name, **x)
                .is_some_and(|c| c.over_limit.is_some())
        };
        all.push(Curve {
            name: library.clone(),
            colour: COLOURS[1 + i % (COLOURS.len() - 1)],
            mark: 1 + i,
            points: view.points.iter().filter_map(value).collect(),
            stopped: view.points.iter().find(is_stopped).copied(),
        });
    }
    all.retain(|c| !c.points.is_empty());
    all
}

fn panel(out: &mut String, view: &View, series: &Series, curves: &[Curve], left: f64, top: f64) {
    let x_ends = (left + LEFT, left + WIDTH - RIGHT);
    let y_ends = (top + HEIGHT - BOTTOM, top + TOP);
    let x = x_scale(view.points, x_ends);
    let y = y_scale(series, curves, y_ends);
    text(
        out,
        x_ends.0,
        top + 16.0,
        "start",
        "title",
        &title(view.benchmark, series),
    );
    axes(out, view, series, (&x, &y));
    for curve in curves {
        draw(out, curve, &x, &y);
    }
    legend(out, curves, x_ends.0, top + 31.0);
}

fn x_scale(points: &[u64], (from, to): (f64, f64)) -> Scale {
    let low = points.iter().copied().min().unwrap_or(1).max(1) as f64;
    let high = points.iter().copied().max().unwrap_or(1).max(1) as f64;
    let margin = 12.0;
    Scale {
        low,
        high,
        from: from + margin,
        to: to - margin,
        logarithmic: true,
    }
}

fn y_scale(series: &Series, curves: &[Curve], (from, to): (f64, f64)) -> Scale {
    if series.unit == "%" {
        return Scale {
            low: 0.0,
            high: 100.0,
            from,
            to,
            logarithmic: false,
        };
    }
    let values = || {
        curves
            .iter()
            .flat_map(|c| c.points.iter().map(|p| p.1))
            .filter(|v| *v > 0.0)
    };
    let low = values().fold(f64::INFINITY, f64::min).min(1e12);
    let high = values().fold(low, f64::max);
    Scale {
        low: low / 1.3,
        high: high * 1.3,
        from,
        to,
        logarithmic: true,
    }
}

fn axes(out: &mut String, view: &View, series: &Series, (x, y): (&Scale, &Scale)) {
    let (left, right) = (x.from - 12.0, x.to + 12.0);
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
        );
        let label = three_digits(tick);
        let short = if label.contains('.') {
            label.trim_end_matches('0').trim_end_matches('.')
        } else {
            &label
        };
        text(out, left - 6.0, at + 4.0, "end", "", short);
    }
    for &point in view.points {
        let at = x.at(point.max(1) as f64);
        let (low, high) = (y.from, y.to);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{low}\" y2=\"{high}\"/>"
        );
        text(out, at, low + 17.0, "middle", "", &binary(point));
    }
    let (low, high) = (y.from, y.to);
    let _ = writeln!(
        out,
        "<path class=\"axis\" d=\"M{left} {high}V{low}H{right}\"/>"
    );
    text(
        out,
        f64::midpoint(left, right),
        low + 38.0,
        "middle",
        "",
        view.benchmark.axis_label,
    );
    let (tx, ty) = (left - 58.0, f64::midpoint(low, high));
    let label = format!("{} ({})", series.about, series.unit);
    let _ = writeln!(
        out,
        "<text x=\"{tx:.1}\" y=\"{ty:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 {tx:.1} {ty:.1})\">{}</text>",
        escape(&label)
    );
}

fn draw(out: &mut String, curve: &Curve, x: &Scale, y: &Scale) {
    let places: Vec<(f64, f64)> = curve
        .points
        .iter()
        .map(|&(p, v)| (x.at(p.max(1) as f64), y.at(v.max(y.low))))
        .collect();
    let path: Vec<String> = places
        .iter()
        .map(|(px, py)| format!("{px:.1},{py:.1}"))
        .collect();
    let colour = curve.colour;
    let dash = if curve.mark == 0 {
        " stroke-dasharray=\"5 4\""
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} points=\"{}\"/>",
        path.join(" ")
    );
    for &(px, py) in &places {
        mark(out, curve, px, py);
    }
    // It left the picture here: an arrow to the top.
    if let (Some(stopped), Some(&(px, py))) = (curve.stopped, places.last()) {
        let (sx, top) = (x.at(stopped.max(1) as f64), y.to);
        let tip = top + 9.0;
        let _ = writeln!(
            out,
            "<path d=\"M{px:.1} {py:.1}L{sx:.1} {tip:.1}\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"2 4\"/><path d=\"M{sx:.1} {top:.1}l-5 10h10z\" fill=\"{colour}\"/>"
        );
    }
}

fn mark(out: &mut String, curve: &Curve, x: f64, y: f64) {
    let colour = curve.colour;
    let shape = match curve.mark % 5 {
        0 => return,
        1 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\""),
        2 => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"",
            x - 3.5,
            y - 3.5
        ),
        3 => format!("<path d=\"M{x:.1} {:.1}l5 9h-10z\"", y - 5.0),
        _ => format!("<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"", y - 5.0),
    };
    let _ = writeln!(out, "{shape} fill=\"{colour}\"/>");
}

fn legend(out: &mut String, curves: &[Curve], left: f64, y: f64) {
    let mut x = left;
    for curve in curves {
        let dash = if curve.mark == 0 {
            " stroke-dasharray=\"5 4\""
        } else {
            ""
        };
        let (end, at) = (x + 22.0, y - 4.0);
        let colour = curve.colour;
        let _ = writeln!(
            out,
            "<line x1=\"{x}\" x2=\"{end}\" y1=\"{at}\" y2=\"{at}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>"
        );
        mark(out, curve, x + 11.0, at);
        let limit = if curve.stopped.is_some() {
            " (\u{25b2} over the time limit)"
        } else {
            ""
        };
        let label = format!("{}{limit}", curve.name);
        text(out, x + 27.0, y, "start", "", &label);
        x += 40.0 + 7.2 * label.chars().count() as f64;
    }
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, class: &str, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>",
        escape(words)
    );
}

fn escape(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::catalog::find;
    use crate::bench::record::Results;

    #[test]
    fn a_scale_maps_its_ends_and_marks_round_numbers() {
        let scale = Scale {
            low: 10.0,
            high: 1000.0,
            from: 0.0,
            to: 100.0,
            logarithmic: true,
        };
        assert!((scale.at(10.0), scale.at(1000.0)) == (0.0, 100.0));
        assert!((scale.at(100.0) - 50.0).abs() < 1e-9);
        let ticks: Vec<u64> = scale.ticks().iter().map(|t| t.round() as u64).collect();
        assert_eq!(ticks, [10, 20, 50, 100, 200, 500, 1000]);
        let flat = Scale {
            low: 5.0,
            high: 5.0,
            from: 0.0,
            to: 100.0,
            logarithmic: true,
        };
        assert!(flat.at(5.0) == 50.0);
    }

    #[test]
    fn every_library_has_its_line_and_a_stopped_one_its_arrow() {
        let mut results = Results::default();
        for x in [64, 256] {
            results.add("weft", "shuffle", x, 90.0, 100.0);
        }
        results.add("a<b", "shuffle", 64, 400.0, 500.0);
        results.mark_over_limit("a<b", "shuffle", &[64, 256], 256, 20.0);
        let libraries = ["weft".to_string(), "a<b".into()];
        let view = View {
            benchmark: find("shuffle").unwrap(),
            results: &results,
            libraries: &libraries,
            points: &[64, 256],
        };
        let picture = svg(&view, "machine");
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert!(picture.contains("a&lt;b (\u{25b2} over the time limit)"));
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
    }

    #[test]
    fn nothing_measured_is_still_a_document() {
        let view = View {
            benchmark: find("overlap").unwrap(),
            results: &Results::default(),
            libraries: &[],
            points: &[],
        };
        assert!(svg(&view, "").ends_with("</svg>\n"));
    }
}

//! One panel of a plot: axes, grid, legend and a line for each column.

use std::fmt::Write;

use super::scale::Scale;
use crate::bench::rounds::FLOOR_COLUMN;
use crate::bench::stats::{binary, three_digits};

const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;
/// Between the middles of two labels of the axis below.
const LABEL_ROOM: f64 = 34.0;

/// Where a panel stands on the page.
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

pub fn draw_panel(out: &mut String, panel: &Panel, frame: &Frame) {
    let top = frame.top;
    let x_ends = (frame.left + LEFT, frame.left + frame.width - RIGHT);
    let y_ends = (top + frame.height - BOTTOM, top + TOP);
    let x = x_scale(&panel.points, x_ends);
    let y = y_scale(panel, y_ends);
    text(out, x_ends.0, top + 16.0, "start", "title", &panel.title);
    axes(out, panel, (&x, &y));
    for curve in &panel.curves {
        draw(out, panel, curve, (&x, &y));
    }
    legend(out, &panel.curves, x_ends.0, top + 31.0);
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

fn y_scale(panel: &Panel, (from, to): (f64, f64)) -> Scale {
    if panel.is_percentage {
        return Scale {
            low: 0.0,
            high: 100.0,
            from,
            to,
            logarithmic: false,
        };
    }
    let values = || {
        panel
            .curves
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

fn axes(out: &mut String, panel: &Panel, (x, y): (&Scale, &Scale)) {
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
    let mut last = f64::NEG_INFINITY;
    for &point in &panel.points {
        let at = x.at(point.max(1) as f64);
        let (low, high) = (y.from, y.to);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{low}\" y2=\"{high}\"/>"
        );
        if at - last >= LABEL_ROOM {
            text(out, at, low + 17.0, "middle", "", &binary(point));
            last = at;
        }
    }
    let (low, high) = (y.from, y.to);
    let _ = writeln!(
        out,
        "<path class=\"axis\" fill=\"none\" d=\"M{left} {high}V{low}H{right}\"/>"
    );
    text(
        out,
        f64::midpoint(left, right),
        low + 38.0,
        "middle",
        "",
        &panel.x_label,
    );
    let (tx, ty) = (left - 58.0, f64::midpoint(low, high));
    let _ = writeln!(
        out,
        "<text x=\"{tx:.1}\" y=\"{ty:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 {tx:.1} {ty:.1})\">{}</text>",
        escape(&panel.y_label)
    );
}

fn draw(out: &mut String, panel: &Panel, curve: &Curve, (x, y): (&Scale, &Scale)) {
    let places: Vec<(f64, f64)> = curve
        .points
        .iter()
        .map(|&(p, v)| (x.at(p.max(1) as f64), y.at(v.max(y.low))))
        .collect();
    let path: Vec<String> = places
        .iter()
        .map(|(px, py)| format!("{px:.1},{py:.1}"))
        .collect();
    let colour = COLOURS[curve.look % COLOURS.len()];
    let dash = if curve.look == 0 {
        " stroke-dasharray=\"5 4\""
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} points=\"{}\"/>",
        path.join(" ")
    );
    for (&(px, py), &(point, value)) in places.iter().zip(&curve.points) {
        let (value, point) = (three_digits(value), binary(point));
        let tip = format!("{}: {value} at {point} {}", curve.name, panel.x_label);
        let _ = write!(out, "<g><title>{}</title>", escape(&tip));
        // What a pointer finds, where the mark is small or none.
        let _ = write!(
            out,
            "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"6\" fill-opacity=\"0\"/>"
        );
        mark(out, curve, px, py);
        out.push_str("</g>\n");
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
    let colour = COLOURS[curve.look % COLOURS.len()];
    let shape = match curve.look % 5 {
        0 if curve.look == 0 => return,
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\""),
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
        let dash = if curve.look == 0 {
            " stroke-dasharray=\"5 4\""
        } else {
            ""
        };
        let (end, at) = (x + 22.0, y - 4.0);
        let colour = COLOURS[curve.look % COLOURS.len()];
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

/// Colours that stand out from white and from black, and are told apart by most colour-blind readers (after Okabe and Ito). The
/// first is the floor's.
pub const COLOURS: [&str; 8] = [
    "#808080", "#d55e00", "#3b8fd4", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#b8a800",
];

/// Lines over a common axis.
pub struct Panel {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// Where the axis has its ticks.
    pub points: Vec<u64>,
    /// From 0 to 100 in place of a logarithmic axis.
    pub is_percentage: bool,
    pub curves: Vec<Curve>,
}

impl Panel {
    /// With a tick for each point of any of the lines.
    pub fn of_curves(title: String, x_label: String, y_label: String, curves: Vec<Curve>) -> Panel {
        let all = curves.iter().flat_map(|c| c.points.iter().map(|p| p.0));
        let mut points: Vec<u64> = all.collect();
        points.sort_unstable();
        points.dedup();
        Panel {
            title,
            x_label,
            y_label,
            points,
            is_percentage: false,
            curves,
        }
    }
}

/// A line of a panel.
pub struct Curve {
    pub name: String,
    /// Which of the colours and marks. The first is dashed and without marks.
    pub look: usize,
    pub points: Vec<(u64, f64)>,
    /// Where the library was first stopped.
    pub stopped: Option<u64>,
}

impl Curve {
    pub fn new(name: &str, points: Vec<(u64, f64)>, stopped: Option<u64>) -> Curve {
        Curve {
            name: name.into(),
            look: look(name),
            points,
            stopped,
        }
    }
}

pub fn text(out: &mut String, x: f64, y: f64, anchor: &str, class: &str, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>",
        escape(words)
    );
}

pub fn escape(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The look of a library's column.
pub fn look(column: &str) -> usize {
    let known = KNOWN.iter().position(|name| *name == column);
    known.unwrap_or(KNOWN.len() - 1)
}

/// The columns that have the same colour in all plots.
const KNOWN: [&str; 5] = [FLOOR_COLUMN, "weft", "mpich", "openmpi", "intel"];

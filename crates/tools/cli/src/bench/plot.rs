//! The plot of a benchmark as SVG: panels with a logarithmic axis, a line for each library or variant.
//! Text and axes follow the reader's light or dark scheme; the lines' colours and marks are told apart in both.

mod panel;
mod scale;

use super::benchmark::Series;
use super::rounds::FLOOR_COLUMN;
use super::table::{View, title};
use panel::{Frame, draw_panel, text};

pub use panel::{Curve, Panel, escape};

const WIDTH: f64 = 560.0;
/// Of a panel that stands alone.
const WIDTH_ALONE: f64 = 720.0;
/// Of one in a page, which may be read on a small screen.
const WIDTH_INLINE: f64 = 520.0;
const HEIGHT: f64 = 380.0;
/// Height of the title and the machine's line.
const HEAD: f64 = 96.0;
const MARGIN: f64 = 16.0;
/// Width of a small letter.
const LETTER: f64 = 6.6;

pub const STYLE: &str = "\
text{font-family:system-ui,sans-serif;font-size:13px;fill:#222}\
.title{font-size:15px;font-weight:600}.small{font-size:11px}\
.page{fill:#fff}.axis{stroke:#555;fill:none}.grid{stroke:#ddd}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.page{fill:#16181c}.axis{stroke:#999}.grid{stroke:#333}}";

/// A page of panels.
pub struct Chart {
    pub title: String,
    pub about: String,
    /// The line under the title.
    pub machine: String,
    pub panels: Vec<Panel>,
}

impl Chart {
    /// Of an MPI benchmark.
    pub fn of_view(view: &View, machine: &str) -> Chart {
        let panel = |series: &Series| Panel {
            title: title(view.benchmark, series),
            x_label: view.benchmark.axis_label.into(),
            y_label: format!("{} ({})", series.about, series.unit),
            points: series.points(view.points).to_vec(),
            is_percentage: series.unit == "%",
            curves: curves(view, series),
        };
        Chart {
            title: view.benchmark.name.into(),
            about: about(view),
            machine: machine.into(),
            panels: view.series.iter().map(|s| panel(s)).collect(),
        }
    }

    /// As an SVG document. Panels without a line are left out.
    pub fn svg(&self) -> String {
        let panels = || self.panels.iter().filter(|p| !p.curves.is_empty());
        let count = panels().count();
        let columns = count.clamp(1, 2);
        let panel_width = if columns == 1 { WIDTH_ALONE } else { WIDTH };
        let width = panel_width * columns as f64;
        let height = HEAD + HEIGHT * count.div_ceil(columns) as f64;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\">\n<style>{STYLE}</style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
        );
        self.head(&mut out, width);
        for (i, panel) in panels().enumerate() {
            let frame = Frame {
                left: panel_width * (i % columns) as f64,
                top: HEAD + HEIGHT * (i / columns) as f64,
                width: panel_width,
                height: HEIGHT,
            };
            draw_panel(&mut out, panel, &frame);
        }
        out.push_str("</svg>\n");
        out
    }

    /// What was measured, and on what: the machine's line is broken at a comma where the page is too narrow for it.
    fn head(&self, out: &mut String, width: f64) {
        text(out, MARGIN, 24.0, "start", "title", &self.title);
        text(out, MARGIN, 43.0, "start", "", &self.about);
        let room = ((width - 2.0 * MARGIN) / LETTER) as usize;
        let (mut lines, mut used) = (vec![String::new()], 0);
        for part in self.machine.split_inclusive(", ") {
            let length = part.chars().count();
            if used > 0 && used + length > room {
                lines.push(String::new());
                used = 0;
            }
            used += length;
            if let Some(line) = lines.last_mut() {
                line.push_str(part);
            }
        }
        for (i, line) in lines.iter().enumerate() {
            text(out, MARGIN, 61.0 + 14.0 * i as f64, "start", "small", line);
        }
    }
}

impl Panel {
    /// Alone, as a picture within a page that has [`STYLE`].
    pub fn inline(&self) -> String {
        let frame = Frame {
            left: 0.0,
            top: 0.0,
            width: WIDTH_INLINE,
            height: HEIGHT,
        };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH_INLINE} {HEIGHT}\" role=\"img\">\n"
        );
        draw_panel(&mut out, self, &frame);
        out.push_str("</svg>\n");
        out
    }
}

/// What is measured, and how.
fn about(view: &View) -> String {
    let both = [view.benchmark.about, view.conditions];
    let said: Vec<&str> = both.into_iter().filter(|text| !text.is_empty()).collect();
    said.join("; ")
}

fn curves(view: &View, series: &Series) -> Vec<Curve> {
    let floor = view
        .points
        .iter()
        .filter_map(|&x| Some((x, view.floor(series, x)?)))
        .collect();
    let mut all = vec![Curve::new(FLOOR_COLUMN, floor, None)];
    for library in view.libraries {
        let value = |&x: &u64| Some((x, view.results.value(library, series.name, x)?));
        let is_stopped = |x: &&u64| {
            view.results
                .cell(library, series.name, **x)
                .is_some_and(|c| c.over_limit.is_some())
        };
        let stopped = view.points.iter().find(is_stopped).copied();
        all.push(Curve::new(
            library,
            view.points.iter().filter_map(value).collect(),
            stopped,
        ));
    }
    all.retain(|c| !c.points.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::catalog::find;
    use crate::bench::record::Results;

    #[test]
    fn every_library_has_its_line_and_a_stopped_one_its_arrow() {
        let mut results = Results::default();
        for x in [64, 256] {
            results.add("weft", "shuffle", x, 90.0, 100.0);
        }
        results.add("a<b", "shuffle", 64, 400.0, 500.0);
        results.mark_over_limit("a<b", "shuffle", &[64, 256], 256, 20.0);
        let libraries = ["weft".to_string(), "a<b".into()];
        let benchmark = find("shuffle").unwrap();
        let series: Vec<&Series> = benchmark.series.iter().collect();
        let view = View::new(
            benchmark,
            &series,
            &results,
            &libraries,
            &[64, 256],
            "3 rounds",
        );
        let picture = Chart::of_view(&view, "machine").svg();
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert!(picture.contains("<title>weft: 100 at 256 requests</title>"));
        assert!(picture.contains("a&lt;b (\u{25b2} over the time limit)"));
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
    }

    #[test]
    fn nothing_measured_is_still_a_document() {
        let results = Results::default();
        let view = View::new(find("overlap").unwrap(), &[], &results, &[], &[], "");
        assert!(Chart::of_view(&view, "").svg().ends_with("</svg>\n"));
    }
}

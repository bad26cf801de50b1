//! The page: what was measured where, an overview, and a section for each benchmark. It is well-formed XML too, so that a test can
//! read it.

use std::fmt::Write;

use super::read::{Content, Document, Section};
use super::section::{self, badge};
use crate::bench::compare::Summary;
use crate::bench::plot::{STYLE, escape};
use crate::bench::stats::binary;

pub fn render(document: &Document) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>WeftMPI, measured</title>\n<style>{STYLE}\n{}</style>\n</head>\n<body>\n<h1>WeftMPI, measured</h1>\n",
        include_str!("style.css")
    );
    for machine in &document.machines {
        let _ = writeln!(out, "<p class=\"machine\">{}</p>", escape(machine));
    }
    versions(&mut out, document);
    legend(&mut out);
    overview(&mut out, &document.sections);
    for (index, one) in document.sections.iter().enumerate() {
        out.push_str(&section::render(one, &id(index)));
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn versions(out: &mut String, document: &Document) {
    out.push_str("<dl>\n");
    for (name, version) in &document.versions {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(version));
    }
    out.push_str("</dl>\n");
}

/// What the colours mean.
fn legend(out: &mut String) {
    let examples = [
        (0.4, "0.5"),
        (0.7, "0.8"),
        (0.9, "0.95"),
        (1.0, "1.05"),
        (1.2, "1.25"),
        (1.5, "2"),
    ];
    out.push_str("<p>Our time over that of the best other library, less is better; where a rate was measured, their rate over ours. ");
    for (ratio, below) in examples {
        let _ = write!(
            out,
            "<span class=\"{}\">to {below}</span> ",
            section::colour(ratio)
        );
    }
    let _ = write!(
        out,
        "<span class=\"{}\">above</span>. ",
        section::colour(9.0)
    );
    out.push_str("Means are geometric; intervals are of 95 %. Point at a figure for more.</p>\n");
}

fn overview(out: &mut String, sections: &[Section]) {
    out.push_str("<div class=\"wide\"><table>\n<tr><th></th><th>mean</th><th>points</th><th>ahead</th><th>level</th><th>behind</th>");
    out.push_str("<th title=\"with the whole interval\">surely</th><th>worst</th><th></th></tr>\n");
    for (index, section) in sections.iter().enumerate() {
        let (id, name) = (id(index), escape(&section.name));
        let _ = write!(out, "<tr><th><a href=\"#{id}\">{name}</a></th>");
        let summary = match &section.content {
            Content::Figures(figures) => figures.comparison.overall.as_ref(),
            Content::Tables { .. } => None,
        };
        match summary {
            Some(all) => counts(out, all),
            None => out.push_str("<td colspan=\"7\"></td>"),
        }
        let _ = writeln!(
            out,
            "<td class=\"said\">{}</td></tr>",
            escape(&section.conditions.join(", "))
        );
    }
    out.push_str("</table></div>\n");
}

/// A benchmark may be there twice, under other conditions.
fn id(index: usize) -> String {
    format!("benchmark-{index}")
}

fn counts(out: &mut String, all: &Summary) {
    let _ = write!(out, "<td>{}</td>", badge(all));
    for count in [
        all.points,
        all.ahead,
        all.level,
        all.behind,
        all.surely_behind,
    ] {
        let _ = write!(out, "<td>{count}</td>");
    }
    let worst = &all.worst;
    let _ = write!(
        out,
        "<td class=\"said\">{:.2} {} {}</td>",
        worst.slowness.value,
        escape(&worst.series),
        binary(worst.x)
    );
}

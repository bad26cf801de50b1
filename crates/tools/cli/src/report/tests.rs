//! Pages of made-up runs, read by an XML parser.

use roxmltree::{Document as Xml, ParsingOptions};
use serde_json::{Value, json};

use super::page;
use super::read::Document;
use crate::bench::stats::three_digits;

fn of_libraries() -> Value {
    let point = |library: &str, series: &str, x: u64, unit: &str, rounds: &[f64]| {
        json!({
            "library": library, "series": series, "x": x, "unit": unit, "rounds": rounds, "median": rounds[rounds.len() / 2],
            "best": rounds[0], "over_limit_seconds": null,
        })
    };
    let stopped = json!({
        "library": "mpich", "series": "time", "x": 256, "unit": "us", "rounds": [], "median": null, "best": null,
        "over_limit_seconds": 20.0,
    });
    let subject = |name: &str, failures: &[&str]| json!({"name": name, "version": format!("{name} <1.0> & more"), "command": "", "processors": {}, "failures": failures, "is_floor": name == "floor"});
    json!({
        "name": "burst", "about": "a < b & c", "axis": "requests", "conditions": "2 ranks, 3 rounds", "floors": {},
        "series": [{"name": "time", "unit": "us", "about": "of one"}, {"name": "rate", "unit": "Mmsg/s", "about": "of all"}],
        "libraries": [subject("floor", &[]), subject("mpich", &["mpich, round 1: <killed>"]), subject("weft", &[])],
        "points": [
            point("weft", "time", 64, "us", &[1.0, 2.5, 3.0]), point("mpich", "time", 64, "us", &[4.0, 5.0, 6.0]),
            point("weft", "time", 256, "us", &[7.0, 7.5, 8.0]), stopped,
            point("weft", "rate", 64, "Mmsg/s", &[10.0]), point("mpich", "rate", 64, "Mmsg/s", &[40.0]),
            point("floor", "ring", 64, "us", &[0.123]),
        ],
    })
}

fn run(benchmarks: Value) -> Value {
    json!({
        "machine": {"processor": "A \"fast\" one", "cores": 2, "kernel": "6", "load": "0.1", "date": "2026-01-01T00:00:00Z", "commit": "abc+"},
        "device": "device d, in software",
        "benchmarks": benchmarks,
    })
}

fn page_of(run: &Value) -> String {
    let mut document = Document::default();
    document.take(run).unwrap();
    page::render(&document)
}

fn xml(page: &str) -> Xml<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Xml::parse_with_options(page, options).unwrap_or_else(|e| panic!("{e}:\n{page}"))
}

/// The rows of the tables that have this text as their first cell, with the pages' other cells behind it.
fn rows(xml: &Xml, first: &str) -> Vec<Vec<String>> {
    let text = |node: roxmltree::Node| {
        node.descendants()
            .filter(roxmltree::Node::is_text)
            .filter_map(|n| n.text())
            .collect::<String>()
    };
    let rows = xml.descendants().filter(|n| n.has_tag_name("tr"));
    let cells = rows.map(|row| {
        row.children()
            .filter(|n| n.is_element())
            .map(text)
            .collect::<Vec<_>>()
    });
    cells
        .filter(|cells| cells.first().is_some_and(|c| c == first))
        .collect()
}

#[test]
fn every_figure_and_every_round_is_there() {
    let run = run(json!([of_libraries()]));
    let page = page_of(&run);
    let xml = xml(&page);
    let titles: Vec<&str> = xml
        .descendants()
        .filter_map(|n| n.attribute("title"))
        .collect();
    for point in run["benchmarks"][0]["points"].as_array().unwrap() {
        let rounds: Vec<f64> = point["rounds"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        let said: Vec<String> = rounds.iter().map(|&r| three_digits(r)).collect();
        assert!(
            titles.contains(&format!("rounds: {}", said.join(", ")).as_str()),
            "{point}"
        );
        let text = point["median"]
            .as_f64()
            .map_or("> 20 s".into(), three_digits);
        let x = point["x"].to_string();
        assert!(
            rows(&xml, &x).iter().flatten().any(|cell| *cell == text),
            "{point}"
        );
    }
    assert_eq!(
        rows(&xml, "64")[0],
        ["64", "2.50", "5.00", "0.50", "0.25..0.50"]
    );
    assert_eq!(rows(&xml, "256/64")[0], ["256/64", "x 3.00", "-"]);
}

#[test]
fn rates_are_coloured_by_what_they_mean() {
    let page = page_of(&run(json!([of_libraries()])));
    let xml = xml(&page);
    // A quarter of the rate is four times the time.
    assert_eq!(rows(&xml, "rate")[0], ["rate", "4.00", ""]);
    assert_eq!(
        rows(&xml, "64")[1],
        ["64", "10.0", "40.0", "0.25", "0.25..0.25"]
    );
    let cell = xml
        .descendants()
        .find(|n| n.text() == Some("0.25") && n.has_tag_name("td"));
    assert_eq!(cell.unwrap().attribute("class"), Some("r b3"));
    // Of the two: 0.5 and 4.
    assert_eq!(
        rows(&xml, "burst")[0][..6],
        ["burst", "1.41", "2", "1", "0", "1"]
    );
}

#[test]
fn what_was_measured_is_said_and_nothing_comes_from_elsewhere() {
    let page = page_of(&run(json!([of_libraries()])));
    let xml = xml(&page);
    let said: String = xml.descendants().filter_map(|n| n.text()).collect();
    for text in [
        "A \"fast\" one, 2 cores, Linux 6, commit abc+",
        "a < b & c",
        "2 ranks, 3 rounds, load 0.1, 2026-01-01T00:00:00Z",
        "mpich, round 1: <killed>",
        "mpich <1.0> & more",
        "weft: 2.50 at 64 requests",
    ] {
        assert!(said.contains(text), "{text}");
    }
    let is_foreign = |n: &roxmltree::Node| {
        let links = n
            .attributes()
            .filter(|a| ["src", "href"].contains(&a.name()));
        n.has_tag_name("script")
            || n.has_tag_name("link")
            || links.into_iter().any(|a| !a.value().starts_with('#'))
    };
    assert_eq!(xml.descendants().find(is_foreign), None);
    assert!(page.contains("prefers-color-scheme:dark") && page.contains("width=device-width"));
}

#[test]
fn tables_and_plots_of_benchmarks_on_verbs_are_there() {
    let verbs = json!({
        "name": "sharing", "notes": ["pinned"], "points": [],
        "tables": [{"title": "rates <x>", "header": ["threads", "QP"], "rows": [["16", "3.25"]]}],
        "panels": [{"title": "rates", "x_label": "threads", "y_label": "M/s", "curves": [["QP", [[1, 0.5], [16, 3.25]]]]}],
    });
    let page = page_of(&run(json!([verbs])));
    let xml = xml(&page);
    assert_eq!(rows(&xml, "16"), [["16", "3.25"]]);
    let said: String = xml.descendants().filter_map(|n| n.text()).collect();
    for text in [
        "pinned, device d, in software",
        "QP: 3.25 at 16 threads",
        "rates <x>",
    ] {
        assert!(said.contains(text), "{text}");
    }
}

#[test]
fn a_file_of_another_form_is_refused_with_what_it_lacks() {
    let refused = |benchmarks: Value| Document::default().take(&run(benchmarks)).unwrap_err();
    assert_eq!(refused(json!([{"axis": "bytes"}])), "`name` is no text");
    let mut benchmark = of_libraries();
    benchmark["points"][2]["rounds"] = json!(["fast"]);
    assert_eq!(
        refused(json!([benchmark])),
        "burst: `rounds` has what is no number"
    );
    let nothing = Document::default().take(&json!({}));
    assert_eq!(nothing.unwrap_err(), "`processor` is no text");
}

//! `weft plan collective`: the library's plan, written and read again, beside others.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn weft(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.arg("plan").args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = weft(&[arguments, &["--json"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_is_written_takes_as_long_as_was_planned() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bcast.goal");
    let network = ["--L", "1000", "--o", "250", "--G", "0.5"];
    let plan = ["collective", "bcast", "--hosts", "64", "--bytes", "9,64K"];
    let written = ["--goal", file.to_str().unwrap()];
    let planned = json(&[&plan[..], &network, &written].concat());
    let rows = planned["rows"].as_array().unwrap();
    // A binomial tree: six rounds of both overheads, latency and eight bytes behind the first.
    assert_eq!(rows[0]["algorithm"], "binomial");
    assert_eq!(rows[0]["ours"]["ns"], 6.0 * (1500.0 + 4.0));
    assert_eq!(rows[0]["others"]["binomial"]["ns"], rows[0]["ours"]["ns"]);
    assert_eq!(rows[0]["ratio"], 1.0);
    for (row, name) in rows.iter().zip(["bcast-9.goal", "bcast-64K.goal"]) {
        let file = folder.path().join(name);
        let simulated = json(&[&["goal", file.to_str().unwrap()], &network[..]].concat());
        assert_eq!(simulated["ranks"], 64);
        assert_eq!(simulated["ns"], row["ours"]["ns"], "{name}");
    }
}

#[test]
fn a_table_has_a_line_for_each_length_and_says_what_is_not_exact() {
    let plan = ["collective", "allgather", "--hosts", "512", "--ppn", "2"];
    let output = weft(&[&plan[..], &["--bytes", "8,4M"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "allgather on 512 hosts, 2 ranks on each; simulated (LogGOPS)"
    );
    let of_8: Vec<&str> = lines[2].split_whitespace().collect();
    assert_eq!(of_8[..2], ["8", "hierarchical"]);
    assert!(lines[2].contains('*'), "{text}");
    assert!(text.contains("*: by what one host does"), "{text}");
    assert_eq!(
        lines.last().unwrap(),
        &"4M: a rank would hold 4.0 GiB, which is not planned"
    );
}

#[test]
fn what_is_wrong_is_a_line() {
    let wrong = weft(&["collective", "gossip"]);
    assert_eq!(wrong.status.code(), Some(2));
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(error.contains("one of barrier, bcast,"), "{error}");
    let missing = Path::new("/nonexistent/plan.goal").display().to_string();
    let unwritten = weft(&["collective", "barrier", "--hosts", "2", "--goal", &missing]);
    assert_eq!(unwritten.status.code(), Some(1));
    let error = String::from_utf8(unwritten.stderr).unwrap();
    let line = error.lines().last().unwrap();
    assert!(
        line.starts_with("weft plan collective: /nonexistent/plan.goal: "),
        "{error}"
    );
}

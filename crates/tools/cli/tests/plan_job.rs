//! `weft plan job`: processes that start as ranks of large jobs, and what they take.

use std::process::{Command, Output};

use serde_json::Value;

fn plan(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["plan", "job"]).args(arguments);
    command.output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = plan(&[arguments, &["--json"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_silent_peer_costs_at_most_eight_bytes_however_ranks_are_placed() {
    for dealt in [&[][..], &["--dealt"]] {
        let answer = json(dealt);
        let rows = answer["rows"].as_array().unwrap();
        let sizes: Vec<_> = rows.iter().map(|row| row["ranks"].as_u64()).collect();
        assert_eq!(sizes, [10, 100, 1000, 10_000, 100_000].map(Some));
        let bytes = answer["bytes_a_silent_peer"].as_f64().unwrap();
        assert!(bytes <= 8.0, "{dealt:?}: {answer:#}");
    }
}

#[test]
fn messages_of_a_rank_do_not_grow_with_the_job() {
    let answer = json(&["--ranks", "2000", "--ppn", "4"]);
    let rows = answer["rows"].as_array().unwrap();
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap();
    let lines: Vec<_> = rows
        .iter()
        .map(|row| number(row, "lines_of_a_rank"))
        .collect();
    assert!(lines.windows(2).all(|two| two[0] == two[1]), "{lines:?}");
    // Both ways; rank 0 asks one thing of each host.
    let last = rows.last().unwrap();
    assert_eq!(number(last, "hosts"), 500);
    let of_hosts = number(last, "lines_of_rank_0") - number(&rows[0], "lines_of_rank_0");
    assert_eq!(of_hosts, 2 * (500 - number(&rows[0], "hosts")));
}

#[test]
fn small_jobs_have_no_curve() {
    for ranks in ["1", "2"] {
        let answer = json(&["--ranks", ranks, "--ppn", "1"]);
        assert_eq!(answer["rows"].as_array().unwrap().len(), 1);
        assert_eq!(answer["bytes_a_silent_peer"], Value::Null);
    }
    let text = String::from_utf8(plan(&["--ranks", "3"]).stdout).unwrap();
    assert!(text.starts_with("ranks  hosts  started"), "{text}");
}

#[test]
fn numbers_out_of_range_are_refused() {
    for wrong in [
        ["--ranks", "0"],
        ["--ranks", "1000001"],
        ["--ppn", "0"],
        ["--ppn", "x"],
    ] {
        let output = plan(&wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(wrong[0]), "{errors}");
    }
    // The options of endpoints and those of jobs do not mix.
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    let output = command.args(["plan", "--threads", "2", "job"]).output();
    assert_eq!(output.unwrap().status.code(), Some(2));
}

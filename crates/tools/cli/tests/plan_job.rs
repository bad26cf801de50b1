//! `weft plan job`: processes that start as ranks of large jobs, and what they take; with `--pools` what is counted of receive pools.

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
    // Both ways; rank 0 asks for the cores of 128 hosts at a time.
    let last = rows.last().unwrap();
    assert_eq!(number(last, "hosts"), 500);
    let of_hosts = number(last, "lines_of_rank_0") - number(&rows[0], "lines_of_rank_0");
    let questions = |hosts: u64| hosts.div_ceil(128);
    assert_eq!(
        of_hosts,
        2 * (questions(500) - questions(number(&rows[0], "hosts")))
    );
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

/// The X-SRQ paper's 1,024 nodes.
fn node(pools: &str, ppn: u64, kind: &str) -> (u64, f64) {
    let ranks = (1024 * ppn).to_string();
    let answer = json(&[
        "--pools",
        pools,
        "--ranks",
        &ranks,
        "--ppn",
        &ppn.to_string(),
    ]);
    let rows = answer["rows"].as_array().unwrap();
    let nodes: Vec<_> = rows.iter().map(|row| row["nodes"].as_u64()).collect();
    assert_eq!(nodes, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].map(Some));
    let node = &rows[9][kind];
    let bytes = node["queue_pair_bytes"].as_u64().unwrap();
    (
        node["queue_pairs"].as_u64().unwrap(),
        bytes as f64 / f64::from(1 << 20),
    )
}

#[test]
fn figures_5_and_6_of_the_x_srq_paper() {
    let one = "S,2k,8";
    let eight = "S,1k,8:S,2k,8:S,3k,8:S,4k,8:S,5k,8:S,6k,8:S,7k,8:S,8k,8";
    assert_eq!(node(one, 8, "node"), (65_472, 255.75));
    assert_eq!(node(one, 8, "node_all_xrc"), (16_368, 63.9375));
    assert_eq!(node(one, 1, "node"), (1023, 1023.0 / 256.0));
    assert_eq!(node(one, 1, "node_all_xrc"), (2046, 2046.0 / 256.0));
    assert_eq!(node(eight, 8, "node_all_shared"), (523_776, 2046.0));
    assert_eq!(node(eight, 8, "node_all_xrc"), (16_368, 63.9375));
}

#[test]
fn pools_are_shown_with_what_they_were_read_as() {
    let output = plan(&[
        "--pools",
        "P,128,64:X,2K,256",
        "--ranks",
        "12",
        "--ppn",
        "4",
    ]);
    let text = String::from_utf8(output.stdout).unwrap();
    let first = "a node of 4 ranks, receive pools P,128,64,32,16:X,2k,256,128,32\n";
    assert!(text.starts_with(first), "{text}");
    let last = text.lines().find(|line| line.starts_with("3 ")).unwrap();
    let words: Vec<&str> = last.split_whitespace().collect();
    // 4 x 4 x 2 for P, 2 x 4 x 2 for X.
    assert_eq!(words[1..3], ["12", "48"]);
}

#[test]
fn a_wrong_specification_is_pointed_at() {
    let output = plan(&["--pools", "X,256,8:S,4k"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    let expected = "the count of buffers: missing\n  X,256,8:S,4k\n              ^";
    assert!(errors.contains(expected), "{errors}");
    for wrong in [
        &["--mix", "all"][..],
        &["--plot", "x.svg"],
        &["--pools", "default", "--mix", "fast"],
        &["--pools", "default", "--dealt"],
        &["--pools", "default", "--queue-pair-bytes", "0"],
    ] {
        assert_eq!(plan(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn mixes_waste_less_in_several_sizes_than_in_one() {
    let answer = json(&["--pools", "default", "--mix", "all"]);
    let mixes = answer["mixes"].as_array().unwrap();
    assert_eq!(mixes.len(), 5);
    for mix in mixes {
        let number = |way: &str, name: &str| mix[way][name].as_u64().unwrap();
        assert_eq!(
            number("pools", "used_bytes"),
            number("one_size", "used_bytes")
        );
        assert!(number("pools", "wasted_bytes") < number("one_size", "wasted_bytes"));
    }
    let text = String::from_utf8(plan(&["--pools", "S,1k,8", "--mix", "halo"]).stdout).unwrap();
    let none = text.lines().find(|line| line.contains(" none "));
    let words: Vec<&str> = none.unwrap().split_whitespace().collect();
    assert_eq!(words[..3], ["halo", "none", "22862"]);
}

#[test]
fn figures_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pools.svg");
    let output = plan(&["--pools", "default", "--plot", file.to_str().unwrap()]);
    assert!(output.status.success());
    let drawn = std::fs::read_to_string(&file).unwrap();
    // 3, and 4 in each of the figures' four panels.
    assert_eq!(drawn.matches("<polyline").count(), 3 + 4 * 4);
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
    let nowhere = plan(&["--pools", "default", "--plot", "/nowhere/x.svg"]);
    assert_eq!(nowhere.status.code(), Some(1));
}

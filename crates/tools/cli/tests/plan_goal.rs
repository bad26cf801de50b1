//! `weft plan goal`: files are simulated, and what is wrong with one is a line.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

fn plan(text: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schedule.goal");
    fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["plan", "goal"]).arg(&file).args(arguments);
    command.output().unwrap()
}

const ONE: &str =
    "num_ranks 2\nrank 0 {\nl1: send 11b to 1 tag 0\n}\nrank 1 {\nl1: recv 11b from 0 tag 0\n}\n";

#[test]
fn a_message_takes_overheads_latency_and_its_bytes() {
    let output = plan(ONE, &[]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text,
        "2 ranks, 2 operations: 5.56 us (the first rank is done after 1.50 us)\n"
    );
    for (arguments, ns) in [
        (&["--L", "10", "--o", "3", "--G", "0.5"][..], 21.0),
        (&["--L", "10", "--o", "3", "--G", "0.5", "--S", "10"], 41.0),
        (&["--L", "10", "--o", "3", "--G", "0.5", "--O", "1"], 41.0),
        (
            &[
                "--ppn", "2", "--host-L", "1", "--host-o", "2", "--host-G", "0",
            ],
            5.0,
        ),
    ] {
        let output = plan(ONE, &[arguments, &["--json"]].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["ns"], ns, "{arguments:?}");
    }
}

#[test]
fn what_is_wrong_is_a_line() {
    let cases = [
        (
            "num_ranks 1\nrank 0 {\nsend 1 to 0\n}\n",
            "line 3: \"1\" is no length such as 8b",
        ),
        (
            "num_ranks 1\nrank 0 {\nrecv 1b from 0\n}\n",
            "rank 0: operation 1 never ends: what it waits for is not sent or not received",
        ),
    ];
    for (text, what) in cases {
        let output = plan(text, &[]);
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.ends_with(&format!("schedule.goal: {what}\n")),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }
}

//! `weft info`: what it tells of addresses and settings.

use std::process::Command;

/// What it says with these words and variables, and no others of ours.
fn info(words: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.arg("info").args(words);
    for name in [
        "WEFT_INTERFACE",
        "WEFT_NETWORK_TIMEOUT",
        "WEFT_TRACE",
        "WEFT_OPTIONS",
    ] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The line whose words begin with these.
fn line<'a>(text: &'a str, first: &[&str]) -> &'a str {
    let found = text.lines().find(|line| {
        let mut words = line.split_whitespace();
        first.iter().all(|word| words.next() == Some(word))
    });
    found.unwrap_or_else(|| panic!("no line {first:?} in:\n{text}"))
}

#[test]
fn named_interfaces_are_used_and_no_other() {
    for text in [
        info(&["--interface", "lo"], &[]),
        info(&[], &[("WEFT_INTERFACE", " lo ,")]),
        info(&["--interface", "lo"], &[("WEFT_INTERFACE", "none0")]),
    ] {
        assert!(
            line(&text, &["lo", "127.0.0.1"]).ends_with(" used"),
            "{text}"
        );
        let others = text.lines().filter(|line| line.ends_with(" used"));
        assert!(
            others
                .into_iter()
                .all(|line| line.trim().starts_with("lo ")),
            "{text}"
        );
    }
    let text = info(&["--interface", "none0"], &[]);
    assert!(
        text.contains("no interface none0 is up with an address; there are: lo"),
        "{text}"
    );
}

#[test]
fn all_settings_say_where_they_come_from() {
    assert!(!info(&[], &[]).contains("weft_lanes"));
    let variables = [
        ("WEFT_NETWORK_TIMEOUT", "7"),
        ("WEFT_TRACE", "-"),
        ("WEFT_OPTIONS", "WEFT_TRACE"),
    ];
    let text = info(&["--all", "--interface", "lo"], &variables);
    let timeout = line(&text, &["weft_network_timeout", "7"]);
    assert!(
        timeout.ends_with("environment, WEFT_NETWORK_TIMEOUT"),
        "{timeout}"
    );
    assert!(line(&text, &["weft_trace", "-"]).ends_with("launcher, WEFT_TRACE"));
    assert!(line(&text, &["weft_interface", "lo"]).ends_with("option --interface"));
    assert!(line(&text, &["weft_lanes"]).ends_with("default"));
    assert!(line(&text, &["HYDRA_LAUNCHER"]).ends_with("default"));
}

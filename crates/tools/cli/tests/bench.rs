//! `weft bench` with libraries made of shell scripts: an `mpicc` that turns the benchmark's "source", a shell script
//! itself, into the program, and an `mpiexec` that notes its turn and runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const MPICC: &str = r#"#!/bin/sh
for last; do [ "$before" = -o ] && out=$last; before=$last; done
cp "$last" "$out"; chmod +x "$out"
"#;

/// Skips options until the program; tells it the library's name.
const MPIEXEC: &str = r#"#!/bin/sh
name=$(basename "$(cd "$(dirname "$0")/.." && pwd)"); export name
echo "$name" >>"$TURNS"
while [ "${1#*/bench/}" = "$1" ]; do shift; done
exec "$@"
"#;

/// Prints a start line and, for each point of `--n`, what the shell function `value` says.
const PROGRAM: &str = r#"#!/bin/sh
points=$(echo "$*" | sed 's/.*--n \([0-9,]*\).*/\1/; s/,/ /g')
echo "{\"bench\":\"shuffle\",\"ranks\":2,\"library\":\"$name 1.0\",\"processors\":$(processors)}"
for n in $points; do
    v=$(value "$n")
    echo "{\"bench\":\"shuffle\",\"series\":\"shuffle\",\"x\":$n,\"unit\":\"ns\",\"best\":$v,\"median\":$v,\"p90\":$v,\"batches\":1}"
done
"#;

/// A source tree with the library of the tree and one peer.
struct Tree(TempDir);

impl Tree {
    /// `behaviour` defines the shell functions `value` and `processors`; `$name` is the library.
    fn new(behaviour: &str) -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        tree.write("bench/bench.h", "");
        let (first, rest) = PROGRAM.split_once('\n').unwrap();
        tree.write("bench/shuffle.c", &format!("{first}\n{behaviour}\n{rest}"));
        for library in ["install", "build/peers/mpich"] {
            tree.script(&format!("{library}/bin/mpicc"), MPICC);
            tree.script(&format!("{library}/bin/mpiexec"), MPIEXEC);
        }
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn script(&self, name: &str, text: &str) {
        self.write("script", text);
        self.executable(name, &self.path("script"));
    }

    /// Written by another process: a program that this one had open for writing could stay so in a child that another
    /// test is just starting, and would then be "busy".
    fn executable(&self, name: &str, source: &Path) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut install = Command::new("install");
        let status = install
            .args(["-m", "755"])
            .arg(source)
            .arg(path)
            .status()
            .unwrap();
        assert!(status.success());
    }

    fn weft(&self, arguments: &[&str]) -> Output {
        self.weft_bench(&[&["shuffle", "--sizes", "64,256"], arguments].concat())
    }

    fn weft_bench(&self, arguments: &[&str]) -> Output {
        // Copied out of the build folder, which may stand in a source tree of its own.
        let program = self.path("elsewhere/debug/weft");
        if !program.exists() {
            self.executable(
                "elsewhere/debug/weft",
                Path::new(env!("CARGO_BIN_EXE_weft")),
            );
        }
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .env("TURNS", self.path("turns"));
        command.arg("bench").args(arguments).output().unwrap()
    }

    fn turns(&self) -> Vec<String> {
        fs::read_to_string(self.path("turns"))
            .unwrap()
            .lines()
            .map(String::from)
            .collect()
    }
}

const QUICK: &str = r#"value() { if [ "$name" = install ]; then echo 100; else echo 400; fi; }
processors() { echo '["0","1"]'; }"#;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn words_of_row(table: &str, first: &str) -> Vec<String> {
    let row = table
        .lines()
        .find(|l| l.split_whitespace().next() == Some(first));
    row.unwrap_or_else(|| panic!("no row {first} in:\n{table}"))
        .split_whitespace()
        .map(String::from)
        .collect()
}

#[test]
fn rounds_are_interleaved_and_the_table_compares() {
    let tree = Tree::new(QUICK);
    let output = tree.weft(&["--peers", "mpich", "--rounds", "3"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        tree.turns(),
        ["install", "mpich", "mpich", "install", "install", "mpich"]
    );
    let table = text(&output.stdout);
    assert_eq!(words_of_row(&table, "64"), ["64", "100", "400", "0.25"]);
    assert_eq!(
        words_of_row(&table, "256/64"),
        ["256/64", "x", "1.00", "x", "1.00"]
    );
}

#[test]
fn endpoint_categories_take_turns() {
    let tree = Tree::new(QUICK);
    let noting = MPIEXEC.replace(r#"echo "$name""#, r#"echo "$*""#);
    tree.script("install/bin/mpiexec", &noting);
    let output = tree.weft(&["--endpoints", "dynamic,static", "--rounds", "2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let turns = tree.turns();
    let of = |turn: &String| {
        let words: Vec<&str> = turn.split_whitespace().collect();
        let at = words
            .iter()
            .position(|word| *word == "--transport")
            .unwrap();
        words[at..at + 4].join(" ")
    };
    let turns: Vec<String> = turns.iter().map(of).collect();
    let [first, second] =
        ["dynamic", "static"].map(|name| format!("--transport rdma --endpoints {name}"));
    let expected = [&first, &second, &second, &first];
    assert!(turns.iter().eq(expected), "{turns:?}");
    let table = text(&output.stdout);
    assert_eq!(words_of_row(&table, "64"), ["64", "100", "100"]);
    assert!(table.contains("dynamic") && table.contains("static"));
    let refused = tree.weft(&["--endpoints", "dynamics"]);
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("dynamics is no category"));
}

#[test]
fn a_missing_peer_is_named_and_left_out() {
    let tree = Tree::new(QUICK);
    let output = tree.weft(&["--peers", "intel", "--rounds", "1"]);
    assert!(output.status.success());
    let complaint = text(&output.stderr);
    assert!(
        complaint.contains("intel is left out") && complaint.contains("scripts/peers.sh"),
        "{complaint}"
    );
    assert_eq!(words_of_row(&text(&output.stdout), "64"), ["64", "100"]);
}

#[test]
fn json_holds_every_round_the_machine_and_the_limit() {
    let tree = Tree::new(
        r#"value() { [ "$name$1" = mpich256 ] && sleep 60; echo 100; }
processors() { echo '["0","1"]'; }"#,
    );
    let output = tree.weft(&[
        "--peers", "mpich", "--rounds", "2", "--limit", "0.5", "--json",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // But for what the machine was at meanwhile.
    let complaints = text(&output.stderr);
    let mut of_others = complaints
        .lines()
        .filter(|line| !line.contains("hypervisor"));
    assert_eq!(of_others.next(), None, "JSON without a terminal is quiet");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["machine"]["cores"].as_u64() > Some(0));
    let points = report["benchmarks"][0]["points"].as_array().unwrap();
    let point = |library: &str, x: u64| {
        points
            .iter()
            .find(|p| p["library"] == library && p["x"] == x)
            .unwrap()
    };
    assert_eq!(
        point("weft", 256)["rounds"],
        serde_json::json!([100.0, 100.0])
    );
    assert_eq!(point("mpich", 256)["over_limit_seconds"], 0.5);
    // The second round did not ask for it again.
    assert_eq!(
        point("mpich", 64)["rounds"],
        serde_json::json!([100.0, 100.0])
    );
}

#[test]
fn compiled_programs_are_run_as_they_are_and_json_is_written_beside_tables() {
    let tree = Tree::new(
        r#"value() { echo 100; }
processors() { echo '["0","1"]'; }"#,
    );
    let programs = tree.path("elsewhere/bench");
    let options = ["--peers", "mpich", "--programs", programs.to_str().unwrap()];
    let output = tree.weft(&[&options[..], &["--compile-only"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "");
    for library in ["weft", "mpich"] {
        assert!(
            programs.join(library).join("shuffle").is_file(),
            "{library}"
        );
    }
    for library in ["install", "build/peers/mpich"] {
        tree.script(&format!("{library}/bin/mpicc"), "#!/bin/sh\nexit 1\n");
    }
    let json = format!("--json={}", tree.path("all.json").display());
    let output = tree.weft(&[&options[..], &["--within", "0", &json]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        words_of_row(&text(&output.stdout), "64")[..2],
        ["64", "100"]
    );
    let written = fs::read_to_string(tree.path("all.json")).unwrap();
    let report: Value = serde_json::from_str(&written).unwrap();
    // No second round has begun within no seconds.
    assert_eq!(
        report["benchmarks"][0]["points"][0]["rounds"],
        serde_json::json!([100.0])
    );
}

#[test]
fn our_own_failure_is_told_and_fails_the_command() {
    let tree = Tree::new(
        r#"value() { echo 1; }
processors() { echo '["0","1"]'; if [ "$name" = install ]; then echo broken >&2; kill $$; fi; }"#,
    );
    let output = tree.weft(&["--peers", "mpich", "--rounds", "1"]);
    assert!(!output.status.success());
    assert!(
        text(&output.stderr).contains("weft, round 1: signal: 15"),
        "{}",
        text(&output.stderr)
    );
    assert!(text(&output.stderr).contains("broken"));
    assert_eq!(
        words_of_row(&text(&output.stdout), "64"),
        ["64", "-", "1.00", "-"]
    );
}

#[test]
fn a_run_that_ends_early_or_not_at_all_is_told() {
    let early = Tree::new(
        "value() { [ $1 = 256 ] && exit 0; echo 1; }\nprocessors() { echo '[\"0\",\"1\"]'; }",
    );
    let output = early.weft(&["--rounds", "1"]);
    assert!(!output.status.success());
    assert!(
        text(&output.stderr).contains("it ended without all its results"),
        "{}",
        text(&output.stderr)
    );
    let hangs = Tree::new(QUICK);
    hangs.write(
        "bench/shuffle.c",
        &format!(
            "{}sleep 60\n",
            fs::read_to_string(hangs.path("bench/shuffle.c")).unwrap()
        ),
    );
    let output = hangs.weft(&["--rounds", "1", "--limit", "0.5"]);
    assert!(!output.status.success());
    assert!(
        text(&output.stderr).contains("did not end within 0.5 s"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn ranks_that_are_not_pinned_as_asked_are_told() {
    let tree = Tree::new("value() { echo 1; }\nprocessors() { echo '[\"0-1\",\"0-1\"]'; }");
    let output = tree.weft(&["--rounds", "1", "--pin", "core"]);
    assert!(
        text(&output.stderr).contains("weft: pinning was asked for"),
        "{}",
        text(&output.stderr)
    );
    let free = tree.weft(&["--rounds", "1", "--pin", "none"]);
    assert!(
        !text(&free.stderr).contains("pinning"),
        "{}",
        text(&free.stderr)
    );
}

#[test]
fn a_plot_is_written() {
    let tree = Tree::new(QUICK);
    let file = tree.path("plot.svg");
    let output = tree.weft(&[
        "--peers",
        "mpich",
        "--rounds",
        "1",
        "--plot",
        file.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let picture = fs::read_to_string(&file).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("mpich"));
}

#[test]
fn an_unknown_benchmark_is_an_error_that_says_what_to_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["bench", "nothing"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("weft bench list"));
    let list = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["bench", "list"])
        .output()
        .unwrap();
    let names = text(&list.stdout);
    for name in [
        "pingpong", "exchange", "shuffle", "threads", "startup", "floor",
    ] {
        assert!(names.contains(name));
    }
    assert!(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../bench")
            .join("pingpong.c")
            .is_file()
    );
}

#[test]
fn a_reader_that_has_enough_ends_weft_quietly() {
    // Nobody reads from the start: closed later, it might have had all before.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let weft = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["bench", "list"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = weft.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + 13), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn what_was_measured_becomes_a_page() {
    let tree = Tree::new(QUICK);
    let output = tree.weft(&["--peers", "mpich", "--rounds", "3", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    fs::write(tree.path("shuffle.json"), &output.stdout).unwrap();
    let page = tree.path("page.html");
    let report = |file: &str| {
        let mut weft = Command::new(env!("CARGO_BIN_EXE_weft"));
        let weft = weft.arg("report").arg(tree.path(file)).arg("--output");
        weft.arg(&page).output().unwrap()
    };
    let output = report("shuffle.json");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let html = fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("rounds: 400, 400, 400") && html.contains(">0.25<"),
        "{html}"
    );
    let output = report("turns");
    assert!(!output.status.success());
    assert!(
        text(&output.stderr).contains("turns: "),
        "{}",
        text(&output.stderr)
    );
}

/// Says which options it was given, in place of the name of the library, and takes twice as long as the other.
const PATTERNS: &str = r#"#!/bin/sh
echo "{\"bench\":\"patterns\",\"ranks\":2,\"library\":\"$*\",\"processors\":[\"0\",\"1\"]}"
v=1; [ "$name" = install ] && v=2
for line in PingPong:0 PingPong:64 Barrier:0; do
    echo "{\"bench\":\"patterns\",\"series\":\"${line%:*}\",\"x\":${line#*:},\"unit\":\"us\",\"best\":$v,\"median\":$v,\"p90\":$v,\"batches\":1}"
done
"#;

#[test]
fn patterns_are_told_their_options_and_summed_up() {
    let tree = Tree::new(QUICK);
    tree.write("bench/patterns.c", PATTERNS);
    let words = [
        "--sizes",
        "0,64",
        "--operations",
        "pingpong,Barrier",
        "--off-cache",
        "--first-use",
    ];
    let output = tree.weft_bench(
        &[
            &["patterns", "--peers", "mpich", "--rounds", "2"],
            &words[..],
        ]
        .concat(),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert_eq!(
        words_of_row(&table, "64"),
        ["64", "2.00", "1.00", "2.00", "2.00..2.00"]
    );
    let all = ["all", "3", "2.00", "2.00..2.00", "0", "0", "3", "3", "2.00"];
    assert_eq!(words_of_row(&table, "all")[..9], all);
    for said in ["not pinned by us", "through 64M of buffers", "first use"] {
        assert!(table.contains(said), "{said} in:\n{table}");
    }
    let output = tree.weft_bench(&[&["patterns", "--rounds", "1", "--json"], &words[..]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let given = &report["benchmarks"][0]["libraries"][0]["version"];
    let given = given.as_str().unwrap();
    assert!(
        given.starts_with(
            "--sizes 0,64 --operations pingpong,Barrier --off-cache 67108864 --first-use"
        ),
        "{given}"
    );
}

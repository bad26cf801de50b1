//! `weft softrdma run` in an installation made for the test, and `stat` of a process that uses the device: the test itself.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use weft_softrdma::fabric::Fabric;
use weft_softrdma::uar::{Context, DevicePages, Ledger, SegmentChunks, Settings, WorkRequest};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");

/// An installed `weft` with the files that `run` wants to see.
struct Installation(TempDir);

impl Installation {
    fn new(libraries: &[&str]) -> Installation {
        let tree = Installation(tempfile::tempdir().unwrap());
        for folder in ["bin", "lib/softrdma"] {
            fs::create_dir_all(tree.path(folder)).unwrap();
        }
        // By another process: a program that this one wrote could not be run while another thread starts a process, which
        // has a copy of the descriptor for a moment.
        let copy = Command::new("cp")
            .arg(WEFT)
            .arg(tree.path("bin/weft"))
            .status();
        assert!(copy.unwrap().success());
        fs::write(tree.path("bin/mpiexec"), "").unwrap();
        for library in libraries {
            fs::write(tree.path("lib/softrdma").join(library), "").unwrap();
        }
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(self.path("bin/weft"))
            .args(["softrdma", "run"])
            .args(arguments)
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("SOFTRDMA_DEVICES")
            .output()
            .unwrap()
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_program_gets_the_library_and_the_variables() {
    let tree = Installation::new(&["libibverbs.so.1"]);
    let script =
        "echo \"$LD_LIBRARY_PATH|$SOFTRDMA_DEVICES|$SOFTRDMA_UAR_POLICY|$LD_PRELOAD|$*\"; exit 7";
    let options = ["--devices", "2", "--policy", "dynamic"];
    let program = ["--", "sh", "-c", script, "sh", "--devices", "9"];
    let output = tree.run(&[&options[..], &program[..]].concat());
    let folder = tree.path("lib/softrdma");
    let expected = format!("{}|2|dynamic||--devices 9\n", folder.display());
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn options_end_at_the_program() {
    let tree = Installation::new(&["libibverbs.so.1"]);
    let output = tree.run(&["echo", "--devices", "9", "--help"]);
    assert_eq!(text(&output.stdout), "--devices 9 --help\n");
}

#[test]
fn device_files_preload_their_library() {
    let tree = Installation::new(&["libibverbs.so.1"]);
    let output = tree.run(&["--device-files", "true"]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = "libsoftrdma_preload.so is not there (make install)";
    assert!(text(&output.stderr).contains(complaint));
}

#[test]
fn what_cannot_be_run_is_told_with_the_shells_codes() {
    let tree = Installation::new(&["libibverbs.so.1"]);
    let output = tree.run(&["/no/such/program"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("cannot run /no/such/program"));
    let file = tree.path("data");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let output = tree.run(&[file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(126));
}

#[test]
fn unusable_values_and_a_missing_library_are_errors_before_the_program_runs() {
    let tree = Installation::new(&["libibverbs.so.1"]);
    for (option, value, complaint) in [
        ("--devices", "0", "SOFTRDMA_DEVICES=0: "),
        ("--faults", "hail=1", "SOFTRDMA_FAULTS=hail=1: "),
        ("--td-sharing", "3", "SOFTRDMA_TD_SHARING=3: "),
    ] {
        let output = tree.run(&[option, value, "echo", "ran"]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(text(&output.stdout), "");
        let expected = format!("weft softrdma: {complaint}");
        assert!(
            text(&output.stderr).starts_with(&expected),
            "{}",
            text(&output.stderr)
        );
    }
    let without = Installation::new(&[]);
    let output = without.run(&["echo", "ran"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).contains("libibverbs.so.1 is not there (make install)"));
}

/// A fabric of this process alone, with a context of device 0 on which one queue pair has posted.
fn use_device(name: &str) -> (Context, weft_softrdma::uar::QueuePair) {
    let fabric = Fabric::join(name).unwrap();
    let pages = DevicePages {
        pages: fabric.pages(0),
        limit: 100,
    };
    let ledger = Ledger::new(Box::new(SegmentChunks(fabric.own_segment())));
    let context = Context::open(Settings::default(), 0, Arc::new(pages), Arc::new(ledger));
    let context = context.unwrap();
    let queue_pair = context.create_qp(None).unwrap();
    queue_pair.enter_send().ring(3, &WorkRequest::default());
    (context, queue_pair)
}

fn stat(arguments: &[&str]) -> Output {
    let mut command = Command::new(WEFT);
    command.args(["softrdma", "stat"]).args(arguments);
    command.output().unwrap()
}

#[test]
fn stat_shows_a_process_as_table_and_as_json() {
    let fabric = format!("cli-{}", std::process::id());
    let none = stat(&["--fabric", &fabric]);
    let expected = format!("fabric {fabric}: no process has a device open\n");
    assert_eq!(text(&none.stdout), expected);

    let _used = use_device(&fabric);
    let pid = std::process::id().to_string();
    let output = stat(&["--fabric", &fabric]);
    assert_eq!(text(&output.stderr), "");
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    let own = lines.iter().filter(|line| line.starts_with(&pid)).count();
    assert_eq!(own, 2, "{lines:?}");

    let output = stat(&["--fabric", &fabric, "--json", "--pid", &pid]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["processes"][0]["pid"].to_string(), pid);
    let figures = &value["devices"][0]["figures"];
    assert_eq!(figures["uars"]["static"], 8);
    assert_eq!(figures["uuars"]["used"], 1);
    assert_eq!(figures["requests"], 3);
    assert_eq!(figures["doorbells"], 1);

    let other = stat(&["--fabric", &fabric, "--pid", "1"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other.stderr).contains("process 1 is not in fabric"));
    watches(&fabric);
}

/// Two lines of `--watch`, whose figures are those of their time.
fn watches(fabric: &str) {
    let mut child = Command::new(WEFT)
        .args([
            "softrdma", "stat", "--fabric", fabric, "--json", "--watch", "0.05",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .take(2)
        .map_while(Result::ok)
        .collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lines.len(), 2);
    for line in lines {
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["fabric"], *fabric);
    }
}

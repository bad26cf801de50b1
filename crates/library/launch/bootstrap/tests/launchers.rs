//! The exchange under other people's launchers, from their PyPI wheels in `build/peers` (`make peers`); those that are not
//! there are skipped and named.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn card_exchange() -> PathBuf {
    let mut path = std::env::current_exe().expect("this program has a path");
    path.pop();
    path.pop();
    path.push("examples/card_exchange");
    assert!(
        path.exists(),
        "build the tests' program: cargo build -p weft-bootstrap --example card_exchange"
    );
    path
}

fn launcher(name: &str) -> Option<PathBuf> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../build/peers");
    let path = peers.join(name).join("bin/mpiexec");
    if !path.exists() {
        eprintln!("skipped: {} is not there (make peers)", path.display());
        return None;
    }
    Some(path)
}

/// What each rank says of itself, in order of rank.
fn run(launcher: &Path, arguments: &[&str]) -> Vec<String> {
    let program = card_exchange();
    let program = program.to_str().expect("a path in UTF-8");
    let mut command = Command::new("timeout");
    command.arg("60").arg(launcher);
    command.args(arguments.iter().map(|&argument| {
        if argument == "PROGRAM" {
            program
        } else {
            argument
        }
    }));
    // Open MPI's mpiexec, and the prterun within it, refuse to start as root without them.
    for variable in ["ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM"] {
        command
            .env(format!("OMPI_{variable}"), "1")
            .env(format!("PRTE_{variable}"), "1");
    }
    // Hydra at times writes to a proxy that has ended already, on a busy machine, and dies of it.
    let mut output = command.output().expect("timeout runs");
    for _ in 0..2 {
        if output.status.signal() != Some(libc::SIGPIPE) {
            break;
        }
        eprintln!("again: the launcher has ended by SIGPIPE");
        output = command.output().expect("timeout runs");
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn check(lines: &[String], size: usize, applications: &[i32], by: &str) {
    assert_eq!(lines.len(), size, "{lines:?}");
    let all: Vec<usize> = (0..size).collect();
    for (rank, line) in lines.iter().enumerate() {
        let begin = format!(
            "rank {rank} of {size}, {rank} of {size} on this host {all:?}, app {},",
            applications[rank]
        );
        let end = format!("by {by}, read {size} cards");
        assert!(line.starts_with(&begin) && line.ends_with(&end), "{line}");
    }
}

#[test]
fn under_hydra_of_mpich() {
    let Some(launcher) = launcher("mpich") else {
        return;
    };
    check(&run(&launcher, &["-n", "4", "PROGRAM"]), 4, &[0; 4], "Pmi1");
    check(
        &run(
            &launcher,
            &["-n", "1", "PROGRAM", ":", "-n", "2", "PROGRAM"],
        ),
        3,
        &[0, 1, 1],
        "Pmi1",
    );
    check(
        &run(&launcher, &["-pmi-port", "-n", "3", "PROGRAM"]),
        3,
        &[0; 3],
        "Pmi1",
    );
}

/// Ranks dealt out in turn and unevenly over hosts that are all this one, each reached by an "ssh" that starts its command here.
#[test]
fn under_hydra_of_mpich_on_several_hosts() {
    let Some(launcher) = launcher("mpich") else {
        return;
    };
    let agent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agent");
    let script =
        "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nshift\nexec sh -c \"$*\"\n";
    std::fs::write(&agent, script).expect("a script is written");
    std::fs::set_permissions(&agent, PermissionsExt::from_mode(0o755)).expect("it may run");
    let agent = agent.to_str().expect("a path in UTF-8");
    let here = |hosts: &str, ranks: &str| -> Vec<String> {
        let by_agent = ["-launcher", "ssh", "-launcher-exec", agent];
        let placed = [
            "-localhost",
            "127.0.0.1",
            "-hosts",
            hosts,
            "-n",
            ranks,
            "PROGRAM",
        ];
        let lines = run(&launcher, &[&by_agent[..], &placed[..]].concat());
        let here = |line: &String| {
            let (_, rest) = line.split_once("on this host ").expect("the ranks here");
            rest.split_once(']').expect("a list").0.to_owned() + "]"
        };
        lines.iter().map(here).collect()
    };
    assert_eq!(
        here("one,two", "4"),
        ["[0, 2]", "[1, 3]", "[0, 2]", "[1, 3]"]
    );
    assert_eq!(
        here("one,two,three", "7").first().map(String::as_str),
        Some("[0, 3, 6]")
    );
    assert_eq!(
        here("one:2,two,three:3", "13").first().map(String::as_str),
        Some("[0, 1, 6, 7, 12]")
    );
}

#[test]
fn under_hydra_of_intel() {
    let Some(launcher) = launcher("intel") else {
        return;
    };
    check(&run(&launcher, &["-n", "4", "PROGRAM"]), 4, &[0; 4], "Pmi1");
}

#[test]
fn under_prterun_of_open_mpi() {
    let Some(launcher) = launcher("openmpi") else {
        return;
    };
    check(
        &run(&launcher, &["--oversubscribe", "-n", "4", "PROGRAM"]),
        4,
        &[0; 4],
        "Pmix",
    );
    check(
        &run(
            &launcher,
            &[
                "--oversubscribe",
                "-n",
                "1",
                "PROGRAM",
                ":",
                "-n",
                "2",
                "PROGRAM",
            ],
        ),
        3,
        &[0, 1, 1],
        "Pmix",
    );
}

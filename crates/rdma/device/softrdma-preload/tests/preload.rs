//! A program in C asks about paths, with and without the library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn probe() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("preload_probe");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probe.c");
        let status = Command::new("cc")
            .arg("-o")
            .args([&program, &source])
            .status();
        assert!(status.expect("cc runs").success());
        program
    })
}

fn ask(path: &str, preload: bool) -> String {
    let mut command = Command::new(probe());
    if preload {
        let test = std::env::current_exe().expect("a test has a path");
        let library = test.parent().expect("deps").join("libsoftrdma_preload.so");
        assert!(library.exists(), "{} is not built", library.display());
        command.env("LD_PRELOAD", library);
    }
    let output = command.arg(path).output().expect("the probe runs");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    String::from_utf8(output.stdout).expect("the probe prints text")
}

#[test]
fn device_files_are_there() {
    for path in ["/dev/infiniband/uverbs0", "/dev/infiniband/uverbs12"] {
        assert_eq!(ask(path, true), "character 0\naccess: 0\n", "{path}");
    }
}

/// Files and folders, missing ones and those that only look alike.
#[test]
fn other_paths_answer_as_without() {
    let own = file!();
    for path in [
        own,
        "/",
        "/dev/null",
        "/no/such",
        "/dev/infiniband/uverbs",
        "/dev/infiniband/uverbs0/x",
        "uverbs0",
    ] {
        assert_eq!(ask(path, true), ask(path, false), "{path}");
    }
}

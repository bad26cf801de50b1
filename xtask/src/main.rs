//! Checks and generators of the repository: `cargo xtask COMMAND`, one file per command.
#![forbid(unsafe_code)]

mod coverage;
mod edges;
mod header;
mod symbols;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND
  edges               check that the crates depend on each other as ARCHITECTURE.md says
  header [--check]    write include/mpi.h and the Rust half of the ABI, or fail when they are stale
  coverage            count implemented functions by chapter; fail when one is in neither list or in both, or
                      has no wrong-argument test
  symbols [LIBRARY]   check the names, aliases, SONAME and dependencies of libmpi_abi.so";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["header"] => header::write(),
        ["header", "--check"] => header::check(),
        ["edges"] => edges::run(),
        ["coverage"] => coverage::run(),
        ["symbols"] => symbols::run(None),
        ["symbols", library] => symbols::run(Some(Path::new(library))),
        _ => Err(USAGE.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .parent()
        .expect("xtask is in the workspace")
        .to_path_buf()
}

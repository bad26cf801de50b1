//! Checks and generators of the repository: `cargo xtask COMMAND`, one file per command.
#![forbid(unsafe_code)]

mod circles;
mod coverage;
mod edges;
mod fortran;
mod header;
mod root;
mod symbols;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND
  edges               check that the crates depend on each other as ARCHITECTURE.md says, and that no crate has a
                      circle of files
  circles [CRATE]     list all circles of files with the names that tie them
  header [--check]    write mpi.h, mpif.h, mpi.f90 and the Rust half of the ABI, or fail when they are stale
  coverage            count implemented functions by chapter; fail when one is in neither list or in both, or
                      has no wrong-argument test
  symbols [LIBRARY]   check the names, aliases, SONAMEs and dependencies of libmpi_abi.so, libmpifort_abi.so and
                      libmpi.so.12 of MPICH's ABI, libmpi.so.40 of Open MPI's";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["header"] => header::write(),
        ["header", "--check"] => header::check(),
        ["edges"] => edges::run(),
        ["circles"] => edges::list_circles(None),
        ["circles", name] => edges::list_circles(Some(name)),
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

//! C and C++ programs against include/mpi.h and the library as built.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, process};

/// A folder of this test's own, gone when the test is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = env::temp_dir().join(format!("weft-capi-{}-{name}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    /// Compiles `sources` (files of tests/c) with warnings as errors and returns the program or library.
    fn compile(&self, compiler: &[&str], sources: &[&str], name: &str) -> PathBuf {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let program = self.0.join(name);
        let outcome = Command::new(compiler[0])
            .args(&compiler[1..])
            .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
            .arg(here.join("../../../../include"))
            .args(
                sources
                    .iter()
                    .map(|source| here.join("tests/c").join(source)),
            )
            .args([OsStr::new("-o"), program.as_os_str()])
            .args(["-xnone".as_ref(), library().as_os_str()])
            .output()
            .unwrap();
        assert!(
            outcome.status.success(),
            "{}",
            String::from_utf8_lossy(&outcome.stderr)
        );
        program
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The library lies beside this test program. It is linked by file, and found at run time by its SONAME.
fn library() -> PathBuf {
    let folder = env::current_exe().unwrap().parent().unwrap().to_path_buf();
    folder.join("libmpi_abi.so")
}

fn command(program: &Path, scratch: &Scratch) -> Command {
    let soname = scratch.0.join("libmpi_abi.so.1");
    if !soname.exists() {
        std::os::unix::fs::symlink(library(), &soname).unwrap();
    }
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", &scratch.0);
    command
}

fn run(program: &Path, scratch: &Scratch, preload: Option<&Path>) -> Output {
    let mut command = command(program, scratch);
    if let Some(tool) = preload {
        command.env("LD_PRELOAD", tool);
    }
    command.output().unwrap()
}

fn succeeds(program: &Path, scratch: &Scratch, preload: Option<&Path>) {
    let output = run(program, scratch, preload);
    assert!(
        output.status.success(),
        "{:?}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_interface_from_c_and_cxx() {
    let scratch = Scratch::new("interface");
    for compiler in [
        ["gcc", "-std=c99", "-xc"],
        ["gcc", "-std=c11", "-xc"],
        ["g++", "-std=c++17", "-xc++"],
    ] {
        let program = scratch.compile(&compiler, &["interface.c"], "interface");
        succeeds(&program, &scratch, None);
    }
}

#[test]
fn an_int_is_read_from_the_low_half_of_its_register() {
    let scratch = Scratch::new("wide-int");
    let program = scratch.compile(&["gcc"], &["wide_int.c"], "wide_int");
    succeeds(&program, &scratch, None);
}

#[test]
fn a_tool_interposes_by_preload_and_by_linking() {
    let scratch = Scratch::new("tool");
    let linked = scratch.compile(&["gcc"], &["tool_user.c", "tool.c"], "linked");
    succeeds(&linked, &scratch, None);
    let tool = scratch.compile(&["gcc", "-shared", "-fPIC"], &["tool.c"], "tool.so");
    let user = scratch.compile(&["gcc"], &["tool_user.c"], "user");
    succeeds(&user, &scratch, Some(&tool));
    assert!(
        !run(&user, &scratch, None).status.success(),
        "the user notices that the tool is missing"
    );
}

#[test]
fn an_unsupported_function_says_its_name() {
    let scratch = Scratch::new("unsupported");
    let program = scratch.compile(&["gcc"], &["unsupported.c"], "unsupported");
    let output = run(&program, &scratch, None);
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("MPI_Win_fence"), "{message}");
}

#[test]
fn buffers_of_communicators_and_of_the_library() {
    let scratch = Scratch::new("buffers");
    let program = scratch.compile(&["gcc"], &["buffers.c"], "buffers");
    succeeds(&program, &scratch, None);
}

#[test]
fn integers_of_live_handles() {
    let scratch = Scratch::new("handles");
    let program = scratch.compile(&["gcc"], &["handles.c"], "handles");
    succeeds(&program, &scratch, None);
}

#[test]
fn calls_outside_init_and_finalize_are_fatal() {
    let scratch = Scratch::new("outside");
    let program = scratch.compile(&["gcc"], &["outside.c"], "outside");
    for (arguments, what) in [
        (
            &[][..],
            "MPI_Comm_rank: called before MPI_Init or MPI_Session_init",
        ),
        (&["end"], "MPI_Comm_rank: called after MPI_Finalize"),
        (
            &["session"],
            "MPI_Group_free: called after the last MPI_Session_finalize",
        ),
    ] {
        let output = command(&program, &scratch)
            .args(arguments)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(message.contains(what), "{message}");
    }
}

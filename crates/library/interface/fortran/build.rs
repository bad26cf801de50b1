//! Gives libmpifort_abi.so its SONAME, its exports, and the dependency on libmpi_abi.so.1 (MPI-5.0 §21.4).
//!
//! cargo links no shared library of the workspace to another, and which of the two it builds first is its own affair. So the
//! linker is given a library with the right SONAME and names and nothing in them, which rustc makes here.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use weft_abi::table;

/// What libmpi_abi.so.1 exports for this library alone.
const OWN: [&str; 3] = [
    "weft_calling_language",
    "weft_follow",
    "weft_type_in_section",
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    stand_in(&out);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/exports.map");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={script}");
    println!("cargo:rustc-link-search=native={}", out.display());
    for argument in [
        "-Wl,-soname,libmpifort_abi.so.1",
        &format!("-Wl,--version-script={script}"),
        // Whoever loads this library may have linked it alone; LD_LIBRARY_PATH still wins over a RUNPATH.
        "-Wl,-rpath,$ORIGIN,--enable-new-dtags",
        "-Wl,--no-as-needed",
        "-lmpi_abi",
        // A name that C's interface does not have is found here and not when a program starts.
        "-Wl,-z,defs",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}

/// Writes libmpi_abi.so into `out`: all names, none of which is ever called.
fn stand_in(out: &Path) {
    let functions = table::functions()
        .flat_map(|function| function.c_names())
        .flat_map(|name| [format!("P{name}"), name])
        .chain(OWN.map(str::to_string))
        .map(|name| format!("#[unsafe(no_mangle)]\nextern \"C\" fn {name}() {{}}\n"))
        .collect::<String>();
    let source = out.join("stand_in.rs");
    let text = format!(
        "#![no_std]\n#![allow(non_snake_case)]\n{functions}\n\
         #[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n"
    );
    std::fs::write(&source, text).expect("OUT_DIR is writable");
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let made = Command::new(rustc)
        .args([
            "--edition=2024",
            "--crate-type=cdylib",
            "--crate-name=mpi_abi",
        ])
        .args([
            "-Cpanic=abort",
            "-Clink-arg=-nostdlib",
            "-Clink-arg=-Wl,-soname,libmpi_abi.so.1",
        ])
        .args(["--target", &target])
        .arg("-o")
        .arg(out.join("libmpi_abi.so"))
        .arg(&source)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "rustc makes libmpi_abi.so to link with"
    );
}

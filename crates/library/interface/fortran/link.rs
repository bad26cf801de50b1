// What links a library for Fortran: part of the build scripts of all such libraries.
//
// cargo links no shared library of the workspace to another, and which of the two it builds first is its own affair. So the
// linker is given a library with the right SONAME and names and nothing in them, which rustc makes here.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use weft_abi::table;

/// The library for Fortran and the one for C that it is linked to, by their SONAMEs, and what the latter exports beside MPI's
/// functions.
struct Libraries<'a> {
    own: &'a str,
    c: &'a str,
    more_of_c: &'a [&'a str],
}

fn link(libraries: &Libraries) {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    stand_in(&out, libraries);
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let script = format!("{here}/exports.map");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", file!());
    println!("cargo:rerun-if-changed={script}");
    println!("cargo:rustc-link-search=native={}", out.display());
    for argument in [
        &format!("-Wl,-soname,{}", libraries.own),
        &format!("-Wl,--version-script={script}"),
        // Whoever loads this library may have linked it alone; LD_LIBRARY_PATH still wins over a RUNPATH.
        "-Wl,-rpath,$ORIGIN,--enable-new-dtags",
        "-Wl,--no-as-needed",
        "-lstand_in",
        // A name that C's interface does not have is found here and not when a program starts.
        "-Wl,-z,defs",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}

/// Writes libstand_in.so into `out`: all names, none of which is ever called.
fn stand_in(out: &Path, libraries: &Libraries) {
    let functions = table::functions()
        .flat_map(|function| function.c_names())
        .flat_map(|name| [format!("P{name}"), name])
        .chain(libraries.more_of_c.iter().map(ToString::to_string))
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
            "--crate-name=stand_in",
        ])
        .args(["-Cpanic=abort", "-Clink-arg=-nostdlib"])
        .arg(format!("-Clink-arg=-Wl,-soname,{}", libraries.c))
        .args(["--target", &target])
        .arg("-o")
        .arg(out.join("libstand_in.so"))
        .arg(&source)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "rustc makes a library to link with"
    );
}

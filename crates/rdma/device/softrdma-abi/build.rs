//! Gives libibverbs.so the SONAME of rdma-core's and declares the version nodes of its symbols.
//!
//! Which symbol has which version is said by `.symver` directives beside the symbols (`weft_verbs_abi::export`). The linker wants
//! the nodes declared: a version script of empty nodes does that, and merges with the one that rustc passes, which
//! hides all other symbols. rust-lld, rustc's linker for this target, takes two; GNU ld does not.

use std::fmt::Write as _;
use std::path::PathBuf;

/// Each node's parent is the one before it.
const PUBLIC: &[&str] = &[
    "1.0", "1.1", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "1.11", "1.12", "1.13", "1.14",
    "1.15", "1.16", "1.17", "1.18",
];

/// The node that rdma-core's own libraries use, by release: up to 56, 57 to 58, 59 to 63, 64, 65.
const PRIVATE: &[&str] = &["34", "57", "59", "64", "65"];

fn main() {
    let mut script = String::new();
    let mut parent = String::new();
    for version in PUBLIC {
        writeln!(script, "IBVERBS_{version} {{ }}{parent};").expect("a string takes it");
        parent = format!(" IBVERBS_{version}");
    }
    for release in PRIVATE {
        writeln!(script, "IBVERBS_PRIVATE_{release} {{ }};").expect("a string takes it");
    }
    // zig takes the last script alone, which then has to hide what is not versioned.
    script.push_str("SOFTRDMA_1.0 { local: *; };\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let path = out.join("nodes.map");
    std::fs::write(&path, script).expect("OUT_DIR is writable");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libibverbs.so.1");
    println!(
        "cargo:rustc-cdylib-link-arg=-Wl,--version-script={}",
        path.display()
    );
}

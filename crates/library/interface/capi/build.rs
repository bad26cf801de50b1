//! Gives libmpi_abi.so the SONAME of the ABI and exports the names that `#[mpi]` makes.
//!
//! rustc passes a version script that hides whatever is no Rust item, and so these names, which are assembler's. A second script
//! names them; rust-lld, rustc's linker for this target, merges the two. zig takes the last one alone, so that ours says what
//! is exported, and hides the rest.

// Tests get these arguments too, which mean nothing to a program. Those for shared libraries alone would go on to the libraries
// that have this one in them.
fn main() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/exports.map");
    println!("cargo:rerun-if-changed={script}");
    println!("cargo:rustc-link-arg=-Wl,-soname,libmpi_abi.so.1");
    println!("cargo:rustc-link-arg=-Wl,--version-script={script}");
}

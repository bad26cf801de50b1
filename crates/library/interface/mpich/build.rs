//! Gives the library the SONAME of MPICH's ABI, and exports that ABI's names and no others.

fn main() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/exports.map");
    println!("cargo:rerun-if-changed={script}");
    for argument in [
        "-Wl,-soname,libmpi.so.12",
        &format!("-Wl,--version-script={script}"),
        // Another MPI library in the process has the same names.
        "-Wl,-Bsymbolic",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}

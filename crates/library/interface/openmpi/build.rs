//! Gives the library the SONAME of Open MPI's ABI, and exports that ABI's names and no others.

fn main() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/exports.map");
    println!("cargo:rerun-if-changed={script}");
    for argument in [
        "-Wl,-soname,libmpi.so.40",
        &format!("-Wl,--version-script={script}"),
        // Another MPI library in the process has the same names. Not of data: a program has copies of its own, which count.
        "-Wl,-Bsymbolic-functions",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}

//! Gives librdmacm.so the SONAME of rdma-core's and declares the version nodes of its symbols, as empty nodes that merge
//! with rustc's own version script (see `weft_verbs_abi::export`); zig takes the last script alone, which hides the rest, too.

use std::path::PathBuf;

const NODES: &str = "RDMACM_1.0 { };\nRDMACM_1.1 { } RDMACM_1.0;\nRDMACM_1.2 { } RDMACM_1.1;\nRDMACM_1.3 { local: *; } RDMACM_1.2;\n";

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let path = out.join("nodes.map");
    std::fs::write(&path, NODES).expect("OUT_DIR is writable");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librdmacm.so.1");
    println!(
        "cargo:rustc-cdylib-link-arg=-Wl,--version-script={}",
        path.display()
    );
}

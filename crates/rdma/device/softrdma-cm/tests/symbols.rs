//! The library has every symbol of the system's, under the same version.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const SYSTEM: &str = "/usr/lib/x86_64-linux-gnu/librdmacm.so.1";

fn exported(file: &Path) -> BTreeSet<String> {
    let output = Command::new("readelf")
        .args(["--dyn-syms", "--wide"])
        .arg(file)
        .output()
        .expect("readelf runs (package binutils)");
    let text = String::from_utf8(output.stdout).expect("readelf prints text");
    text.lines()
        .filter(|line| !line.contains(" UND "))
        .filter_map(|line| line.split_whitespace().nth(7))
        .filter(|name| *name != "Name" && !name.starts_with("RDMACM_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn symbols_are_those_of_the_system_library() {
    let test = std::env::current_exe().expect("a test has a path");
    let ours = exported(&test.parent().expect("deps").join("librdmacm.so"));
    assert!(ours.contains("rdma_connect@@RDMACM_1.0"), "{ours:#?}");
    if !Path::new(SYSTEM).exists() {
        assert!(std::env::var_os("CI").is_none(), "{SYSTEM} is missing");
        eprintln!("NOT TESTED: {SYSTEM} is missing (package librdmacm1)");
        return;
    }
    let theirs = exported(Path::new(SYSTEM));
    let missing: Vec<_> = theirs.difference(&ours).collect();
    let more: Vec<_> = ours.difference(&theirs).collect();
    assert!(
        missing.is_empty() && more.is_empty(),
        "missing {missing:#?}, more {more:#?}"
    );
}

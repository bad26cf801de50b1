//! What a library may export and need.

use std::collections::{BTreeMap, BTreeSet};

/// The parts of the C library, of which the first three are one from glibc 2.34 on, and gcc's own.
pub const MAY_NEED: [&str; 6] = [
    "libc.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "libm.so.6",
    "ld-linux-x86-64.so.2",
    "libgcc_s.so.1",
];

pub fn names(symbols: &BTreeMap<&str, &str>, expected: &BTreeSet<String>) -> Vec<String> {
    let missing = expected
        .iter()
        .filter(|name| !symbols.contains_key(name.as_str()));
    let missing = missing.map(|name| format!("{name} is not exported"));
    let foreign = symbols.keys().filter(|&&name| !expected.contains(name));
    missing
        .chain(foreign.map(|name| format!("{name} is exported and no name of MPI")))
        .collect()
}

pub fn dependencies(dynamic: &str, soname: &str, may_need: &[&str]) -> Vec<String> {
    let entries = |kind: &str| -> Vec<&str> {
        let lines = dynamic.lines().filter(|line| line.contains(kind));
        lines
            .filter_map(|line| line.split_once('[')?.1.strip_suffix(']'))
            .collect()
    };
    let mut complaints = Vec::new();
    let found = entries("(SONAME)");
    if found != [soname] {
        complaints.push(format!("SONAME is {found:?}, not {soname}"));
    }
    let foreign = entries("(NEEDED)")
        .into_iter()
        .filter(|name| !may_need.contains(name));
    complaints.extend(foreign.map(|name| format!("needs {name}")));
    complaints
}

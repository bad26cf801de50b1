//! `cargo xtask symbols`: what libmpi_abi.so exports and needs.
//!
//! Exactly the ABI's MPI_ and PMPI_ names, each pair one address, nothing else; the SONAME is the ABI's; nothing is
//! needed but the C library's own parts.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use weft_abi::table::{self, Function};

use crate::root::root;

/// Complaints shown of one library.
const SHOWN: usize = 20;
const SONAME: &str = "libmpi_abi.so.1";
const MAY_NEED: [&str; 4] = [
    "libc.so.6",
    "libgcc_s.so.1",
    "libm.so.6",
    "ld-linux-x86-64.so.2",
];

pub fn run(library: Option<&Path>) -> Result<(), String> {
    let library = library.map_or_else(release_library, Path::to_path_buf);
    let path = library.to_string_lossy();
    let listing = output("nm", &["-D", "--defined-only", &path])?;
    let symbols = exported(&listing);
    let dynamic = output("readelf", &["-dW", &path])?;
    let mut complaints = names(&symbols);
    complaints.extend(aliases(&symbols));
    complaints.extend(dependencies(&dynamic));
    if complaints.is_empty() {
        println!(
            "{path}: {} names, every MPI_ one the alias of its PMPI_ twin",
            symbols.len()
        );
        return Ok(());
    }
    let shown = &complaints[..complaints.len().min(SHOWN)];
    let more = complaints.len() - shown.len();
    let more = if more > 0 {
        format!("\n  and {more} more")
    } else {
        String::new()
    };
    Err(format!("{path}:\n  {}{more}", shown.join("\n  ")))
}

fn release_library() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release/libmpi_abi.so")
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program} (Debian package binutils): {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Name and address of every dynamic symbol, from `nm -D`.
fn exported(nm: &str) -> BTreeMap<&str, &str> {
    let fields = nm
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    fields
        .filter_map(|fields| match fields[..] {
            [address, _kind, name] => Some((name, address)),
            _ => None,
        })
        .collect()
}

fn names(symbols: &BTreeMap<&str, &str>) -> Vec<String> {
    let expected: BTreeSet<String> = table::functions()
        .flat_map(Function::c_names)
        .flat_map(|name| [format!("P{name}"), name])
        .collect();
    let missing = expected
        .iter()
        .filter(|name| !symbols.contains_key(name.as_str()));
    let missing = missing.map(|name| format!("{name} is not exported"));
    let foreign = symbols.keys().filter(|&&name| !expected.contains(name));
    missing
        .chain(foreign.map(|name| format!("{name} is exported and no name of MPI")))
        .collect()
}

fn aliases(symbols: &BTreeMap<&str, &str>) -> Vec<String> {
    let pairs = symbols.iter().filter_map(|(name, address)| {
        let twin = symbols.get(name.strip_prefix('P')?)?;
        (twin != address).then(|| format!("{name} and its MPI_ twin have two addresses"))
    });
    pairs.collect()
}

fn dependencies(dynamic: &str) -> Vec<String> {
    let entries = |kind: &str| -> Vec<&str> {
        let lines = dynamic.lines().filter(|line| line.contains(kind));
        lines
            .filter_map(|line| line.split_once('[')?.1.strip_suffix(']'))
            .collect()
    };
    let mut complaints = Vec::new();
    let soname = entries("(SONAME)");
    if soname != [SONAME] {
        complaints.push(format!("SONAME is {soname:?}, not {SONAME}"));
    }
    let foreign = entries("(NEEDED)")
        .into_iter()
        .filter(|name| !MAY_NEED.contains(name));
    complaints.extend(foreign.map(|name| format!("needs {name}")));
    complaints
}

//! What the library, its tools and its fuzz targets are built from has a permissive licence.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Names of the SPDX list.
const PERMISSIVE: [&str; 11] = [
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "LLVM-exception",
    "MIT",
    "NCSA",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// What crates for other systems alone are built from is left out.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Whether an SPDX expression can be met by permissive licences alone; not if it is none. A slash is the old way to write OR.
fn is_permissive(expression: &str) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    any(&mut words) == Some(true) && words.next().is_none()
}

type Words<'e> = std::iter::Peekable<std::str::SplitWhitespace<'e>>;

fn any(words: &mut Words) -> Option<bool> {
    let mut met = all(words)?;
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words)?;
    }
    Some(met)
}

fn all(words: &mut Words) -> Option<bool> {
    let mut met = one(words)?;
    // What an exception permits is more, so that its name has to be known like a licence's.
    while words
        .next_if(|word| ["AND", "WITH"].contains(word))
        .is_some()
    {
        met &= one(words)?;
    }
    Some(met)
}

fn one(words: &mut Words) -> Option<bool> {
    match words.next()? {
        "(" => {
            let met = any(words)?;
            (words.next()? == ")").then_some(met)
        }
        name => Some(PERMISSIVE.contains(&name)),
    }
}

#[test]
fn expressions_are_met_or_not() {
    for met in [
        "MIT",
        "MIT/Apache-2.0",
        "MIT OR GPL-3.0-only",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later",
    ] {
        assert!(is_permissive(met), "{met}");
    }
    for not in [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "MIT OR",
        "(MIT",
        "MIT MIT",
        "Apache-2.0 WITH other-exception",
        "MIT OR Apache-2.0 AND GPL-2.0-only GPL-2.0-only",
    ] {
        assert!(!is_permissive(not), "{not}");
    }
}

/// The packages that a manifest's lock file names, each with its licence.
fn packages(manifest: &Path) -> Vec<(String, String)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let command = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            TARGET,
            "--manifest-path",
        ])
        .arg(manifest)
        .output()
        .unwrap();
    assert!(
        command.status.success(),
        "{}",
        String::from_utf8_lossy(&command.stderr)
    );
    let metadata: Value = serde_json::from_slice(&command.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    packages
        .map(|package| (text(&package["name"]), text(&package["license"])))
        .collect()
}

#[test]
fn what_is_built_from_is_permissive() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
        let packages = packages(&root.join(manifest));
        assert!(packages.len() > 20, "{manifest}: {packages:?}");
        let other = packages
            .iter()
            .filter(|(_, licence)| !is_permissive(licence));
        let other: Vec<_> = other.collect();
        assert!(
            other.is_empty(),
            "{manifest}: licences that are none of the permissive ones: {other:?}"
        );
    }
}

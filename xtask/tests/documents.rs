//! What the documents name is there: files and sections that they link to, and paths in the text. And they are short.
//!
//! A path in the text stands between backquotes. It begins with a folder of the repository (`tests/run.py`), or with a
//! crate's name, for what lies in that crate's `src`: `engine/post` is `crates/library/protocols/engine/src/post.rs`.
//! `{a,b}` stands for several.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders of the repository that a path in the text begins with.
const FOLDERS: [&str; 10] = [
    "crates",
    "docs",
    "tests",
    "scripts",
    "bench",
    "examples",
    "fuzz",
    "packaging",
    "include",
    "xtask",
];

/// Columns that a line has at most.
const COLUMNS: usize = 120;

/// Lines that a page has at most: of this name, or in this folder.
const LINES: [(&str, usize); 4] = [
    ("README.md", 120),
    ("ARCHITECTURE.md", 150),
    ("docs/design/", 80),
    ("docs/results/", 120),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut found: Vec<PathBuf> = ["README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"]
        .map(|name| root.join(name).with_extension("md"))
        .into();
    found.push(root.join("bench/README.md"));
    found.push(root.join("tests/conformance/README.md"));
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// The crates' `src` folders by the last part of their names.
fn crates() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        if folder.join("Cargo.toml").exists() {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            found.insert(name, folder.join("src"));
            continue;
        }
        let entries = folder.read_dir().unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        folders.extend(paths.filter(|path| path.is_dir()));
    }
    found
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence && !line.starts_with("    ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `a/{b,c}` as `a/b` and `a/c`.
fn expand(word: &str) -> Vec<String> {
    let Some((before, rest)) = word.split_once('{') else {
        return vec![word.to_owned()];
    };
    let Some((inside, after)) = rest.split_once('}') else {
        return vec![word.to_owned()];
    };
    let one = |part: &str| expand(&format!("{before}{part}{after}"));
    inside.split(',').flat_map(one).collect()
}

fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.{},".contains(c);
    word.contains('/') && word.chars().all(plain)
}

/// Whether a word that is a path of the repository's leads anywhere; true for what is no such path.
fn leads_somewhere(word: &str, crates: &BTreeMap<String, PathBuf>) -> bool {
    let Some((first, rest)) = word.split_once('/') else {
        return true;
    };
    if FOLDERS.contains(&first) {
        return root().join(word).exists();
    }
    crates.get(first).is_none_or(|sources| {
        let place = sources.join(rest);
        place.exists() || place.with_extension("rs").exists()
    })
}

/// A heading's name in a link, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

fn has_section(path: &Path, section: &str) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let mut anchors = headings.map(|heading| anchor(heading.trim_start_matches('#')));
    anchors.any(|anchor| anchor == section)
}

/// Where a document's links lead that lead nowhere.
fn broken_links(path: &Path, text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    let within = targets.filter(|target| !target.starts_with("http"));
    let leads = |target: &str| {
        let (file, section) = target.split_once('#').unwrap_or((target, ""));
        let there = match file {
            "" => path.to_owned(),
            _ => path.parent().unwrap().join(file),
        };
        there.exists() && (section.is_empty() || has_section(&there, section))
    };
    let broken = within.filter(|target| !leads(target));
    broken.map(str::to_owned).collect()
}

#[test]
fn links_and_paths_in_documents_lead_somewhere() {
    let crates = crates();
    let (mut faults, mut paths) = (Vec::new(), 0);
    for document in documents() {
        let text = prose(&std::fs::read_to_string(&document).unwrap());
        let mut broken = broken_links(&document, &text);
        let words = text.split('`').skip(1).step_by(2);
        for word in words.filter(|word| is_path(word)).flat_map(expand) {
            paths += 1;
            if !leads_somewhere(&word, &crates) {
                broken.push(word);
            }
        }
        let name = document.strip_prefix(root()).unwrap().display();
        faults.extend(broken.iter().map(|what| format!("{name}: {what}")));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert!(paths > 100, "{paths}");
}

#[test]
fn pages_and_their_lines_are_short() {
    let mut faults = Vec::new();
    for document in documents() {
        let name = document.strip_prefix(root()).unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&document).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let columns = line.chars().count();
            if columns > COLUMNS {
                faults.push(format!("{name}:{number}: {columns} columns"));
            }
        }
        let limit = LINES.iter().find(|(page, _)| name.starts_with(page));
        let lines = text.lines().count();
        if let Some((_, most)) = limit.filter(|(_, most)| lines > *most) {
            faults.push(format!("{name}: {lines} lines of at most {most}"));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

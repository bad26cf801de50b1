//! No circle of files in any crate: two files of which each uses names that the other defines, directly or through
//! others, cannot be read one after the other.
//!
//! `circles.txt` excuses crates that are not there yet, each with the number of its files that stand in circles: that
//! number must not grow, and a crate that is clean must leave the list.

mod components;
mod resolve;
#[cfg(test)]
mod tests;
mod tree;
mod untested;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use tree::{Source, Tree};

/// A crate's source as it is compiled once: its library or one of its programs.
pub struct Target {
    /// The crate's folder under `crates/`, or its own name.
    pub crate_name: String,
    pub root: PathBuf,
}

/// Files that use one another, and the names that tie them.
#[derive(Debug, PartialEq)]
struct Circle {
    files: BTreeSet<PathBuf>,
    ties: Vec<Tie>,
}

#[derive(Debug, PartialEq)]
struct Tie {
    from: PathBuf,
    to: PathBuf,
    names: BTreeSet<String>,
}

/// The faults of all crates: circles that nothing excuses, and excuses that nothing needs.
pub fn check(targets: &[Target], excuses: &str) -> Result<Vec<String>, String> {
    let found = find(targets)?;
    Ok(judge(&found, &parse_excuses(excuses)?))
}

/// All circles of the crates whose folder ends in `name`, or of all crates, excused or not.
pub fn describe(targets: &[Target], name: Option<&str>) -> Result<String, String> {
    let mut found = find(targets)?;
    if let Some(name) = name {
        found.retain(|folder, _| folder == name || folder.ends_with(&format!("/{name}")));
        if found.is_empty() {
            return Err(format!("no crate is called {name}"));
        }
    }
    let mut text = String::new();
    for (folder, circles) in found.iter().filter(|(_, circles)| !circles.is_empty()) {
        writeln!(text, "{folder}: {} files in circles", files_in(circles)).unwrap();
        text.push_str(&report(circles));
    }
    if text.is_empty() {
        text.push_str("no circle of files");
    }
    Ok(text)
}

type Found = BTreeMap<String, Vec<Circle>>;

fn find(targets: &[Target]) -> Result<Found, String> {
    let source: &Source = &|path| std::fs::read_to_string(path).ok();
    let mut found = Found::new();
    for target in targets {
        let circles = found.entry(target.crate_name.clone()).or_default();
        circles.extend(circles_of(&target.root, source)?);
    }
    Ok(found)
}

/// The circles of one target; the one with the fewest ties first, and in it the tie of the fewest names.
fn circles_of(root: &Path, source: &Source) -> Result<Vec<Circle>, String> {
    let tree = Tree::read(root, source)?;
    let files = tree.files.clone();
    let edges = uses::edges(tree);
    let components = components::components(edges.keys().copied());
    let mut circles: Vec<Circle> = components
        .into_iter()
        .map(|component| {
            let inside = |file| component.contains(file);
            let ties = edges
                .iter()
                .filter(|((from, to), _)| inside(from) && inside(to));
            let mut ties: Vec<Tie> = ties
                .map(|((from, to), names)| Tie {
                    from: files[*from].clone(),
                    to: files[*to].clone(),
                    names: names.clone(),
                })
                .collect();
            ties.sort_by_key(|tie| tie.names.len());
            Circle {
                files: component.iter().map(|file| files[*file].clone()).collect(),
                ties,
            }
        })
        .collect();
    circles.sort_by_key(|circle| circle.ties.len());
    Ok(circles)
}

/// Lines of a crate's folder and a number of files; `#` begins a comment.
fn parse_excuses(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut excuses = BTreeMap::new();
    for line in lines {
        let parsed = line
            .split_once(' ')
            .and_then(|(folder, files)| Some((folder, files.trim().parse::<usize>().ok()?)));
        let (folder, files) =
            parsed.ok_or(format!("circles.txt: not a crate and a number: {line}"))?;
        if excuses.insert(folder.to_owned(), files).is_some() {
            return Err(format!("circles.txt names {folder} twice"));
        }
    }
    Ok(excuses)
}

fn judge(found: &Found, excuses: &BTreeMap<String, usize>) -> Vec<String> {
    let mut faults = Vec::new();
    for (folder, circles) in found {
        let files = files_in(circles);
        match excuses.get(folder) {
            Some(_) if files == 0 => faults.push(format!(
                "circles.txt excuses {folder}, which has no circle of files: take it out"
            )),
            Some(&excused) if files > excused => faults.push(format!(
                "{folder}: {files} files in circles, {excused} are excused\n{}",
                report(circles)
            )),
            None if files > 0 => faults.push(format!(
                "{folder}: {files} files in circles\n{}",
                report(circles)
            )),
            _ => {}
        }
    }
    for folder in excuses.keys().filter(|folder| !found.contains_key(*folder)) {
        faults.push(format!("circles.txt excuses {folder}, which is no crate"));
    }
    faults
}

fn files_in(circles: &[Circle]) -> usize {
    circles.iter().map(|circle| circle.files.len()).sum()
}

fn report(circles: &[Circle]) -> String {
    let mut text = String::new();
    for circle in circles {
        let root = common_folder(&circle.files);
        let short = |path: &Path| {
            path.strip_prefix(&root)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        let files: Vec<String> = circle.files.iter().map(|path| short(path)).collect();
        let folder = root
            .strip_prefix(crate::root::root())
            .unwrap_or(&root)
            .display();
        writeln!(
            text,
            "  a circle of {} files in {folder}: {}",
            files.len(),
            files.join(", ")
        )
        .unwrap();
        for tie in &circle.ties {
            let names: Vec<&str> = tie.names.iter().map(String::as_str).collect();
            let (from, to) = (short(&tie.from), short(&tie.to));
            writeln!(text, "    {from} uses of {to}: {}", names.join(", ")).unwrap();
        }
    }
    text
}

fn common_folder(files: &BTreeSet<PathBuf>) -> PathBuf {
    let mut folders = files.iter().filter_map(|path| path.parent());
    let first = folders.next().unwrap_or(Path::new("")).to_path_buf();
    folders.fold(first, |common, folder| {
        let shared = common.components().zip(folder.components());
        shared
            .take_while(|(left, right)| left == right)
            .map(|(part, _)| part)
            .collect()
    })
}

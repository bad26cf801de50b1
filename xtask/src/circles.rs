//! No circle of files in any crate: two files of which each uses names that the other defines, directly or through
//! others, cannot be read one after the other.

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

/// The faults of all crates, one text for each that has circles.
pub fn check(targets: &[Target]) -> Result<Vec<String>, String> {
    Ok(faults(&find(targets)?))
}

/// All circles of the crates whose folder ends in `name`, or of all crates.
pub fn describe(targets: &[Target], name: Option<&str>) -> Result<String, String> {
    let mut found = find(targets)?;
    if let Some(name) = name {
        found.retain(|folder, _| folder == name || folder.ends_with(&format!("/{name}")));
        if found.is_empty() {
            return Err(format!("no crate is called {name}"));
        }
    }
    let faults = faults(&found);
    if faults.is_empty() {
        return Ok("no circle of files".to_owned());
    }
    Ok(faults.concat())
}

fn faults(found: &Found) -> Vec<String> {
    let with_circles = found.iter().filter(|(_, circles)| !circles.is_empty());
    with_circles
        .map(|(folder, circles)| {
            let files = files_in(circles);
            format!("{folder}: {files} files in circles\n{}", report(circles))
        })
        .collect()
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

//! `cargo xtask edges`: the crates depend on one another as ARCHITECTURE.md says, and only so.
//!
//! The allowed edges are read from the layer block of ARCHITECTURE.md, so the document cannot go stale: a crate that is
//! not listed, a listed crate that is gone, a dependency that is not named and a line that names what does not stand
//! above it are all failures. A folder's name (`shared`) stands for its crates that stand above the line. Lines that promise "no unsafe" are held to `#![forbid(unsafe_code)]`. Within each crate
//! no files may form a circle (`circles.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::circles;
use crate::root::root;

const FORBID: &str = "#![forbid(unsafe_code)]";

/// How a line of the layer block begins that goes on with the one before.
const CONTINUATION: &str = "    ";

/// One line of the layer block; what it may use is told by the last part of each folder alone.
#[derive(Debug, PartialEq)]
struct Layer {
    folder: String,
    no_unsafe: bool,
    allowed: BTreeSet<String>,
}

/// A crate of the workspace as cargo sees it: its folder under `crates/` and the last parts of the folders it depends on.
#[derive(Debug, PartialEq)]
struct Package {
    folder: String,
    dependencies: BTreeSet<String>,
}

impl Layer {
    fn name(&self) -> &str {
        last_part(&self.folder)
    }

    /// Whether a name is its own or its folder's.
    fn is_called(&self, name: &str) -> bool {
        self.folder.rsplit('/').take(2).any(|part| part == name)
    }
}

fn last_part(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

pub fn run() -> Result<(), String> {
    let root = root();
    let architecture = read(&root.join("ARCHITECTURE.md"))?;
    let layers = parse_layers(&architecture)?;
    let metadata = cargo_metadata(&root)?;
    let packages = parse_metadata(&metadata)?;
    let mut faults = compare(&layers, &packages);
    for layer in layers.iter().filter(|layer| layer.no_unsafe) {
        let file = root.join("crates").join(&layer.folder).join("src/lib.rs");
        if !read(&file)?.contains(FORBID) {
            faults.push(format!(
                "crates/{} promises no unsafe, but its lib.rs lacks {FORBID}",
                layer.folder
            ));
        }
    }
    faults.extend(circles::check(&parse_targets(&metadata)?)?);
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let edges: usize = packages
        .iter()
        .map(|package| package.dependencies.len())
        .sum();
    println!(
        "{} crates, {edges} edges, as ARCHITECTURE.md says",
        packages.len()
    );
    Ok(())
}

pub fn list_circles(name: Option<&str>) -> Result<(), String> {
    let targets = parse_targets(&cargo_metadata(&root())?)?;
    println!("{}", circles::describe(&targets, name)?.trim_end());
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn cargo_metadata(root: &Path) -> Result<String, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The first fenced block after the heading "Layers": columns parted by two blanks or more, `-` for nothing allowed. A
/// line that begins with blanks goes on with the names of the one before.
fn parse_layers(document: &str) -> Result<Vec<Layer>, String> {
    let section = document
        .split_once("\n## Layers\n")
        .ok_or("ARCHITECTURE.md has no section \"Layers\"")?
        .1;
    let block = section
        .split("```")
        .nth(1)
        .ok_or("ARCHITECTURE.md: the layers stand in no fenced block")?;
    let block = block.replace(&format!("\n{CONTINUATION}"), " ");
    let mut layers: Vec<Layer> = Vec::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        let mut layer = parse_layer(line)?;
        layer.allowed = expand(&layer, &layers)?;
        if layers.iter().any(|above| above.folder == layer.folder) {
            return Err(format!(
                "ARCHITECTURE.md: crates/{} stands there twice",
                layer.folder
            ));
        }
        layers.push(layer);
    }
    Ok(layers)
}

/// The crates that a line names, one by one or by their folder.
fn expand(layer: &Layer, above: &[Layer]) -> Result<BTreeSet<String>, String> {
    let mut crates = BTreeSet::new();
    for name in &layer.allowed {
        let mut named = above.iter().filter(|one| one.is_called(name)).peekable();
        if named.peek().is_none() {
            return Err(format!(
                "ARCHITECTURE.md: {} names {name}, which does not stand above it",
                layer.folder
            ));
        }
        crates.extend(named.map(|one| one.name().to_owned()));
    }
    Ok(crates)
}

fn parse_layer(line: &str) -> Result<Layer, String> {
    let columns: Vec<&str> = line
        .split("  ")
        .map(str::trim)
        .filter(|column| !column.is_empty())
        .collect();
    let [path, meaning, allowed] = columns[..] else {
        return Err(format!(
            "ARCHITECTURE.md: not three columns parted by two blanks: {line}"
        ));
    };
    let folder = path
        .strip_prefix("crates/")
        .ok_or(format!("ARCHITECTURE.md: not a crate's folder: {path}"))?;
    let allowed = if allowed == "-" { "" } else { allowed };
    Ok(Layer {
        folder: folder.to_owned(),
        no_unsafe: meaning.contains("no unsafe"),
        allowed: allowed.split_whitespace().map(str::to_owned).collect(),
    })
}

/// The crates under `crates/`, with their normal and build dependencies on one another. Development dependencies may
/// point anywhere: a test may use what the crate may not.
fn parse_metadata(json: &str) -> Result<Vec<Package>, String> {
    let metadata: Value =
        serde_json::from_str(json).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata lists no packages")?;
    let folders: BTreeMap<&str, String> = packages.iter().filter_map(name_and_folder).collect();
    let describe = |package: &Value| -> Option<Package> {
        let folder = folders.get(package["name"].as_str()?)?.clone();
        let dependencies = package["dependencies"].as_array()?.iter();
        let dependencies = dependencies
            .filter(|dependency| {
                dependency["kind"].as_str() != Some("dev") && dependency["path"].is_string()
            })
            .map(|dependency| {
                let name = dependency["name"].as_str().unwrap_or_default();
                folders
                    .get(name)
                    .map_or(name, |folder| last_part(folder))
                    .to_owned()
            })
            .collect();
        Some(Package {
            folder,
            dependencies,
        })
    };
    Ok(packages.iter().filter_map(describe).collect())
}

/// The libraries and programs of the workspace.
fn parse_targets(json: &str) -> Result<Vec<circles::Target>, String> {
    let metadata: Value =
        serde_json::from_str(json).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata lists no packages")?;
    let mut found = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let folder = name_and_folder(package).map_or(name.to_owned(), |(_, folder)| folder);
        for target in package["targets"].as_array().into_iter().flatten() {
            let kinds = target["kind"].as_array().into_iter().flatten();
            let mut kinds = kinds.filter_map(Value::as_str);
            if let Some(root) = target["src_path"].as_str()
                && !kinds.any(|kind| ["test", "bench", "example"].contains(&kind))
            {
                found.push(circles::Target {
                    crate_name: folder.clone(),
                    root: root.into(),
                });
            }
        }
    }
    Ok(found)
}

/// A package's name and its folder under `crates/`; `None` for what lives elsewhere (xtask).
fn name_and_folder(package: &Value) -> Option<(&str, String)> {
    let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
    let folder = folder.to_str()?.rsplit_once("/crates/")?.1;
    Some((package["name"].as_str()?, folder.to_owned()))
}

fn compare(layers: &[Layer], packages: &[Package]) -> Vec<String> {
    let mut faults = Vec::new();
    for package in packages {
        let Some(layer) = layers.iter().find(|layer| layer.folder == package.folder) else {
            faults.push(format!(
                "crates/{} is not in ARCHITECTURE.md's layers",
                package.folder
            ));
            continue;
        };
        for dependency in package.dependencies.difference(&layer.allowed) {
            faults.push(format!(
                "crates/{} uses {dependency}, which its layer does not allow",
                package.folder
            ));
        }
    }
    for layer in layers {
        if !packages
            .iter()
            .any(|package| package.folder == layer.folder)
        {
            faults.push(format!(
                "ARCHITECTURE.md lists crates/{}, which is not in the workspace",
                layer.folder
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests;

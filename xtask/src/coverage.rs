//! `cargo xtask coverage`: which functions of the ABI are implemented, by chapter, read from the source of crates/library/interface/capi.
//!
//! Implemented is what stands under `#[mpi(Name)]`; unsupported is what `unsupported.rs` names. Every function is
//! one of them and not both; and every implemented one has a wrong-argument test, or nothing to get wrong.

#[cfg(test)]
mod tests;
mod wrong_arguments;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use weft_abi::table::{self, Chapter, Function};

use crate::root::root;

type Names = BTreeSet<String>;

pub fn run() -> Result<(), String> {
    let source = root().join("crates/library/interface/capi/src");
    let mut implemented = Names::new();
    collect(&source, &mut implemented)?;
    let list = source.join("unsupported.rs");
    let list = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let unsupported = unsupported(&list);
    complete(&implemented, &unsupported)?;
    println!("{}", report(&implemented));
    println!("{}", wrong_arguments::check(&root(), &implemented)?);
    Ok(())
}

/// Adds the names of all `#[mpi(Name)]` in the Rust files under `folder`.
fn collect(folder: &Path, names: &mut Names) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            collect(&path, names)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(failed)?;
            names.extend(implemented(&text));
        }
    }
    Ok(())
}

/// The names in `#[mpi(Name, ...)]` attributes that open a line; those of a macro's definition are none.
fn implemented(text: &str) -> impl Iterator<Item = String> {
    let attributes = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("#[mpi("));
    attributes
        .filter_map(|rest| rest.split_once(')'))
        .flat_map(|(names, _)| names.split(','))
        .map(|name| name.trim().to_string())
        .filter(|name| !name.starts_with('$'))
}

/// The names in the list: every word of the `unsupported!` invocation that is not a comment.
fn unsupported(text: &str) -> Names {
    let body = text
        .split_once("unsupported! {")
        .map_or("", |(_, body)| body);
    let body = body.split('}').next().unwrap_or_default();
    let lines = body
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let words = lines.flat_map(|line| line.split([',', ' ', '\t']));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_string)
        .collect()
}

fn complete(implemented: &Names, unsupported: &Names) -> Result<(), String> {
    let all: Names = table::functions()
        .map(|function| function.name.to_string())
        .collect();
    let beyond: Names = table::extensions()
        .functions
        .iter()
        .map(|function| function.name.to_string())
        .collect();
    let named: Names = implemented.union(unsupported).cloned().collect();
    let named = &named - &beyond;
    let complaints: Vec<String> = [
        (
            "is in neither list",
            all.difference(&named).collect::<Vec<_>>(),
        ),
        (
            "is both implemented and listed as unsupported",
            implemented.intersection(unsupported).collect(),
        ),
        ("is no function of MPI", named.difference(&all).collect()),
    ]
    .iter()
    .flat_map(|(what, names)| names.iter().map(move |name| format!("MPI_{name} {what}")))
    .collect();
    match complaints[..] {
        [] => Ok(()),
        _ => Err(complaints.join("\n")),
    }
}

fn report(implemented: &Names) -> String {
    let done = |function: &Function| implemented.contains(function.name);
    let forms = |function: &Function| 1 + usize::from(function.has_large());
    let count = |chapter: &Chapter, wanted: &dyn Fn(&Function) -> bool| -> usize {
        chapter
            .functions
            .iter()
            .filter(|function| wanted(function))
            .map(forms)
            .sum()
    };
    let mut lines = vec![format!(
        "{:>7} {:>5} {:>11}  chapter",
        "done", "of", "unsupported"
    )];
    let (mut total_done, mut total) = (0, 0);
    for chapter in table::chapters() {
        let (here, all) = (count(chapter, &done), count(chapter, &|_| true));
        total_done += here;
        total += all;
        lines.push(format!(
            "{here:>7} {all:>5} {:>11}  {}. {}",
            all - here,
            chapter.number,
            chapter.title
        ));
    }
    lines.push(format!(
        "{total_done:>7} {total:>5} {:>11}  all; large-count forms counted",
        total - total_done
    ));
    lines.join("\n")
}

//! Whether every implemented function has a wrong-argument test in tests/errors, both forms of it.
//!
//! The programs are read as the C preprocessor leaves them, since macros put names together. Tested is what is called where an
//! error is expected (`expect.h`), and what a table of calls names or wraps.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weft_abi::table;

/// Functions that have nothing to get wrong, and why.
const NOTHING_WRONG: &[(&str, &[&str])] = &[
    ("returns a number, no error code", &["Wtick", "Wtime"]),
    ("wraps, and returns the address", &["Aint_add", "Aint_diff"]),
    (
        "returns a handle or its number, the null handle for what is none: tests/conformance/abi",
        &[
            "Comm_fromint",
            "Comm_toint",
            "Errhandler_fromint",
            "Errhandler_toint",
            "File_fromint",
            "File_toint",
            "Group_fromint",
            "Group_toint",
            "Info_fromint",
            "Info_toint",
            "Message_fromint",
            "Message_toint",
            "Op_fromint",
            "Op_toint",
            "Request_fromint",
            "Request_toint",
            "Session_fromint",
            "Session_toint",
            "Type_fromint",
            "Type_toint",
            "Win_fromint",
            "Win_toint",
        ],
    ),
    ("takes no argument", &["Buffer_flush", "Finalize"]),
    ("takes any level", &["Pcontrol"]),
    ("ends the job, whatever it is given", &["Abort"]),
];

/// Fails with the names of the implemented functions that no program calls wrongly.
pub fn check(root: &Path, implemented: &BTreeSet<String>) -> Result<String, String> {
    let mut tested = BTreeSet::new();
    let folder = root.join("tests/errors");
    for program in programs(&folder)? {
        tested.extend(called_wrongly(&own_lines(&preprocessed(root, &program)?)));
    }
    let excused: BTreeSet<&str> = NOTHING_WRONG
        .iter()
        .flat_map(|(_, names)| names.iter().copied())
        .collect();
    compare(implemented, &excused, &tested)
}

fn compare(
    implemented: &BTreeSet<String>,
    excused: &BTreeSet<&str>,
    tested: &BTreeSet<String>,
) -> Result<String, String> {
    let functions = table::functions().filter(|function| implemented.contains(function.name));
    let (mut complaints, mut count) = (Vec::new(), 0);
    for function in functions {
        let forms = [false, true]
            .into_iter()
            .take(1 + usize::from(function.has_large()));
        for name in forms.map(|large| function.c_name(large)) {
            match (tested.contains(&name), excused.contains(function.name)) {
                (false, false) => complaints.push(format!("{name} has no test in tests/errors")),
                (true, true) => complaints.push(format!("{name} has a test and an excuse")),
                (tested, _) => count += usize::from(tested),
            }
        }
    }
    match complaints[..] {
        [] => Ok(format!(
            "{count} with wrong arguments in tests/errors, {} with none to get wrong",
            excused.len()
        )),
        _ => Err(complaints.join("\n")),
    }
}

fn programs(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths: Result<Vec<PathBuf>, String> = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect();
    let is_program = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "c");
    Ok(paths?.into_iter().filter(is_program).collect())
}

fn preprocessed(root: &Path, program: &Path) -> Result<String, String> {
    let mut gcc = Command::new("gcc");
    gcc.arg("-E").args(["-D_GNU_SOURCE", "-std=c11"]);
    for folder in ["include", "tests/conformance", "tests/errors"] {
        gcc.arg("-I").arg(root.join(folder));
    }
    let output = gcc
        .arg(program)
        .output()
        .map_err(|error| format!("gcc: {error}"))?;
    match output.status.success() {
        true => String::from_utf8(output.stdout).map_err(|error| error.to_string()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// What comes from the program itself and from none of its headers, without what stands in quotes.
fn own_lines(text: &str) -> String {
    let mut own = String::new();
    let mut here = false;
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(marker) => {
                here = marker
                    .split('"')
                    .nth(1)
                    .is_some_and(|file| file.ends_with(".c"))
            }
            None if here => {
                own.push_str(&without_strings(line));
                own.push(' ');
            }
            None => {}
        }
    }
    own
}

fn without_strings(line: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let outside = |&letter: &char| {
        let quote = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        inside ^= quote;
        !inside && !quote
    };
    line.chars().filter(outside).collect()
}

/// The functions of the program text that are called with an error expected, named as values, or wrapped.
fn called_wrongly(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices("CRASHED : ") {
        let call = text[at + "CRASHED : ".len()..].trim_start();
        let call = call.strip_prefix("class_of").unwrap_or(call);
        let Some(end) = closing(call) else { continue };
        // Behind the call come the parenthesis about all of it, and the class.
        let expected = call[end..].trim_start_matches([')', ' ', ',']);
        let is_success = expected.starts_with("0,") || expected.starts_with("0)");
        if !is_success {
            names.extend(function_at(&call[1..]));
        }
    }
    for (at, _) in text.match_indices("return ") {
        names.extend(function_at(&text[at + "return ".len()..]));
    }
    for (at, _) in text.match_indices("MPI_") {
        let is_start =
            !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let name = identifier(&text[at..]);
        if is_start && text[at + name.len()..].trim_start().starts_with([',', '}']) {
            names.insert(name.to_string());
        }
    }
    names
}

/// Where the parenthesis that opens `text` is closed; behind it.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + letter.len_utf8());
        }
    }
    None
}

/// The function that `text` begins by calling.
fn function_at(text: &str) -> Option<String> {
    let name = identifier(text.trim_start());
    name.starts_with("MPI_").then(|| name.to_string())
}

fn identifier(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

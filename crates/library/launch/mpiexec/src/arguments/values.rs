//! What follows an option.

use super::hosts::Launcher;
use super::job::Stdin;
use super::usage::{Usage, usage};
use super::words::Words;
use crate::hosts::{self, Host};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// As they are written, too.
pub fn listed(words: &mut Words) -> Result<(String, Vec<Host>), Usage> {
    let text = words.text("hosts, as a:2,b")?;
    let hosts = hosts::parse_list(&text).map_err(|item| {
        Usage(format!(
            "{} {text}: `{item}` is neither HOST nor HOST:RANKS",
            words.option
        ))
    })?;
    Ok((text, hosts))
}

/// Adds to what `MPI_INFO_ENV` is to tell; options that add up are told as one, with commas.
pub fn tell(info: &mut Vec<(String, OsString)>, key: &str, value: &OsStr) {
    match info.iter_mut().find(|(known, _)| known == key) {
        Some((_, told)) => {
            told.push(",");
            told.push(value);
        }
        None => info.push((key.to_owned(), value.to_owned())),
    }
}

pub fn launcher(text: &str) -> Option<Launcher> {
    match text {
        "ssh" => Some(Launcher::Ssh),
        "slurm" | "srun" => Some(Launcher::Slurm),
        "fork" => Some(Launcher::Fork),
        _ => None,
    }
}

pub fn number_of_ranks(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&ranks| ranks > 0)
}

pub fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

pub fn stdin(text: &str) -> Option<Stdin> {
    match text {
        "all" => Some(Stdin::All),
        "none" => Some(Stdin::None),
        rank => rank.parse().ok().map(Stdin::Rank),
    }
}

/// Where the lines go: `-` is standard error. The value is attached, as a word behind the option is the program.
pub fn trace(words: &mut Words) -> Result<OsString, Usage> {
    match words.attached.take() {
        Some(file) if file.is_empty() => usage("--trace= needs the name of a file"),
        file => Ok(file.unwrap_or_else(|| "-".into())),
    }
}

pub fn check_name(option: &str, name: &OsStr) -> Result<(), Usage> {
    if name.is_empty() {
        return usage(format!(
            "{option}: `{}` cannot name an environment variable",
            name.display()
        ));
    }
    Ok(())
}

/// `NAME VALUE`, or `NAME=VALUE` in one word, which Hydra takes too.
pub fn variable(words: &mut Words) -> Result<(OsString, OsString), Usage> {
    let word = words.value("a name and a value")?;
    let (name, value) = split(&word);
    check_name(&words.option, name)?;
    match value {
        Some(value) => Ok((name.to_owned(), value.to_owned())),
        None => Ok((name.to_owned(), words.value("a value after the name")?)),
    }
}

fn split(word: &OsStr) -> (&OsStr, Option<&OsStr>) {
    let bytes = word.as_bytes();
    match bytes.iter().position(|&byte| byte == b'=') {
        Some(end) => (
            OsStr::from_bytes(&bytes[..end]),
            Some(OsStr::from_bytes(&bytes[end + 1..])),
        ),
        None => (word, None),
    }
}

/// `NAME=VALUE`; a bare `NAME` passes on what ranks inherit in any case.
pub fn exported(words: &mut Words) -> Result<Option<(OsString, OsString)>, Usage> {
    let word = words.value("NAME or NAME=VALUE")?;
    let (name, value) = split(&word);
    check_name(&words.option, name)?;
    Ok(value.map(|value| (name.to_owned(), value.to_owned())))
}

/// `NAME=VALUE`
pub fn assigned(words: &mut Words) -> Result<(OsString, OsString), Usage> {
    let option = words.option.clone();
    exported(words)?.ok_or_else(|| Usage(format!("{option} needs NAME=VALUE")))
}

pub fn check_architecture(text: &str) -> Result<(), Usage> {
    if text == std::env::consts::ARCH {
        return Ok(());
    }
    usage(format!(
        "-arch {text}: this machine is an {}",
        std::env::consts::ARCH
    ))
}

/// Numbers or triplets `first:last:stride` (MPI-5.0 §11.8.1), separated by commas.
pub fn soft_list(text: &str) -> bool {
    text.split(',').all(|item| {
        let parts: Vec<&str> = item.split(':').collect();
        parts.len() <= 3 && parts.iter().all(|part| part.parse::<i32>().is_ok())
    })
}

//! The options and the program before a `:`.

use super::file;
use super::foreign::Foreign;
use super::job::{Application, Job, Section};
use super::table::{self, Meaning};
use super::usage::{Usage, usage};
use super::values::tell;
use super::words::Words;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[derive(Debug)]
pub enum Command {
    Run(Box<Job>),
    Help,
    Version,
}

/// Reads one section into the job. Answers a command that takes the place of the job.
pub(super) fn parse_section(job: &mut Job, words: &[OsString]) -> Result<Option<Command>, Usage> {
    let mut section = Section::default();
    match parse_options(job, &mut section, words)? {
        Parsed::Command(command) => return Ok(Some(command)),
        Parsed::Program(program, arguments) if section.configured => {
            return usage(format!(
                "-configfile stands in place of a program: remove `{}`",
                [&[program], &arguments[..]]
                    .concat()
                    .join(OsStr::new(" "))
                    .display()
            ));
        }
        Parsed::Program(program, arguments) => job.applications.push(Application {
            ranks: section.ranks,
            hosts: section.hosts,
            program,
            arguments,
            directory: section.directory,
            path: section.path,
            environment: section.environment,
            info: section.info,
        }),
        Parsed::End if section.configured => {}
        Parsed::End => {
            return usage(
                "no program is given: mpiexec [OPTIONS] -n N PROGRAM [ARGUMENTS] (see --help)",
            );
        }
    }
    Ok(None)
}

enum Parsed {
    Command(Command),
    Program(OsString, Vec<OsString>),
    End,
}

fn parse_options(
    job: &mut Job,
    section: &mut Section,
    words: &[OsString],
) -> Result<Parsed, Usage> {
    let mut words = Words {
        rest: words.iter(),
        attached: None,
        option: String::new(),
    };
    while let Some(word) = words.rest.next() {
        if !word.as_bytes().starts_with(b"-") || word.len() == 1 {
            return Ok(Parsed::Program(word.clone(), words.rest.cloned().collect()));
        }
        if word == "--" {
            let program = words.rest.next();
            let program = program
                .ok_or_else(|| Usage("no program is given after `--`".into()))?
                .clone();
            return Ok(Parsed::Program(program, words.rest.cloned().collect()));
        }
        let name = name_option(&mut words, word)?;
        if let Some(command) = parse_option(job, section, &name, &mut words)? {
            return Ok(Parsed::Command(command));
        }
        if words.attached.is_some() {
            return usage(format!("{} takes no value", words.option));
        }
    }
    Ok(Parsed::End)
}

/// The option's name without its dashes; what follows `=` in a word with two dashes is its value.
fn name_option(words: &mut Words, word: &OsString) -> Result<String, Usage> {
    let bytes = word.as_bytes();
    let equals = bytes.iter().position(|&byte| byte == b'=');
    let (option, attached) = match equals.filter(|_| bytes.starts_with(b"--")) {
        Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]))),
        None => (bytes, None),
    };
    let option = str::from_utf8(option).map_err(|_| Usage(format!("unknown option {word:?}")))?;
    let attached = attached.map(OsStr::to_owned);
    words.attached = attached;
    words.option = option.to_owned();
    Ok(option
        .strip_prefix("--")
        .or_else(|| option.strip_prefix('-'))
        .unwrap_or(option)
        .to_owned())
}

fn parse_option(
    job: &mut Job,
    section: &mut Section,
    name: &str,
    words: &mut Words,
) -> Result<Option<Command>, Usage> {
    match name {
        "h" | "help" => return Ok(Some(Command::Help)),
        "V" | "version" => return Ok(Some(Command::Version)),
        "file" => parse_options_file(job, section, words.value("a file")?.as_ref())?,
        "configfile" | "app" => {
            parse_configuration(job, words.value("a file")?.as_ref())?;
            section.configured = true;
        }
        name => match table::find(name) {
            Some(Meaning::Does(action)) => action(job, section, words)?,
            Some(Meaning::Foreign(option)) => pass_over(job, option, words)?,
            None => return usage(format!("unknown option {} (see --help)", words.option)),
        },
    }
    Ok(None)
}

/// An option of another launcher that changes nothing here, or that something else takes the place of.
fn pass_over(job: &mut Job, option: &Foreign, words: &mut Words) -> Result<(), Usage> {
    match option {
        Foreign::Idle { values, because } => {
            (0..*values).try_for_each(|_| words.value("a value").map(drop))?;
            job.notes
                .push(format!("{} changes nothing: {because}", words.option));
            Ok(())
        }
        Foreign::Instead(advice) => usage(format!("{}: {advice}", words.option)),
    }
}

fn parse_options_file(job: &mut Job, section: &mut Section, path: &Path) -> Result<(), Usage> {
    let words = file::read_lines(path)?.concat();
    if words.iter().any(|word| word == "-file" || word == "--file") {
        return usage(format!(
            "`{}`: -file cannot stand in a file",
            path.display()
        ));
    }
    tell(&mut section.info, "file", path.as_os_str());
    match parse_options(job, section, &words)? {
        Parsed::End => Ok(()),
        Parsed::Command(_) | Parsed::Program(..) => usage(format!(
            "`{}` may hold options only; programs go into a -configfile",
            path.display()
        )),
    }
}

fn parse_configuration(job: &mut Job, path: &Path) -> Result<(), Usage> {
    let lines = file::read_lines(path)?;
    if lines.is_empty() {
        return usage(format!("`{}` holds no program", path.display()));
    }
    for line in lines {
        if line.iter().any(|word| {
            ["-configfile", "--configfile", "-app", "--app"]
                .iter()
                .any(|name| word == name)
        }) {
            return usage(format!(
                "`{}`: a file of programs cannot stand in a file",
                path.display()
            ));
        }
        let in_file = |problem: Usage| Usage(format!("`{}`: {problem}", path.display()));
        if parse_section(job, &line).map_err(in_file)?.is_some() {
            return usage(format!(
                "`{}`: --help and --version cannot stand in a file",
                path.display()
            ));
        }
    }
    Ok(())
}

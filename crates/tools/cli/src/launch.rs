//! `weft run` and `weft env`: what mpiexec sets for a program that was built with another MPI library, where another launcher
//! starts it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use clap::Args;
use weft_mpiexec::built_with::{self, Settings, Unusable};

#[derive(Args)]
pub struct Run {
    /// The program, as a shell would find it
    program: OsString,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

#[derive(Args)]
pub struct Env {
    /// For this program alone [default: for any that is started by that shell]
    program: Option<OsString>,
}

/// Becomes the program.
pub fn run(options: &Run) -> ExitCode {
    let program = match built_with::program(&options.program, |name| env::var_os(name)) {
        Ok(program) => program,
        Err(unusable) => return complain("run", &unusable),
    };
    let error = Command::new(&program.path)
        .arg0(&options.program)
        .args(&options.arguments)
        .envs(program.settings)
        .exec();
    let problem = format!("`{}` cannot be started: {error}", program.path.display());
    complain("run", &Unusable::not_executable(problem))
}

/// Prints lines for a shell.
pub fn env(options: &Env) -> ExitCode {
    let value = |name: &str| env::var_os(name);
    let settings = match &options.program {
        Some(program) => built_with::program(program, value).map(|program| program.settings),
        None => Ok(built_with::for_any(value)),
    };
    match settings {
        Ok(settings) => {
            print!("{}", exports(&settings));
            ExitCode::SUCCESS
        }
        Err(unusable) => complain("env", &unusable),
    }
}

fn exports(settings: &Settings) -> String {
    let line = |(name, value): &(OsString, OsString)| {
        format!("export {}={};\n", name.display(), quoted(value))
    };
    settings.iter().map(line).collect()
}

/// A word of a shell's.
fn quoted(value: &OsStr) -> String {
    format!("'{}'", value.to_string_lossy().replace('\'', r"'\''"))
}

fn complain(command: &str, unusable: &Unusable) -> ExitCode {
    eprintln!("weft {command}: {}", unusable.problem);
    ExitCode::from(unusable.exit_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_set() {
        let settings = vec![("LD_LIBRARY_PATH".into(), "/it's here:/b c".into())];
        let expected = r"export LD_LIBRARY_PATH='/it'\''s here:/b c';".to_owned() + "\n";
        assert_eq!(exports(&settings), expected);
    }
}

//! Finding the program of an application before anything starts.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program that cannot be started, in one line; and the exit code for it, which is a shell's.
#[derive(Debug)]
pub struct Unusable {
    pub problem: String,
    pub exit_code: u8,
}

impl Unusable {
    /// With a shell's exit code for it.
    pub fn not_executable(problem: String) -> Unusable {
        Unusable {
            problem,
            exit_code: 126,
        }
    }
}

enum Candidate {
    Executable,
    NotExecutable,
    Absent,
}

fn inspect(path: &Path) -> Candidate {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Candidate::NotExecutable,
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => Candidate::NotExecutable,
        Ok(_) => Candidate::Executable,
        Err(_) => Candidate::Absent,
    }
}

/// Finds `program` as seen from `directory`, an absolute path: a name with a slash is a path; any other is looked for in
/// `first` and then in `PATH`, both lists separated by `:`.
pub fn find(
    program: &OsStr,
    directory: &Path,
    first: Option<&OsStr>,
    path: Option<OsString>,
) -> Result<PathBuf, Unusable> {
    let shown = program.display();
    let not_executable = |path: &Path| {
        let problem = format!("`{}` is not an executable file (chmod +x?)", path.display());
        Unusable::not_executable(problem)
    };
    if program.as_bytes().contains(&b'/') {
        let candidate = directory.join(program);
        return match inspect(&candidate) {
            Candidate::Executable => Ok(candidate),
            Candidate::NotExecutable => Err(not_executable(&candidate)),
            Candidate::Absent => {
                let problem = format!(
                    "there is no program `{shown}` (looked for {})",
                    candidate.display()
                );
                Err(Unusable {
                    problem,
                    exit_code: 127,
                })
            }
        };
    }
    let mut refused = None;
    for list in first.map(OsStr::to_owned).into_iter().chain(path) {
        for folder in std::env::split_paths(&list) {
            let candidate = directory.join(folder).join(program);
            match inspect(&candidate) {
                Candidate::Executable => return Ok(candidate),
                Candidate::NotExecutable if candidate.is_file() => {
                    refused = refused.or(Some(candidate))
                }
                _ => {}
            }
        }
    }
    if let Some(candidate) = refused {
        return Err(not_executable(&candidate));
    }
    let beside = matches!(inspect(&directory.join(program)), Candidate::Executable);
    let advice = if beside {
        format!("; for the one in the working directory, write ./{shown}")
    } else if program.as_bytes().contains(&b'=') {
        "; to set a variable, write -x NAME=VALUE".into()
    } else {
        String::new()
    };
    Err(Unusable {
        problem: format!("there is no program `{shown}` on PATH{advice}"),
        exit_code: 127,
    })
}

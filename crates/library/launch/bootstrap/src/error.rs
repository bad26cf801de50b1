use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

/// Why the launcher cannot be used; the text is one line that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A launcher's environment variable is set but of no use.
    Environment {
        variable: &'static str,
        problem: String,
    },
    /// The launcher went away, refused, or answered what the protocol does not allow.
    Launcher(String),
    /// A card cannot be published, or a peer's cannot be had.
    Card(String),
}

impl Error {
    pub(crate) fn environment(variable: &'static str, problem: impl Into<String>) -> Error {
        Error::Environment {
            variable,
            problem: problem.into(),
        }
    }

    pub(crate) fn launcher(problem: impl Into<String>) -> Error {
        Error::Launcher(problem.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Environment { variable, problem } => write!(
                f,
                "{variable} is set, but {problem}; start the program with mpiexec, or unset {variable} to run a single process"
            ),
            Error::Launcher(problem) => write!(f, "the launcher cannot be used: {problem}"),
            Error::Card(problem) => write!(f, "address exchange: {problem}"),
        }
    }
}

impl std::error::Error for Error {}

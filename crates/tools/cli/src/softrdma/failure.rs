//! Why a command did not do what it was asked.

/// Why a command did not do what it was asked, and its exit code.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    pub text: String,
}

impl Failure {
    /// What was asked for cannot be.
    pub fn usage(text: impl ToString) -> Failure {
        Failure {
            code: 2,
            text: text.to_string(),
        }
    }

    pub fn other(text: impl ToString) -> Failure {
        Failure {
            code: 1,
            text: text.to_string(),
        }
    }
}

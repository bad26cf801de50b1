//! Why endpoints could not be made or driven.

use std::fmt;

use weft_verbs::PostError;

use crate::LayoutError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    Layout(LayoutError),
    /// A call of libibverbs failed.
    Verbs(weft_verbs::Error),
    Post(PostError),
    /// A request of the thread ended so (`IBV_WC_…`); what else it has under way will not complete.
    Failed {
        status: u32,
    },
    /// A completion with a number that no [`tag`](crate::Endpoint::tag) gave.
    Untagged {
        id: u64,
    },
    /// A card that does not go with these endpoints.
    Card {
        ours: usize,
        theirs: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Layout(error) => error.fmt(formatter),
            Error::Verbs(error) => error.fmt(formatter),
            Error::Post(error) => error.fmt(formatter),
            Error::Failed { status } => {
                write!(formatter, "a request ended with completion status {status}")
            }
            Error::Untagged { id } => {
                write!(
                    formatter,
                    "a completion with number {id:#x}, which is no tag"
                )
            }
            Error::Card { ours, theirs } => write!(
                formatter,
                "a peer with {theirs} queue pairs cannot be connected to one with {ours}"
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<LayoutError> for Error {
    fn from(error: LayoutError) -> Error {
        Error::Layout(error)
    }
}

impl From<weft_verbs::Error> for Error {
    fn from(error: weft_verbs::Error) -> Error {
        Error::Verbs(error)
    }
}

impl From<PostError> for Error {
    fn from(error: PostError) -> Error {
        Error::Post(error)
    }
}

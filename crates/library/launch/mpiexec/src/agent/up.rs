//! What agents tell mpiexec.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// From agents to mpiexec.
#[derive(Debug, Serialize, Deserialize)]
pub enum Up {
    /// The ranks have been started.
    Started,
    Failure(Failure),
    /// The processes of this host's ranks: as started, and once all have called MPI_Init.
    Processes(Vec<Described>),
    /// A failure that does not end the job.
    Note {
        code: i32,
        text: String,
    },
    /// A line for the user.
    Say(String),
    /// Part of what has been put since the last fence.
    Puts(Vec<(String, String)>),
    /// Every rank of the host is in the fence.
    Fence,
    Ask(String),
    /// The first rank of this host that ended in good order.
    Gone(String),
    /// `error`: to standard error.
    Output {
        rank: u32,
        error: bool,
        bytes: Vec<u8>,
    },
    /// Whoever reads input has taken what came, and reads on or not.
    InputTaken {
        more: bool,
    },
    /// Whether any rank was asked what it waits for.
    Reported(bool),
    /// Agents below are gone.
    Lost {
        hosts: Vec<u32>,
        text: String,
    },
    /// All ranks have ended, and their output has been sent.
    Done,
}

/// A rank's process and program.
pub type Described = (u32, i32, OsString);

/// Why the job is to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub code: i32,
    pub text: String,
    pub origin: Origin,
}

/// Whether another failure may have caused this one: of several that come close together the greatest is what the user is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    /// The rank says that it has lost another one: a consequence.
    LostPeer,
    /// What a rank does by itself or because of another.
    Rank,
    /// Nothing that another rank does: a signal, a host, a program that cannot be started.
    Outside,
}

/// The code by which a rank of ours ends the job when it has lost another one and errors are fatal (the ABI's `MPI_ERR_PROC_ABORTED`).
const LOST_PEER_CODE: i32 = 58;

impl Origin {
    /// Of a rank that ends with `code` or asks for the job's end with it.
    pub fn of_code(code: i32) -> Origin {
        match code {
            LOST_PEER_CODE => Origin::LostPeer,
            _ => Origin::Rank,
        }
    }
}

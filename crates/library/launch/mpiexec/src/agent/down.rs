//! What mpiexec tells agents.

use super::launcher::AgentCommand;
use crate::assignment::{Orders, Runs};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How much output of a host's ranks may be on its way to mpiexec and not yet written by it. Large enough to keep a wire
/// busy, and small enough that a thousand hosts whose output nobody reads fit into memory.
pub const WINDOW_BYTES: u32 = 256 << 10;

/// One host of a subtree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Part {
    /// Its number in the job.
    pub host: u32,
    pub name: String,
    pub runs: Runs,
}

/// The first thing that an agent is told.
#[derive(Debug, Serialize, Deserialize)]
pub struct Start {
    pub orders: Orders,
    /// Its own part.
    pub part: Part,
    /// The hosts that it is to start agents on, and they in turn.
    pub below: Vec<Part>,
    pub way: AgentCommand,
    pub launch_timeout: Duration,
    pub host_timeout: Duration,
}

/// From mpiexec to agents.
#[derive(Debug, Serialize, Deserialize)]
pub enum Down {
    Start(Box<Start>),
    /// Pass this signal on to the ranks.
    Signal(i32),
    /// Have the ranks print what they wait for.
    Report,
    Terminate,
    Kill,
    /// All ranks of all hosts are in the fence. `changed`: see `pmi::Server::release`.
    Release {
        changed: bool,
    },
    Answer {
        key: String,
        value: Option<String>,
    },
    /// A rank has ended in good order, and nobody may wait for it.
    Gone(String),
    Input(Vec<u8>),
    InputEnd,
    /// So much output has been written.
    Credit(u32),
    /// The job is over.
    Bye,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::codec::{decode, frame};
    use crate::agent::up::{Failure, Origin, Up};
    use proptest::prelude::*;

    #[test]
    fn what_is_written_reads_back() {
        let failure = Failure {
            code: 139,
            text: "rank 3".into(),
            origin: Origin::Outside,
        };
        let body = frame(7, &Up::Failure(failure.clone())).body;
        assert!(matches!(decode::<Up>(&body), Some(Up::Failure(read)) if read == failure));
        assert!(decode::<Up>(&[&body[..], b"x"].concat()).is_none());
        assert!(decode::<Up>(&body[..body.len() - 1]).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode::<Up>(&bytes);
            let _ = decode::<Down>(&bytes);
        }
    }
}

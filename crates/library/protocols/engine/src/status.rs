//! What a finished request tells.

/// Why an operation failed though its arguments were right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The message was longer than the receive buffer (MPI-5.0 §3.2.2).
    Truncated,
    /// The other process is lost, or broke the protocol.
    PeerLost,
    /// Its communicator is revoked.
    Revoked,
    /// The message came before the receive, and this process had no memory to keep it.
    NoMemory,
    /// An operation of several messages failed; why, its maker knows by this number.
    Operation(u8),
}

/// A finished operation, as in `MPI_Status`: for a receive, the message's rank, tag and packed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub source: i32,
    pub tag: i32,
    pub bytes: u64,
    pub failure: Option<Failure>,
    pub cancelled: bool,
    /// The context it was in, if it failed.
    pub context: u32,
    /// Whether it was a receive: other requests leave source and tag undefined.
    pub receive: bool,
}

impl Status {
    /// Of a send that needed no request.
    pub const EMPTY: Status = Status {
        source: 0,
        tag: 0,
        bytes: 0,
        failure: None,
        cancelled: false,
        context: 0,
        receive: false,
    };
}

//! What the user may choose.

use std::time::Duration;

/// Choices of a job; the default is right for most.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names the job: a process of another one is refused.
    pub job: String,
    /// The interfaces whose addresses are told to peers, by name; none means all that are up.
    pub interfaces: Vec<String>,
    /// All processes are on this host and in this network namespace: unless interfaces are named, the loopback one serves alone.
    pub is_one_host: bool,
    /// How long a peer's host may be silent, or a way to it be sought, before the peer is lost; `None` is for ever.
    pub timeout: Option<Duration>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            job: String::new(),
            interfaces: Vec::new(),
            is_one_host: false,
            timeout: Some(Duration::from_secs(30)),
        }
    }
}

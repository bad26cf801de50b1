//! Who this process is, as far as making links goes, and what it waits with.

use std::sync::Arc;
use std::time::Duration;

use weft_credentials::{JobHash, Key};
use weft_kernel::Poller;
use weft_transport::Peer;

use crate::domain::HostCard;
use crate::presence::Entry;

pub struct Identity {
    pub rank: Peer,
    pub size: u32,
    pub lanes: u32,
    pub job: JobHash,
    pub key: Key,
    pub timeout: Option<Duration>,
    /// By which peers reach this process over XRC; none if they do not.
    pub host: Option<HostCard>,
    /// By which this process is known on its host, and asks after others.
    pub entry: Option<Entry>,
    /// The processes that are on the host of a process.
    pub host_of: Arc<dyn Fn(Peer) -> Vec<Peer> + Send + Sync>,
    /// What the whole process waits with.
    pub poller: Poller,
}

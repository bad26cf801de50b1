//! What the user may choose.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use weft_endpoint::Category;
use weft_pools::Pools;
use weft_transport::Peer;
use weft_verbs::abi::Library;

use crate::selection::Selection;

/// Choices of a job; the default is right for most.
#[derive(Clone)]
pub struct Options {
    /// Names the job: a process of another one is refused.
    pub job: String,
    /// The adapters, or ports of them, that are to be used.
    pub adapters: Selection,
    /// How many bits the addresses of the network share that this host has this address on.
    pub prefix_of: fn(IpAddr) -> Option<u32>,
    /// What lanes share of an adapter; the fastest category that fits, if none is named.
    pub category: Option<Category>,
    /// What each lane receives into; what suits the adapter, if there is none.
    pub pools: Option<Pools>,
    /// The first process of the job on this host, with which the others share what is reached over XRC; none if they share nothing.
    pub first_of_host: Option<Peer>,
    /// The processes of the job that are on the host of a process.
    pub host_of: Arc<dyn Fn(Peer) -> Vec<Peer> + Send + Sync>,
    /// How many processes of the job use the adapter, so that what they take together fits.
    pub processes: u32,
    /// How long a peer's host may be silent before the peer is lost; `None` is for ever.
    pub timeout: Option<Duration>,
    /// This process cannot ask the kernel after others of its host.
    #[cfg(test)]
    pub is_elsewhere: bool,
    /// In place of the `libibverbs.so.1` that the loader finds.
    pub library: Option<&'static Library>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            job: String::new(),
            adapters: Selection::default(),
            prefix_of: |_| None,
            category: None,
            pools: None,
            first_of_host: None,
            host_of: Arc::new(|_| Vec::new()),
            processes: 1,
            timeout: Some(Duration::from_secs(30)),
            #[cfg(test)]
            is_elsewhere: false,
            library: None,
        }
    }
}

//! The hosts of a job, as far as links over XRC go.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;

use weft_sync::Section;
use weft_transport::Peer;

use crate::domain::HostCard;

/// Processes that share no domain are hosts of their own: of this number and their rank.
const APART: u64 = 1 << 32;

/// The number of a process that is apart.
pub fn apart(rank: Peer) -> u64 {
    APART | u64::from(rank)
}

/// What a process knows of hosts.
pub struct Hosts {
    /// The file of this host's domain, once it is needed: none if this process is apart.
    pub file: Section<Option<Option<Arc<File>>>>,
    /// Peers that are apart.
    pub apart: Section<BTreeSet<Peer>>,
}

impl Hosts {
    /// `file` is the host's, if this is its first process.
    pub fn new(file: Option<File>) -> Hosts {
        Hosts {
            file: Section::new(file.map(Arc::new).map(Some)),
            apart: Section::new(BTreeSet::new()),
        }
    }

    /// Of a peer.
    pub fn of(&self, peer: Peer, card: HostCard) -> u64 {
        match self.apart.enter().contains(&peer) {
            true => apart(peer),
            false => card.first.into(),
        }
    }
}

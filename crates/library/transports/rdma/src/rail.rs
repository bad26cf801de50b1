//! Rails: the ports of adapters that a process uses.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use weft_sync::Section;
use weft_transport::Peer;

use crate::adapter::Adapter;
use crate::address::Contact;
use crate::setup::Setup;

/// A port, and the links that are made by it.
pub struct Rail {
    pub adapter: Adapter,
    pub setup: Section<Setup>,
    pub ways: Section<BTreeMap<Peer, Contact>>,
    /// Queue pairs to hosts that have failed, by lane: the protocol is to be told.
    pub failed: Section<Vec<(u32, u64)>>,
    /// The port is down: set and cleared as the adapter tells, read by whoever makes links.
    pub is_down: AtomicBool,
}

impl Rail {
    pub fn new(adapter: Adapter, setup: Setup) -> Rail {
        Rail {
            adapter,
            setup: Section::new(setup),
            ways: Section::new(BTreeMap::new()),
            failed: Section::new(Vec::new()),
            is_down: AtomicBool::new(false),
        }
    }
}

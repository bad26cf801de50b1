//! How a peer is reached by a rail.

use std::sync::Arc;
use std::time::Duration;

use weft_verbs::AddressHandle;

use crate::card::{Card, Port};
use crate::routes::Routes;

/// A peer's card, and the way to it.
#[derive(Clone)]
pub struct Contact {
    pub card: Arc<Card>,
    /// The one of the peer's ports that the rail leads to.
    pub port: usize,
    /// All that lead to the peer.
    pub routes: Routes,
    pub handle: AddressHandle,
    /// How long a queue pair tries in vain.
    pub timeout: Option<Duration>,
}

impl Contact {
    pub fn to(&self) -> &Port {
        &self.card.ports[self.port]
    }
}

//! Which peer is reached by which of two fabrics.

use std::collections::BTreeMap;

use weft_sync::Section;
use weft_transport::Peer;

/// Which of the two reaches a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    First,
    Second,
}

/// Decides the route to a peer; may ask the launcher.
pub type Decide = Box<dyn Fn(Peer) -> Route + Send + Sync>;

/// What was decided for each peer, where there are two routes.
pub struct Decisions {
    decided: Section<BTreeMap<Peer, Route>>,
    decide: Decide,
}

impl Decisions {
    pub fn new(decide: Decide) -> Decisions {
        Decisions {
            decided: Section::new(BTreeMap::new()),
            decide,
        }
    }

    pub fn find(&self, peer: Peer) -> Option<Route> {
        self.decided.enter().get(&peer).copied()
    }

    pub fn decide(&self, peer: Peer) -> Route {
        if let Some(route) = self.find(peer) {
            return route;
        }
        self.note(peer, (self.decide)(peer))
    }

    /// The route to a peer from here on, which is `route` if none was decided before.
    pub fn note(&self, peer: Peer, route: Route) -> Route {
        *self.decided.enter().entry(peer).or_insert(route)
    }
}

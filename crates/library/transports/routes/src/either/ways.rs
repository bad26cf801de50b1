//! Which peer is reached by which of two fabrics.

use std::collections::BTreeMap;

use weft_sync::Section;
use weft_transport::Peer;

/// Which of the two reaches a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    First,
    Second,
}

/// Decides the way to a peer; may ask the launcher.
pub type Decide = Box<dyn Fn(Peer) -> Way + Send + Sync>;

/// The ways that are decided, where there are two.
pub struct Ways {
    decided: Section<BTreeMap<Peer, Way>>,
    decide: Decide,
}

impl Ways {
    pub fn new(decide: Decide) -> Ways {
        Ways {
            decided: Section::new(BTreeMap::new()),
            decide,
        }
    }

    pub fn find(&self, peer: Peer) -> Option<Way> {
        self.decided.enter().get(&peer).copied()
    }

    pub fn decide(&self, peer: Peer) -> Way {
        if let Some(way) = self.find(peer) {
            return way;
        }
        self.note(peer, (self.decide)(peer))
    }

    /// The way to a peer from here on, which is `way` if none was decided before.
    pub fn note(&self, peer: Peer, way: Way) -> Way {
        *self.decided.enter().entry(peer).or_insert(way)
    }
}

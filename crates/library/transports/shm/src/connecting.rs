//! What lanes need of peers and what is slow to get: a peer's base, a link to it, pieces of its segment.
//!
//! 1. A lane that needs something leaves a [`Want`] here, once, and goes on without it.
//! 2. A thread that holds no lane fulfils the wants of one peer (`Shared::connect`): it asks the launcher, opens, maps. It
//!    leaves what it made and notifies the lane in the peer's name.
//! 3. The lane takes it in its next turn. What was made for a peer that is lost meanwhile is dropped.

use std::sync::Arc;

use weft_sync::Section;
use weft_transport::{Lost, Peer};

use crate::peers::Neighbour;
use crate::segment::Mapping;

/// What a lane needs of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Its base.
    Base,
    /// A link to it, made in the own segment.
    Link,
    /// Its ring to this process.
    Ring { offset: u64 },
    /// A piece of its segment for bulk data.
    Piece { offset: u64, bytes: usize },
}

/// What was made of a [`Need`].
pub enum Made {
    Base(Arc<Neighbour>),
    Link {
        neighbour: Arc<Neighbour>,
        /// In the own segment.
        offset: u64,
        mapping: Mapping,
    },
    Ring {
        neighbour: Arc<Neighbour>,
        mapping: Mapping,
    },
    Piece {
        offset: u64,
        mapping: Mapping,
    },
}

pub struct Want {
    pub lane: u32,
    pub peer: Peer,
    pub need: Need,
}

/// A want and what became of it.
pub struct Answer {
    pub want: Want,
    pub made: Result<Made, Lost>,
}

/// A process's wants and what became of them.
pub struct Connecting {
    wants: Section<Vec<Want>>,
    answers: Section<Vec<Answer>>,
    /// Held while wants are fulfilled, so that no thread returns before a link stands that another is still making.
    pub under_way: Section<()>,
}

impl Connecting {
    pub fn new() -> Connecting {
        Connecting {
            wants: Section::new(Vec::new()),
            answers: Section::new(Vec::new()),
            under_way: Section::new(()),
        }
    }

    pub fn want(&self, want: Want) {
        self.wants.enter().push(want);
    }

    /// Takes a want of `peer`'s.
    pub fn next(&self, peer: Peer) -> Option<Want> {
        let mut wants = self.wants.enter();
        let index = wants.iter().position(|want| want.peer == peer)?;
        Some(wants.remove(index))
    }

    pub fn answer(&self, answer: Answer) {
        self.answers.enter().push(answer);
    }

    /// Takes all that was made for a lane.
    pub fn take(&self, lane: u32) -> Vec<Answer> {
        let mut answers = self.answers.enter();
        answers
            .extract_if(.., |answer| answer.want.lane == lane)
            .collect()
    }
}

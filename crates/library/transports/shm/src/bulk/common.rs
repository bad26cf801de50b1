//! What both sides of bulk transfers use.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::Arc;

use weft_transport::{Lost, Peer, Refused};

use super::control::Control;
use super::rings::Rings;
use crate::connecting::Need;
use crate::layout::CONTROL;
use crate::links::Links;
use crate::peers::lost;
use crate::segment::Mapping;

/// Pieces of one peer's segment that are kept mapped; no honest peer has so many: eight rings, and eight more each time
/// that a loss puts them aside.
const MAPPED_PER_PEER: usize = 1 << 12;

/// Why a transfer cannot begin.
pub enum Missing {
    /// This has to be made first.
    Need(Need),
    /// What the peer says makes no sense.
    Sense(Lost),
}

impl From<Lost> for Missing {
    fn from(lost: Lost) -> Missing {
        Missing::Sense(lost)
    }
}

/// What both halves use.
pub struct Common {
    /// Control messages on their way out.
    pub controls: VecDeque<(Peer, Control)>,
    /// Those that came and wait for a piece of the peer's segment.
    pub waiting: Vec<(Peer, Control)>,
    /// Pieces of peers' segments.
    pub mapped: BTreeMap<(Peer, u64), Arc<Mapping>>,
    pub rings: Rings,
}

impl Common {
    pub fn new() -> Common {
        Common {
            controls: VecDeque::new(),
            waiting: Vec::new(),
            mapped: BTreeMap::new(),
            rings: Rings::new(),
        }
    }

    pub fn post(&mut self, peer: Peer, control: Control) {
        self.controls.push_back((peer, control));
    }

    /// Sends what there is room for.
    pub fn flush(&mut self, links: &mut Links) -> bool {
        let mut moved = false;
        for _ in 0..self.controls.len() {
            let Some((peer, control)) = self.controls.pop_front() else {
                break;
            };
            let (header, payload) = control.emit();
            let sent = links.push(peer, CONTROL, header, payload.len(), false, |out| {
                out.copy_from_slice(&payload);
            });
            match sent {
                Ok(()) => moved = true,
                Err(Refused::Lost) => {}
                Err(Refused::Connecting) => {
                    links.connect_later(peer, Need::Link);
                    self.controls.push_back((peer, control));
                }
                // Answers to one peer may overtake each other: each names its transfer.
                Err(_) => self.controls.push_back((peer, control)),
            }
        }
        moved
    }

    /// A piece of the peer's segment, if it is mapped.
    pub fn map(&self, peer: Peer, offset: u64, bytes: usize) -> Result<Arc<Mapping>, Missing> {
        let of_peer = || self.mapped.keys().filter(|(other, _)| *other == peer);
        match self.mapped.get(&(peer, offset)) {
            Some(mapping) if mapping.bytes() == bytes => Ok(mapping.clone()),
            Some(_) => Err(lost(peer, "it put two things at one place of its segment").into()),
            None if of_peer().count() >= MAPPED_PER_PEER => {
                Err(lost(peer, "it offered too many places of its segment").into())
            }
            None => Err(Missing::Need(Need::Piece { offset, bytes })),
        }
    }

    /// Whether a control message about the same transfer waits already.
    pub fn waits(&self, peer: Peer, control: Control) -> bool {
        let same =
            |waiting: &(Peer, Control)| waiting.0 == peer && waiting.1.about() == control.about();
        self.waiting.iter().any(same)
    }

    /// Ends what has to do with a lost peer.
    pub fn forget(&mut self, links: &mut Links, peer: Peer) {
        self.rings.forget(links, peer);
        self.controls.retain(|(other, _)| *other != peer);
        self.waiting.retain(|(other, _)| *other != peer);
        self.mapped.retain(|(other, _), _| *other != peer);
    }
}

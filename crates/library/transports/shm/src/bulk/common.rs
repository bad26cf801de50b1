//! What both sides of bulk transfers use.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use weft_transport::{Lost, Peer, Refused};

use super::both_ways::BothWays;
use super::control::Control;
use super::kept::Keeping;
use super::rings::Rings;
use crate::layout::CONTROL;
use crate::links::Links;
use crate::peers::lost;
use crate::segment::Mapping;

/// Pieces of one peer's segment that are kept mapped; no honest peer has so many.
const MAPPED_PER_PEER: usize = 1 << 12;

/// What both halves use.
pub struct Common {
    /// Control messages on their way out.
    pub controls: VecDeque<(Peer, Control)>,
    /// Pieces of peers' segments.
    pub mapped: HashMap<(Peer, u64), Arc<Mapping>>,
    pub rings: Rings,
    pub keeping: Keeping,
    pub both_ways: BothWays,
}

impl Common {
    pub fn new() -> Common {
        Common {
            controls: VecDeque::new(),
            mapped: HashMap::new(),
            rings: Rings::new(),
            keeping: Keeping::new(),
            both_ways: BothWays::default(),
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
                // Answers to one peer may overtake each other: each names its transfer.
                Err(_) => self.controls.push_back((peer, control)),
            }
        }
        moved
    }

    /// A piece of the peer's segment, mapped before or now.
    pub fn map(
        &mut self,
        links: &Links,
        peer: Peer,
        offset: u64,
        bytes: usize,
    ) -> Result<Arc<Mapping>, Lost> {
        if let Some(mapping) = self.mapped.get(&(peer, offset)) {
            if mapping.bytes() == bytes {
                return Ok(mapping.clone());
            }
            return Err(lost(peer, "it put two things at one place of its segment"));
        }
        if self
            .mapped
            .keys()
            .filter(|(other, _)| *other == peer)
            .count()
            >= MAPPED_PER_PEER
        {
            return Err(lost(peer, "it offered too many places of its segment"));
        }
        let mapping = Arc::new(links.neighbour(peer)?.map(offset, bytes)?);
        self.mapped.insert((peer, offset), mapping.clone());
        Ok(mapping)
    }
}

//! Memory that a lost peer may still read and write.
//!
//! A peer that was ended but lives learns of it later. Until then it may be copying out of a ring of this process's, or into one
//! that it had borrowed. So nothing that a lost peer could reach is given to another: its places in the segment are not used
//! again, and their memory goes back to the system once the peer has given this lane up too (what it then writes in this
//! process's base, see `base`) or has died.
//!
//! The memory is bounded: where more than [`LONGEST`] pieces wait, the oldest goes back at once. A receiver that reads zeros
//! there finds, before it reports them as received, that the connection was ended.

use std::collections::VecDeque;

use weft_transport::Peer;

use crate::peers::Neighbour;
use crate::shared::Shared;

/// Pieces in quarantine: 64 MiB of rings at most, of several peers that each had all eight of a lane.
const LONGEST: usize = 64;

struct Piece {
    peer: Peer,
    offset: u64,
    bytes: usize,
}

/// A lane's pieces in quarantine.
#[derive(Default)]
pub struct Quarantine {
    pieces: VecDeque<Piece>,
}

impl Quarantine {
    /// A piece of the own segment, which `peer` may use.
    pub fn add(&mut self, shared: &Shared, peer: Peer, offset: u64, bytes: usize) {
        self.pieces.push_back(Piece {
            peer,
            offset,
            bytes,
        });
        if self.pieces.len() > LONGEST
            && let Some(oldest) = self.pieces.pop_front()
        {
            oldest.release(shared);
        }
    }

    /// Gives back what is certainly used no more. Called now and then.
    pub fn look(&mut self, shared: &Shared, lane: u32) {
        let uses = |neighbour: &Neighbour| {
            !shared.base.is_given_up(lane, neighbour.position) && neighbour.is_alive()
        };
        self.pieces.retain(|piece| {
            let neighbour = shared.peers.known(piece.peer);
            let used = neighbour.is_some_and(|neighbour| uses(&neighbour));
            if !used {
                piece.release(shared);
            }
            used
        });
    }

    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }
}

impl Piece {
    fn release(&self, shared: &Shared) {
        // A system that cannot do it keeps the memory until this process ends.
        let _ = shared.segment.empty(self.offset, self.bytes);
    }
}

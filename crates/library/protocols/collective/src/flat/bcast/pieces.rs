//! A message in as many pieces as there are ranks, which the root scatters down a binomial tree. Ranks are numbered from the root, and each has at
//! least the piece of its number then.

use crate::cost::{Counts, doublings, hop, round};
use crate::memory::window;
use crate::tree::Subtree;
use crate::{Channel, PointToPoint};
use weft_memory::Memory;

pub(super) struct Pieces<'m> {
    memory: &'m Memory,
    root: usize,
    /// The rank's number.
    pub own: usize,
    pub ranks: usize,
    piece_bytes: usize,
}

impl<'m> Pieces<'m> {
    pub fn new<P: PointToPoint>(
        channel: &Channel<'_, P>,
        memory: &'m Memory,
        root: usize,
    ) -> Pieces<'m> {
        let ranks = channel.size();
        Pieces {
            memory,
            root,
            own: (channel.rank() + ranks - root) % ranks,
            ranks,
            piece_bytes: memory.bytes.div_ceil(ranks),
        }
    }

    /// Those from one number up to another.
    pub fn between(&self, from: usize, to: usize) -> Memory {
        let end = self.memory.bytes.min(to * self.piece_bytes);
        window(self.memory, end.min(from * self.piece_bytes)..end)
    }

    pub async fn scatter<P: PointToPoint>(&self, channel: &Channel<'_, P>) {
        let (own, tree) = (self.own, Subtree::new(channel, self.root));
        if let Some(parent) = tree.parent {
            let subtree = self.between(own, own + tree.ranks);
            channel
                .wait(channel.receive(channel.before(parent), subtree))
                .await;
        }
        for child in tree.children().rev() {
            let subtree = self.between(own + child.start, own + child.end);
            channel
                .wait(channel.send(channel.after(child.start), subtree))
                .await;
        }
    }
}

/// What the busiest rank does until each has its piece.
pub(super) fn scattering(ranks: usize, bytes: f64) -> Counts {
    (doublings(ranks) - 1.0) * round() + hop(bytes / 2.0)
}

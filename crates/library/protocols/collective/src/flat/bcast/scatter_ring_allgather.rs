//! Scatter and ring allgather (van de Geijn): the root's message is scattered in pieces down a binomial tree,
//! then the pieces go around the ring. Each rank moves the message about twice, however many ranks there are.

use super::pieces::{Pieces, scattering};
use crate::cost::{Work, others, pass};
use crate::{Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let pieces = Pieces::new(channel, memory, root);
    pieces.scatter(channel).await;
    let (own, ranks) = (pieces.own, pieces.ranks);
    for step in 0..ranks - 1 {
        let piece = |number| pieces.between(number, number + 1);
        let out = piece((own + ranks - step) % ranks);
        let into = piece((own + ranks - step - 1) % ranks);
        let (next, previous) = (channel.after(1), channel.before(1));
        channel.exchange(next, out, previous, into).await;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let piece = bytes / ranks as f64;
    Work::alike(scattering(ranks, bytes) + others(ranks) * pass(piece))
}

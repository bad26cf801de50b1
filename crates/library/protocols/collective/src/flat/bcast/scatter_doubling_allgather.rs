//! Scatter and an allgather in which what a rank has doubles: the root's message is scattered in pieces down a binomial
//! tree, then each rank has the pieces of the rank at a distance, which doubles from round to round (Bruck et al. 1997, in
//! place). Each rank moves the message about twice, in two rounds for each doubling of the ranks.

use super::pieces::{Pieces, scattering};
use crate::cost::{Work, gathering};
use crate::{Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let pieces = Pieces::new(channel, memory, root);
    pieces.scatter(channel).await;
    let (own, ranks) = (pieces.own, pieces.ranks);
    // So many pieces from a number on, around the end: what lies before it, and what behind.
    let around = |from: usize, count: usize| {
        let end = ranks.min(from + count);
        [(from, end), (0, from + count - end)].map(|(from, to)| pieces.between(from, to))
    };
    let mut distance = 1;
    while distance < ranks {
        let count = distance.min(ranks - distance);
        let (to, from) = (channel.before(distance), channel.after(distance));
        // What is empty here is so at the other end.
        let some = |part: Memory| (part.bytes > 0).then_some(part);
        let incoming = around((own + distance) % ranks, count)
            .map(|part| some(part).and_then(|part| channel.receive(from, part)));
        let outgoing =
            around(own, count).map(|part| some(part).and_then(|part| channel.send(to, part)));
        channel.wait_all(&incoming).await;
        channel.wait_all(&outgoing).await;
        distance *= 2;
    }
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let piece = bytes / ranks as f64;
    Work::alike(scattering(ranks, bytes) + gathering(ranks, piece))
}

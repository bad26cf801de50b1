//! Scatter and ring allgather (van de Geijn): the root's message is scattered in pieces down a binomial tree,
//! then the pieces go around the ring. Each rank moves the message about twice, however many ranks there are.

use crate::cost::{Work, doublings, hop, others, pass, round};
use crate::memory::window;
use crate::{Channel, PointToPoint};
use weft_memory::Memory;

pub(super) async fn run<P: PointToPoint>(channel: &Channel<'_, P>, memory: &Memory, root: usize) {
    let ranks = channel.size();
    let relative = (channel.rank() + ranks - root) % ranks;
    let piece_bytes = memory.bytes.div_ceil(ranks);
    // Pieces from one relative rank up to another.
    let pieces = |from: usize, to: usize| {
        let end = memory.bytes.min(to * piece_bytes);
        window(memory, end.min(from * piece_bytes)..end)
    };

    let mut bit = 1;
    while bit < ranks && relative & bit == 0 {
        bit *= 2;
    }
    if relative != 0 {
        let subtree = pieces(relative, ranks.min(relative + bit));
        channel
            .wait(channel.receive(channel.before(bit), subtree))
            .await;
    }
    while bit > 1 {
        bit /= 2;
        let child = relative + bit;
        if child < ranks {
            let subtree = pieces(child, ranks.min(child + bit));
            channel
                .wait(channel.send(channel.after(bit), subtree))
                .await;
        }
    }

    for step in 0..ranks - 1 {
        let out = (relative + ranks - step) % ranks;
        let into = (relative + ranks - step - 1) % ranks;
        let (next, previous) = (channel.after(1), channel.before(1));
        channel
            .exchange(next, pieces(out, out + 1), previous, pieces(into, into + 1))
            .await;
    }
}

/// What its ranks do.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let piece = bytes / ranks as f64;
    let scatter = (doublings(ranks) - 1.0) * round() + hop(bytes / 2.0);
    Work::alike(scatter + others(ranks) * pass(piece))
}

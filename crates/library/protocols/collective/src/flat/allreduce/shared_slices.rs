//! Everyone posts its operand piece after piece, combines its slice of each, and copies the others' results from where they post
//! those: with the next piece, so that there is one step more than there are pieces.
//!
//! In place the results take the place of pieces that were posted in the same step or before.

use crate::cost::{Work, combined, looked, looks, others, posted, step};
use crate::memory::copy;
use crate::order::{Folded, Tree};
use crate::steps::{LONGEST, slice};
use crate::{Channel, PointToPoint, Reduction};
use std::ops::Range;
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
) -> Option<()> {
    let steps = channel.steps();
    let (rank, ranks) = (channel.rank(), channel.size());
    let (count, size) = (reduction.count(), reduction.element_bytes());
    // A piece and the longest slice of the one before fit in a post.
    let pieces = count.div_ceil(LONGEST / size * ranks / (ranks + 1));
    let longest = count.div_ceil(pieces);
    let of = |range: &Range<usize>, rank: usize| {
        let Range { start, end } = slice(range.len(), rank, ranks);
        range.start + start..range.start + end
    };
    let folded = Folded::new(ranks);
    let room = reduction.share(of(&(0..longest), ranks - 1));
    let scratch = channel.room(room.scratch(Tree::places(folded)))?;
    let (input, output) = (reduction.input(), reduction.output());
    let mut before = 0..0;
    for index in 0..=pieces {
        let piece = count.min(index * longest)..count.min((index + 1) * longest);
        let post = |rank: usize| Piece {
            bytes: (piece.len() + of(&before, rank).len()) * size,
            more: index < pieces,
        };
        let result = |slot: &weft_memory::Memory, rank: usize| {
            let (bytes, results) = (piece.len() * size, output.part(of(&before, rank)).memory());
            (slot.part(bytes, results.bytes), results)
        };
        let posting = steps.begin(post(rank)).await?;
        copy(
            &input.part(piece.clone()).memory(),
            &posting.slot.part(0, piece.len() * size),
        );
        let (place, own) = result(&posting.slot, rank);
        copy(&own, &place);
        let step = steps.publish(posting);
        let own = of(&piece, rank);
        let tree = Tree::new((&room, &scratch), (folded, rank), output.part(own.clone()));
        let elements = own.start - piece.start..own.end - piece.start;
        steps
            .combine((step, post), elements, tree, |from, slot| {
                let (place, results) = result(slot, from);
                steps.copy_posted(from, &place, &results);
            })
            .await?;
        before = piece;
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let slice = bytes / ranks as f64;
    let pieces = ((bytes + slice) / LONGEST as f64).ceil().max(1.0);
    let each = step() + posted(0.0) + looks(others(ranks));
    let bytes = posted(bytes + slice) + others(ranks) * (2.0 * looked(slice) + combined(slice));
    Work::alike(pieces * each + bytes)
}

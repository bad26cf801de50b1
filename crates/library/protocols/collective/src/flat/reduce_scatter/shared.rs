//! Everyone posts, in a step, a piece of each rank's share of its operand, and combines what all post of its own.
//!
//! In place the results take the place of operands: of pieces that were posted in the same step or before.

use super::Shares;
use crate::cost::{Work, combined, looked, others, posted, step};
use crate::memory::window;
use crate::order::{Folded, Tree};
use crate::steps::LONGEST;
use crate::{Channel, PointToPoint, Reduction, memory};
use std::ops::Range;
use weft_sync::board::Piece;

pub(super) async fn run<P: PointToPoint>(
    channel: &Channel<'_, P>,
    reduction: &Reduction<'_>,
    shares: &Shares,
) -> Option<()> {
    let steps = channel.steps();
    let (rank, ranks) = (channel.rank(), channel.size());
    let size = reduction.element_bytes();
    let piece = (LONGEST / ranks / size).max(1);
    let longest = (0..ranks).map(|rank| shares.of(rank)).max()?;
    let room = reduction.share(0..piece.min(longest));
    let folded = Folded::new(ranks);
    let scratch = channel.room(room.scratch(Tree::places(folded)))?;
    let output = reduction.share(shares.range(rank)).output();
    for start in (0..longest).step_by(piece) {
        // Of a share, and where in the slot.
        let part = |rank: usize| start.min(shares.of(rank))..shares.of(rank).min(start + piece);
        let ends = |rank: usize| (0..rank).map(|rank| part(rank).len()).sum::<usize>();
        let (bytes, more) = (ends(ranks) * size, start + piece < longest);
        let step = match steps.begun() {
            Some(step) => step,
            None => {
                let posting = steps.begin(Piece { bytes, more }).await?;
                let mut at = 0;
                for to in 0..ranks {
                    let whole = shares.range(to).start;
                    let Range { start, end } = part(to);
                    let operand = reduction.input().part(whole + start..whole + end);
                    let place = at..at + operand.memory().bytes;
                    at = place.end;
                    memory::copy(&operand.memory(), &window(&posting.slot, place));
                }
                steps.publish(posting)
            }
        };
        let own = part(rank);
        if own.is_empty() {
            continue;
        }
        let before = ends(rank);
        let elements = before..before + own.len();
        let tree = Tree::new((&room, &scratch), (folded, rank), output.part(own));
        let posted = |_| Piece { bytes, more };
        steps
            .combine((step, posted), elements, tree, |_, _| {})
            .await?;
    }
    Some(())
}

/// The work of its ranks.
pub(crate) fn work(ranks: usize, bytes: f64) -> Work {
    let share = bytes / ranks as f64;
    let operands = others(ranks) * (looked(share) + combined(share));
    Work::alike(step() + ranks as f64 * posted(share) + operands)
}

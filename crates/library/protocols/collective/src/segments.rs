//! Vectors that go from rank to rank in segments: each is combined while it is in the caches, and the next one is on its way meanwhile.

use std::ops::Range;

use crate::memory::Operand;
use crate::{Channel, PointToPoint, Reduction};

/// About so many bytes are a segment: two of them and what they are combined with stay in a core's own cache.
const SEGMENT_BYTES: usize = 256 << 10;

/// A vector's segments, alike on all ranks.
#[derive(Clone, Copy)]
pub(crate) struct Segments {
    /// How many elements a segment has; the last may have fewer.
    elements: usize,
    /// How many elements the vector has.
    count: usize,
}

impl Segments {
    pub fn of(reduction: &Reduction<'_>, count: usize) -> Segments {
        let elements = SEGMENT_BYTES / reduction.element_bytes().max(1);
        Segments {
            elements: elements.max(1),
            count,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count.div_ceil(self.elements)
    }

    /// The elements of one; none behind the last.
    pub fn range(&self, index: usize) -> Range<usize> {
        let at = |index: usize| (index * self.elements).min(self.count);
        at(index)..at(index + 1)
    }

    /// Elements of the longest.
    pub fn longest(&self) -> usize {
        self.elements.min(self.count)
    }
}

/// Sends all of `out`, two segments at once.
pub(crate) async fn send<P: PointToPoint>(
    channel: &Channel<'_, P>,
    segments: Segments,
    to: usize,
    out: Operand<'_>,
) {
    let mut outgoing = None;
    for index in 0..segments.len() {
        let next = channel.send(to, out.part(segments.range(index)).memory());
        channel.wait(outgoing).await;
        outgoing = next;
    }
    channel.wait(outgoing).await;
}

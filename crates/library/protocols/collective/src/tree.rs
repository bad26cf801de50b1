//! Binomial trees: ranks are counted from the root, and one has as its subtree itself and as many ranks behind it as the
//! lowest bit set in its number says.

use std::ops::Range;

use crate::cost::levels;
use crate::{Channel, PointToPoint};

/// A rank's place in the tree.
pub(crate) struct Subtree {
    /// How many ranks before this one its parent is; none at the root.
    pub parent: Option<usize>,
    /// Ranks of the subtree, this one included.
    pub ranks: usize,
}

impl Subtree {
    pub fn new<P: PointToPoint>(channel: &Channel<'_, P>, root: usize) -> Subtree {
        let ranks = channel.size();
        let number = channel.before(root) % ranks;
        let mut bit = 1;
        while bit < ranks && number & bit == 0 {
            bit *= 2;
        }
        Subtree {
            parent: (number != 0).then_some(bit),
            ranks: bit.min(ranks - number),
        }
    }

    /// The children's subtrees, the smallest first: how far behind this rank each begins, which is where the child is, and ends.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + use<> {
        let ranks = self.ranks;
        (0..levels(ranks)).map(move |round| 1 << round..ranks.min(2 << round))
    }
}

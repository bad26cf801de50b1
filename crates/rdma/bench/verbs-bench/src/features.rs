//! The operational features of verbs that the papers switch off one at a time (Zambre 2018 §II-B and §IV).

use serde::{Deserialize, Serialize};

/// One of the papers' sets: everything, or everything without one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FeatureSet {
    All,
    WithoutPostlist,
    WithoutUnsignalled,
    WithoutInlining,
    WithoutBlueFlame,
    /// Neither postlist nor unsignalled completions: what an MPI library may do without knowing the application
    /// (Zambre 2018 §VII, "conservative application semantics").
    Conservative,
}

/// The paper's values: found to give 16 threads their highest rate (§IV).
const POSTLIST: usize = 32;
const SIGNAL_EVERY: usize = 64;

impl FeatureSet {
    /// The columns of the paper's figures.
    pub const FIGURES: [FeatureSet; 5] = [
        FeatureSet::All,
        FeatureSet::WithoutPostlist,
        FeatureSet::WithoutUnsignalled,
        FeatureSet::WithoutInlining,
        FeatureSet::WithoutBlueFlame,
    ];

    pub fn name(self) -> &'static str {
        match self {
            FeatureSet::All => "all",
            FeatureSet::WithoutPostlist => "w/o postlist",
            FeatureSet::WithoutUnsignalled => "w/o unsignalled",
            FeatureSet::WithoutInlining => "w/o inlining",
            FeatureSet::WithoutBlueFlame => "w/o BlueFlame",
            FeatureSet::Conservative => "conservative",
        }
    }

    pub fn features(self) -> Features {
        let all = Features {
            postlist: POSTLIST,
            signal_every: SIGNAL_EVERY,
            inline: true,
            blueflame: true,
        };
        match self {
            FeatureSet::All => all,
            FeatureSet::WithoutPostlist => Features { postlist: 1, ..all },
            FeatureSet::WithoutUnsignalled => Features {
                signal_every: 1,
                ..all
            },
            FeatureSet::WithoutInlining => Features {
                inline: false,
                ..all
            },
            FeatureSet::WithoutBlueFlame => Features {
                blueflame: false,
                ..all
            },
            FeatureSet::Conservative => Features {
                postlist: 1,
                signal_every: 1,
                ..all
            },
        }
    }
}

/// How a thread posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// Work requests in one call of `ibv_post_send`.
    pub postlist: usize,
    /// One request of so many asks for a completion.
    pub signal_every: usize,
    /// The payload travels in the work request, where it fits.
    pub inline: bool,
    /// Unless false, single work requests are written into the UAR. It is a setting of the whole process (`MLX5_SHUT_UP_BF`).
    pub blueflame: bool,
}

/// The variable that turns BlueFlame off, and the value that does.
pub const SHUT_UP_BLUEFLAME: (&str, &str) = ("MLX5_SHUT_UP_BF", "1");

impl Features {
    /// The same on a queue of `depth`: a list is never longer than the queue, and at least one request of a full queue is
    /// signalled, or it would never be empty again.
    pub fn within(self, depth: usize) -> Features {
        let postlist = self.postlist.min(depth);
        Features {
            postlist,
            signal_every: self.signal_every.min(depth).max(1),
            ..self
        }
    }

    /// Completions that a full queue of `depth` may give: the paper's c = d/q, which is also what one poll asks for.
    pub fn completions(self, depth: usize) -> usize {
        depth.div_ceil(self.signal_every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_lacks_what_it_names_and_nothing_else() {
        let all = FeatureSet::All.features();
        assert_eq!((all.postlist, all.signal_every), (32, 64));
        assert!(all.inline && all.blueflame);
        for set in FeatureSet::FIGURES.into_iter().skip(1) {
            let it = set.features();
            let lacks = [
                it.postlist != all.postlist,
                it.signal_every != all.signal_every,
                !it.inline,
                !it.blueflame,
            ];
            assert_eq!(lacks.iter().filter(|l| **l).count(), 1, "{set:?}");
        }
        let careful = FeatureSet::Conservative.features();
        assert_eq!((careful.postlist, careful.signal_every), (1, 1));
    }

    #[test]
    fn a_short_queue_bounds_lists_and_signals() {
        let short = FeatureSet::All.features().within(16);
        assert_eq!((short.postlist, short.signal_every), (16, 16));
        assert_eq!(short.completions(16), 1);
        let paper = FeatureSet::All.features().within(256);
        assert_eq!(paper.completions(256), 4);
    }
}

//! Keys of the four tables and their hash.

use crate::{Envelope, Pattern};

/// A wildcard in a [`Key`]. No source or tag is negative, so it is no value of either.
const ANY: u32 = u32::MAX;

/// What of an envelope a table is indexed by, named after the receives that stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wildcards {
    /// By (context, source, tag).
    Full = 0,
    /// By (context, tag).
    AnySource = 1,
    /// By (context, source).
    AnyTag = 2,
    /// By context.
    Wildcard = 3,
}

impl Wildcards {
    pub const ALL: [Wildcards; 4] = [
        Wildcards::Full,
        Wildcards::AnySource,
        Wildcards::AnyTag,
        Wildcards::Wildcard,
    ];
}

/// Evaluates the body with `$name` a constant of the value of `$kind`, so that each kind is compiled for itself.
macro_rules! with_kind {
    ($kind:expr, $name:ident => $body:expr) => {
        match $kind {
            Wildcards::Full => {
                const $name: Wildcards = Wildcards::Full;
                $body
            }
            Wildcards::AnySource => {
                const $name: Wildcards = Wildcards::AnySource;
                $body
            }
            Wildcards::AnyTag => {
                const $name: Wildcards = Wildcards::AnyTag;
                $body
            }
            Wildcards::Wildcard => {
                const $name: Wildcards = Wildcards::Wildcard;
                $body
            }
        }
    };
}
pub(crate) use with_kind;

/// Context, source and tag, with [`ANY`] for what the table does not look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Context in the upper half, source in the lower.
    pub place: u64,
    pub tag: u32,
}

impl Key {
    #[inline(always)]
    pub fn of_envelope(envelope: &Envelope) -> Key {
        debug_assert!(
            envelope.source >= 0 && envelope.tag >= 0,
            "a message has a source and a tag: {envelope:?}"
        );
        Key {
            place: place(envelope.context, envelope.source),
            tag: envelope.tag as u32,
        }
    }

    #[inline(always)]
    pub fn of_pattern(pattern: &Pattern) -> Key {
        // An arithmetic shift makes every negative number ANY and leaves the others.
        Key {
            place: place(pattern.context, pattern.source | (pattern.source >> 31)),
            tag: (pattern.tag | (pattern.tag >> 31)) as u32,
        }
    }

    #[inline(always)]
    pub fn kind(self) -> Wildcards {
        match (self.place as u32 == ANY, self.tag == ANY) {
            (false, false) => Wildcards::Full,
            (true, false) => Wildcards::AnySource,
            (false, true) => Wildcards::AnyTag,
            (true, true) => Wildcards::Wildcard,
        }
    }

    /// The key under which a table of `kind` holds this one. Of a key of that kind: itself.
    #[inline(always)]
    pub fn project(self, kind: Wildcards) -> Key {
        let any_source = self.place | u64::from(ANY);
        match kind {
            Wildcards::Full => self,
            Wildcards::AnySource => Key {
                place: any_source,
                ..self
            },
            Wildcards::AnyTag => Key { tag: ANY, ..self },
            Wildcards::Wildcard => Key {
                place: any_source,
                tag: ANY,
            },
        }
    }

    /// The key as the envelope of a message. Meaningful for full keys only.
    pub fn envelope(self) -> Envelope {
        let Pattern {
            context,
            source,
            tag,
        } = self.pattern();
        Envelope {
            context,
            source,
            tag,
        }
    }

    pub fn pattern(self) -> Pattern {
        Pattern {
            context: (self.place >> 32) as u32,
            source: self.place as u32 as i32,
            tag: self.tag as i32,
        }
    }

    /// A hash whose low bits are good. Sixteen keys that differ in the low four bits of the tag (of the source, where
    /// the tag is no part of the key) get sixteen neighbouring buckets, which share a cache line: programs number their
    /// tags and ranks from zero. All other bits are mixed by one folded multiplication.
    #[inline(always)]
    pub fn hash(self, kind: Wildcards) -> u32 {
        // Neither factor can be zero: ANY and non-negative numbers differ from the lower half of the first constant,
        // and the upper half of the second meets zeros only.
        const PLACE: u64 = 0x9e37_79b9_c2b2_ae3d;
        const NUMBER: u64 = 0xd6e8_feb8_6659_fd93;
        let (place, number) = match kind {
            Wildcards::Full | Wildcards::AnySource | Wildcards::Wildcard => (self.place, self.tag),
            Wildcards::AnyTag => (self.place | u64::from(ANY), self.place as u32),
        };
        let product = u128::from(place ^ PLACE) * u128::from(u64::from(number >> 4) ^ NUMBER);
        let folded = product as u64 ^ (product >> 64) as u64;
        (folded ^ (folded >> 32)) as u32 ^ (number & 15)
    }
}

#[inline(always)]
fn place(context: u32, source: i32) -> u64 {
    u64::from(context) << 32 | u64::from(source as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest chain and the mean number of others that a key finds in its bucket, at two buckets for each key.
    fn chains(kind: Wildcards, count: u32, pattern: impl Fn(u32) -> (u32, i32, i32)) -> (u32, f64) {
        let mut buckets = vec![0u32; 2 * count as usize];
        for n in 0..count {
            let (context, source, tag) = pattern(n);
            let key = Key::of_pattern(&Pattern {
                context,
                source,
                tag,
            });
            assert_eq!(key.kind(), kind);
            buckets[key.hash(kind) as usize % (2 * count as usize)] += 1;
        }
        let others: f64 = buckets
            .iter()
            .map(|&n| f64::from(n) * f64::from(n.max(1) - 1))
            .sum();
        (
            buckets.into_iter().max().unwrap_or(0),
            others / f64::from(count),
        )
    }

    #[test]
    fn strided_keys_spread() {
        const N: u32 = 1 << 16;
        let grid = |n: u32| ((n & 255) as i32, (n >> 8) as i32);
        for stride in [
            1,
            2,
            3,
            4,
            7,
            8,
            16,
            17,
            64,
            100,
            256,
            1000,
            1024,
            4096,
            10_000,
            1 << 14,
            (1 << 15) - 1,
        ] {
            let far = |n: u32| (n * stride) as i32 & i32::MAX;
            for (what, (longest, others)) in [
                ("tag", chains(Wildcards::Full, N, |n| (4, 1, far(n)))),
                ("source", chains(Wildcards::Full, N, |n| (4, far(n), 7))),
                (
                    "context",
                    chains(Wildcards::Full, N, |n| (n * stride, 0, 7)),
                ),
                (
                    "source and tag",
                    chains(Wildcards::Full, N, |n| {
                        (4, grid(n).0, grid(n).1 * stride as i32)
                    }),
                ),
                (
                    "source, tag",
                    chains(Wildcards::Full, N, |n| {
                        (4, grid(n).0 * stride as i32, grid(n).1)
                    }),
                ),
                (
                    "context, tag",
                    chains(Wildcards::Full, N, |n| ((n >> 8) * stride, 0, grid(n).0)),
                ),
                (
                    "any source",
                    chains(Wildcards::AnySource, N, |n| (4, -1, far(n))),
                ),
                ("any tag", chains(Wildcards::AnyTag, N, |n| (4, far(n), -1))),
                (
                    "any tag, contexts",
                    chains(Wildcards::AnyTag, N, |n| (n * stride, 3, -1)),
                ),
                (
                    "wildcard",
                    chains(Wildcards::Wildcard, N, |n| (n * stride, -1, -1)),
                ),
            ] {
                // A random function gives 0.5 others and a longest chain of about 8.
                assert!(
                    longest <= 20 && others < 1.2,
                    "{what} stride {stride}: longest {longest}, others {others:.2}"
                );
            }
        }
    }
}

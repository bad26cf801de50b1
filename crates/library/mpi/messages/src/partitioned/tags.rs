//! Ranges of tags for partitions, one tag for each.
//!
//! The sender chooses them and tells its receive once. Ranges of live operations never overlap, and a range that was
//! given back is used again only once all others have been: a partition of an operation that its sender has freed
//! may still be on its way.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use weft_objects::TAG_UB;

/// Tags in all.
const TAGS: u32 = TAG_UB as u32;

/// The ranges in use by this process, of all its communicators together.
#[derive(Default)]
pub(crate) struct Tags(Mutex<Ranges>);

#[derive(Default)]
struct Ranges {
    /// Lengths by first tag.
    live: BTreeMap<u32, u32>,
    /// Where the last range ended.
    next: u32,
}

pub(crate) static PARTITION_TAGS: Tags = Tags(Mutex::new(Ranges {
    live: BTreeMap::new(),
    next: 0,
}));

impl Tags {
    /// The first of `count` tags that no operation has; none if no gap is as long.
    pub fn take(&self, count: u32) -> Option<u32> {
        let mut ranges = self.0.lock();
        let from = ranges.next;
        let first = ranges.gap(from, count).or_else(|| ranges.gap(0, count))?;
        ranges.live.insert(first, count);
        ranges.next = first + count;
        Some(first)
    }

    pub fn give_back(&self, first: u32) {
        self.0.lock().live.remove(&first);
    }
}

impl Ranges {
    /// The first gap of `count` tags that starts at `from` or after.
    fn gap(&self, from: u32, count: u32) -> Option<u32> {
        let before = self.live.range(..from).next_back();
        let mut start = before.map_or(from, |(&first, &length)| from.max(first + length));
        for (&first, &length) in self.live.range(from..) {
            if first - start >= count {
                break;
            }
            start = first + length;
        }
        (TAGS - start >= count).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_was_given_back_is_the_last_to_be_used_again() {
        let tags = Tags::default();
        let half = TAGS / 2;
        assert_eq!(tags.take(10), Some(0));
        tags.give_back(0);
        assert_eq!(tags.take(half), Some(10));
        assert_eq!(tags.take(5), Some(half + 10));
        assert_eq!(tags.take(half), None);
        tags.give_back(10);
        assert_eq!(tags.take(half - 20), Some(half + 15));
        assert_eq!(tags.take(half - 20), Some(0));
    }

    #[test]
    fn live_ranges_do_not_overlap() {
        let tags = Tags::default();
        let mut live: Vec<(u32, u32)> = Vec::new();
        let mut random = 1u32;
        for _ in 0..5000 {
            random = random.wrapping_mul(1664525).wrapping_add(1013904223);
            let count = 1 + random % (TAGS / 12);
            if random & 1 << 20 != 0 && !live.is_empty() {
                let (first, _) = live.swap_remove(random as usize % live.len());
                tags.give_back(first);
            } else if let Some(first) = tags.take(count) {
                let end = first + count;
                assert!(end <= TAGS);
                assert!(
                    live.iter()
                        .all(|&(other, length)| end <= other || other + length <= first)
                );
                live.push((first, count));
            }
        }
    }
}

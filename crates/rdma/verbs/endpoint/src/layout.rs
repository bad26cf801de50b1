//! What threads share: how many of them are on one object of each kind.
//!
//! Threads are numbered from 0, and those that share stand beside each other: `k`-way sharing puts threads `0 … k−1` on the first
//! object, `k … 2k−1` on the second. The last object may have fewer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much of the adapter a thread domain has to itself (Zambre 2018 §V-B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Level 1: a UAR page. Its second uUAR is wasted.
    Page,
    /// Level 2: a uUAR, on a page with another thread domain.
    Uuar,
}

impl Level {
    /// As the paper counts.
    pub fn number(self) -> u32 {
        match self {
            Level::Page => 1,
            Level::Uuar => 2,
        }
    }
}

/// The endpoints of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    pub threads: usize,
    /// Threads on one context.
    pub context: usize,
    /// Threads on one protection domain.
    pub domain: usize,
    /// Threads on one memory region: it spans the buffers of them all.
    pub region: usize,
    /// Threads on one buffer.
    pub buffer: usize,
    /// Threads on one completion queue, whatever else they share: who shares a queue pair must share its completion queue.
    pub completions: usize,
    /// Threads on one queue pair.
    pub queue_pair: usize,
    /// Of each queue pair; without one it has a lock.
    pub thread_domain: Option<Level>,
    /// As many queue pairs and completion queues again, which nobody uses: the paper's "2xQPs".
    pub is_doubled: bool,
    /// Completion queues without a lock, for which the device must know extended ones. Only where each has one thread.
    pub is_sole: bool,
    /// Buffers one behind the other, many on a cache line, in place of each on lines of its own.
    pub is_packed: bool,
    /// Queue pairs of a thread.
    pub queue_pairs_each: usize,
    /// Completion queues of a thread. Queue pair `i` reports to number `i` modulo this.
    pub completion_queues_each: usize,
    /// Buffers of a thread, each registered for itself.
    pub buffers_each: usize,
    pub buffer_bytes: usize,
    /// Buffers are memory of the library's where it has such ([`Buffer::from_library`](weft_verbs::Buffer::from_library)): peers that
    /// write into them then do it with less work.
    pub is_exposed: bool,
    /// Requests that a thread may have under way on one of its queue pairs. A shared one has room for those of all its threads.
    pub depth: usize,
    /// Completions that a thread's requests on one queue pair may have waiting: less than `depth` if not every request asks for
    /// one.
    pub completion_depth: usize,
    /// Bytes that a request can carry inline.
    pub inline_bytes: usize,
}

/// As deep as perftest's queues, which the paper's loop is taken from; the paper does not say.
const DEPTH: usize = 128;
/// What ConnectX-4 takes inline by default (§V-A).
const INLINE_BYTES: usize = 60;
/// Bounds that keep all sums in range, and every queue pair of a thread a number in a request.
const MOST_OBJECTS: usize = 1 << 24;
const MOST_DEPTH: usize = 1 << 20;
const MOST_BUFFER_BYTES: usize = 1 << 40;

impl Layout {
    /// "One TD-assigned QP per context per thread" (§IV): nothing is shared.
    pub fn independent(threads: usize) -> Layout {
        Layout {
            threads,
            context: 1,
            domain: 1,
            region: 1,
            buffer: 1,
            completions: 1,
            queue_pair: 1,
            thread_domain: Some(Level::Page),
            is_doubled: false,
            is_sole: false,
            is_packed: false,
            queue_pairs_each: 1,
            completion_queues_each: 1,
            buffers_each: 1,
            buffer_bytes: 64,
            is_exposed: false,
            depth: DEPTH,
            completion_depth: DEPTH,
            inline_bytes: INLINE_BYTES,
        }
    }

    /// Whether there can be such endpoints.
    pub fn check(&self) -> Result<(), LayoutError> {
        self.check_counts()?;
        self.check_nesting()?;
        let refuse = |text: &str| Err(LayoutError(text.to_owned()));
        if self.queue_pair > 1 && self.thread_domain.is_some() {
            return refuse("a queue pair of several threads cannot be in a thread domain");
        }
        if self.is_sole && self.completions > 1 {
            return refuse("a completion queue of several threads needs its lock");
        }
        if self.completion_queues_each > self.queue_pairs_each {
            return refuse("more completion queues than queue pairs");
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<(), LayoutError> {
        let counts = [
            ("threads", self.threads),
            ("threads on a context", self.context),
            ("threads on a protection domain", self.domain),
            ("threads on a memory region", self.region),
            ("threads on a buffer", self.buffer),
            ("threads on a completion queue", self.completions),
            ("threads on a queue pair", self.queue_pair),
            ("queue pairs of a thread", self.queue_pairs_each),
            ("completion queues of a thread", self.completion_queues_each),
            ("buffers of a thread", self.buffers_each),
            ("bytes of a buffer", self.buffer_bytes),
            ("depth", self.depth),
            ("depth of completion queues", self.completion_depth),
        ];
        if let Some((what, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(LayoutError(format!("{what}: 0")));
        }
        let threads = |each: usize| self.threads.saturating_mul(each);
        let bounds = [
            ("queue pairs", threads(self.queue_pairs_each), MOST_OBJECTS),
            ("buffers", threads(self.buffers_each), MOST_OBJECTS),
            ("depth", self.depth, MOST_DEPTH),
            (
                "depth of completion queues",
                self.completion_depth,
                MOST_DEPTH,
            ),
            ("bytes of a buffer", self.buffer_bytes, MOST_BUFFER_BYTES),
            ("bytes inline", self.inline_bytes, MOST_DEPTH),
        ];
        match bounds.iter().find(|(_, count, most)| count > most) {
            Some((what, count, most)) => Err(LayoutError(format!("{what}: {count}, of {most}"))),
            None => Ok(()),
        }
    }

    /// Each verbs object is made in another (the paper's Figure 4a), so who shares the inner one shares the outer one.
    fn check_nesting(&self) -> Result<(), LayoutError> {
        let nested = [
            ("protection domain", self.domain, "context", self.context),
            (
                "memory region",
                self.region,
                "protection domain",
                self.domain,
            ),
            (
                "completion queue",
                self.completions,
                "context",
                self.context,
            ),
            (
                "queue pair",
                self.queue_pair,
                "completion queue",
                self.completions,
            ),
            (
                "queue pair",
                self.queue_pair,
                "protection domain",
                self.domain,
            ),
        ];
        for (inner, inner_ways, outer, outer_ways) in nested {
            if !self.stays_inside(inner_ways, outer_ways) {
                return Err(LayoutError(format!(
                    "{inner_ways} threads on a {inner} and {outer_ways} on its {outer}: some would have two of these"
                )));
            }
        }
        Ok(())
    }

    /// Whether no group of `inner` threads reaches over the end of one of `outer`.
    fn stays_inside(&self, inner: usize, outer: usize) -> bool {
        outer >= self.threads || outer.is_multiple_of(inner)
    }

    /// How many objects there are if `ways` threads are on one.
    pub(crate) fn groups(&self, ways: usize) -> usize {
        self.threads.div_ceil(ways)
    }

    /// Of all threads, without those that nobody uses.
    pub fn queue_pairs(&self) -> usize {
        self.groups(self.queue_pair) * self.queue_pairs_each
    }

    /// The place of a thread's queue pair on the [`Card`](crate::Card) of the process.
    ///
    /// # Panics
    /// If the layout has no such thread or queue pair.
    pub fn place(&self, thread: usize, queue_pair: usize) -> usize {
        assert!(thread < self.threads && queue_pair < self.queue_pairs_each);
        thread / self.queue_pair * self.queue_pairs_each + queue_pair
    }
}

/// Why there cannot be such endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError(pub(crate) String);

impl fmt::Display for LayoutError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for LayoutError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Category;

    fn refused(layout: Layout) -> String {
        layout.check().unwrap_err().to_string()
    }

    #[test]
    fn categories_are_for_any_number_of_threads() {
        for threads in 1..=256 {
            for category in Category::ALL {
                category.layout(threads).check().unwrap();
            }
        }
    }

    #[test]
    fn who_shares_an_object_shares_what_it_is_in() {
        let none = Layout::independent(4);
        let nested: [(Layout, &str); 5] = [
            (
                Layout {
                    domain: 2,
                    ..none.clone()
                },
                "protection domain",
            ),
            (
                Layout {
                    region: 2,
                    ..none.clone()
                },
                "memory region",
            ),
            (
                Layout {
                    completions: 2,
                    ..none.clone()
                },
                "completion queue",
            ),
            (
                Layout {
                    context: 4,
                    completions: 4,
                    domain: 4,
                    queue_pair: 3,
                    ..none.clone()
                },
                "thread domain",
            ),
            (
                Layout {
                    context: 4,
                    domain: 4,
                    queue_pair: 2,
                    thread_domain: None,
                    ..none.clone()
                },
                "queue pair",
            ),
        ];
        for (layout, named) in nested {
            let text = refused(layout);
            assert!(text.contains(named), "{text}");
        }
        // Three of four reach over the end of two.
        let context = Layout {
            context: 2,
            domain: 2,
            region: 2,
            completions: 2,
            ..none.clone()
        };
        context.check().unwrap();
        assert!(
            refused(Layout {
                threads: 8,
                context: 4,
                domain: 3,
                ..none
            })
            .contains("3 threads")
        );
    }

    #[test]
    fn nothing_of_nothing_and_not_too_much() {
        assert_eq!(refused(Layout::independent(0)), "threads: 0");
        let one = Layout::independent(1);
        assert_eq!(
            refused(Layout {
                depth: 0,
                ..one.clone()
            }),
            "depth: 0"
        );
        assert!(
            refused(Layout {
                depth: usize::MAX,
                ..one.clone()
            })
            .starts_with("depth: ")
        );
        assert!(refused(Layout::independent(usize::MAX)).starts_with("queue pairs: "));
        let sole = Layout {
            is_sole: true,
            ..Category::MpiThreads.layout(2)
        };
        assert!(refused(sole).contains("lock"));
        let queues = Layout {
            completion_queues_each: 2,
            ..one
        };
        assert!(refused(queues).contains("more completion queues"));
    }

    #[test]
    fn threads_of_a_queue_pair_have_its_place() {
        let layout = Layout {
            queue_pairs_each: 2,
            completions: 2,
            queue_pair: 2,
            ..Category::Static.layout(4)
        };
        let places: Vec<usize> = (0..4).map(|thread| layout.place(thread, 1)).collect();
        assert_eq!(places, [1, 1, 3, 3]);
        assert_eq!(layout.queue_pairs(), 4);
    }
}

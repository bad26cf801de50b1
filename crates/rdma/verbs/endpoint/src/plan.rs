//! What endpoints will take, computed: no device is asked.
//!
//! The arithmetic is written from the rules of `docs/uar-accounting.md` and shares no code with the device that carries them out, so
//! that the two check each other.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Adapter, Category, Hardware, Layout, LayoutError, Level, Objects, Policy, Resources};

/// What ranks on one node take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub ranks: u64,
    /// Of one rank.
    pub rank: Resources,
    /// Of all.
    pub node: Resources,
    /// Bytes that the objects of all take.
    pub bytes: u64,
    /// How many ranks could be there before the adapter has no UAR page left.
    pub most_ranks: u64,
    /// What the adapter cannot give.
    pub shortage: Option<Shortage>,
}

/// Why endpoints cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum Shortage {
    /// UAR pages of the device.
    Uars { needed: u64, free: u64 },
    /// UAR pages that the thread domains of one context may take.
    ContextUars { needed: u64, most: u64 },
}

impl fmt::Display for Shortage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shortage::Uars { needed, free } => {
                write!(formatter, "{needed} UARs needed, the adapter has {free}")
            }
            Shortage::ContextUars { needed, most } => write!(
                formatter,
                "{needed} UARs needed for the thread domains of a context, which may have {most}"
            ),
        }
    }
}

impl Plan {
    pub fn fits(&self) -> bool {
        self.shortage.is_none()
    }
}

/// Keeps all sums in range.
const MOST_RANKS: u64 = 1 << 16;

/// What `ranks` ranks of `threads` threads each take of one adapter.
pub fn plan(
    category: Category,
    threads: usize,
    ranks: u64,
    adapter: &Adapter,
) -> Result<Plan, LayoutError> {
    plan_layout(&category.layout(threads), ranks, adapter)
}

/// What `ranks` ranks of that layout take of one adapter.
pub fn plan_layout(layout: &Layout, ranks: u64, adapter: &Adapter) -> Result<Plan, LayoutError> {
    layout.check()?;
    adapter.check()?;
    if ranks > MOST_RANKS {
        return Err(LayoutError(format!("ranks: {ranks}, of {MOST_RANKS}")));
    }
    let queue_pairs = queue_pairs_by_context(layout);
    let mut hardware = Hardware::default();
    let mut widest = 0;
    for &count in &queue_pairs {
        let context = context(layout.thread_domain, count, adapter);
        widest = widest.max(context.dynamic_uars);
        hardware += context;
    }
    let rank = Resources {
        objects: objects(layout, adapter),
        hardware,
    };
    let free = adapter.free_uars();
    let needed = hardware.uars().saturating_mul(ranks);
    let in_domains = layout.thread_domain.is_some();
    let shortage = match adapter.context_dynamic_uars.map(u64::from) {
        Some(most) if in_domains && widest > most => Some(Shortage::ContextUars {
            needed: widest,
            most,
        }),
        _ if needed > free => Some(Shortage::Uars { needed, free }),
        _ => None,
    };
    let none_fits = matches!(shortage, Some(Shortage::ContextUars { .. }));
    let node = rank * ranks;
    Ok(Plan {
        ranks,
        rank,
        node,
        bytes: node.objects.bytes(&adapter.sizes),
        most_ranks: match none_fits {
            true => 0,
            false => free / hardware.uars(),
        },
        shortage,
    })
}

fn objects(layout: &Layout, adapter: &Adapter) -> Objects {
    let times = if layout.is_doubled { 2 } else { 1 };
    let count = |groups: usize, each: usize| (groups * each) as u64;
    let queue_pairs = count(layout.groups(layout.queue_pair), layout.queue_pairs_each) * times;
    let completion_queues = count(
        layout.groups(layout.completions),
        layout.completion_queues_each,
    ) * times;
    let (level_1, level_2) = match layout.thread_domain {
        None => (0, 0),
        Some(Level::Page) if adapter.has_sharing => (queue_pairs, 0),
        // Every second one is there to keep others off the page.
        Some(Level::Page) => (0, 2 * queue_pairs),
        Some(Level::Uuar) => (0, queue_pairs),
    };
    Objects {
        contexts: layout.groups(layout.context) as u64,
        protection_domains: layout.groups(layout.domain) as u64,
        memory_regions: count(layout.groups(layout.region), layout.buffers_each),
        queue_pairs,
        completion_queues,
        thread_domains_level_1: level_1,
        thread_domains_level_2: level_2,
    }
}

/// How many queue pairs each context has. Queue pairs do not reach over contexts.
fn queue_pairs_by_context(layout: &Layout) -> Vec<u64> {
    let times = if layout.is_doubled { 2 } else { 1 };
    let firsts = (0..layout.threads).step_by(layout.context);
    firsts
        .map(|first| {
            let threads = layout.context.min(layout.threads - first);
            let groups = threads.div_ceil(layout.queue_pair);
            (groups * layout.queue_pairs_each * times) as u64
        })
        .collect()
}

/// One context with so many queue pairs: all in a thread domain each, or none in one.
fn context(level: Option<Level>, queue_pairs: u64, adapter: &Adapter) -> Hardware {
    let static_uars = match adapter.policy {
        Policy::Static => u64::from(adapter.total_uuars / 2),
        Policy::Dynamic => 1,
    };
    let (dynamic_uars, used_uuars) = match level {
        Some(Level::Page) => (queue_pairs, queue_pairs),
        Some(Level::Uuar) => (queue_pairs.div_ceil(2), queue_pairs),
        None => by_policy(queue_pairs, adapter),
    };
    Hardware {
        static_uars,
        dynamic_uars,
        static_uuars: 2 * static_uars,
        dynamic_uuars: 2 * dynamic_uars,
        used_uuars,
    }
}

/// UAR pages that queue pairs outside of thread domains add, and uUARs that they stand on.
fn by_policy(queue_pairs: u64, adapter: &Adapter) -> (u64, u64) {
    let low = u64::from(adapter.low_latency_uuars);
    let total = u64::from(adapter.total_uuars);
    match adapter.policy {
        Policy::Static => {
            let on_low = queue_pairs.min(low);
            let rest = queue_pairs - on_low;
            // Number 0 is for those that find neither a low-latency uUAR free nor any medium-latency one.
            let medium = (total - low - 1).max(1);
            (0, on_low + rest.min(medium))
        }
        Policy::Dynamic if !adapter.has_blueflame => (0, queue_pairs.min(1)),
        Policy::Dynamic => {
            // They come by pages of two, so an odd number becomes even.
            let dedicated = queue_pairs.min(low.next_multiple_of(2));
            let rest = queue_pairs - dedicated;
            let most_shared = (total - low).next_multiple_of(2);
            let pages = dedicated.div_ceil(2) + rest.min(most_shared / 2);
            (pages, dedicated + rest.min(most_shared))
        }
    }
}

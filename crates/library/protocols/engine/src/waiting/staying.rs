//! How long a thread that waits stays awake: what it does after a turn in which nothing came.
//!
//! Pure: turns and time go in, what to do comes out. It is run in virtual time by `tests/storms.rs`.
//!
//! While each thread that waits has a core, being awake costs nobody anything, and going to sleep costs a wake: not only the thread's own, but that of
//! everybody who then waits for it. If they sleep because it was late, and others because of them, all sleep at every step from there on, though no
//! step has to wait: a storm, which one late process begins and nothing ends. So a thread stays awake for a multiple of what a wake costs *here*
//! (`wake_cost.rs`). Then one that was woken finds the others awake.

use super::Pace;

/// A thread stays awake for so many wakes: those that it waits for may wake one after the other, and the slowest of
/// many takes some times as long as most.
const WAKES: u64 = 10;
/// And for at least so long, which is also what it does before anything is known. Shorter than what a person notices, longer than all that a kernel
/// does in between; a wait that is longer loses nothing by a sleep.
const SHORTEST_NS: u64 = 1_000_000;
/// But never for longer: a thread that waits for long uses no processor after that.
const LONGEST_NS: u64 = 20_000_000;

/// Turns after which a thread that waits counts as one that wants a core.
const COUNTED_AFTER: u32 = 8;

/// What a thread does before its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Spin,
    Yield,
    Sleep,
}

/// One row of turns in which nothing came.
pub(crate) struct Staying {
    pace: Pace,
    turns: u32,
    /// When it began to yield: the clock is not read before.
    since_ns: Option<u64>,
}

/// How long threads that have a core each stay awake, beside their turns.
pub(crate) fn awake_ns(wake_ns: Option<u64>) -> u64 {
    let wakes = wake_ns.map_or(0, |ns| ns.saturating_mul(WAKES));
    wakes.clamp(SHORTEST_NS, LONGEST_NS)
}

impl Staying {
    pub fn new(pace: Pace) -> Staying {
        Staying {
            pace,
            turns: 0,
            since_ns: None,
        }
    }

    /// From the next turn on the pace is another.
    pub fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// Something came: it begins anew, but for the first turns of a wait.
    #[inline]
    pub fn moved(&mut self) {
        self.turns = self.turns.min(COUNTED_AFTER);
        self.since_ns = None;
    }

    /// A turn in which something came or not. Whether the thread counts as one that wants a core from here on.
    #[inline]
    pub fn count_turn(&mut self) -> bool {
        self.turns = self.turns.saturating_add(1);
        self.turns == COUNTED_AFTER
    }

    /// Whether it has come to count so.
    #[inline]
    pub fn is_counted(&self) -> bool {
        self.turns >= COUNTED_AFTER
    }

    /// After a turn in which nothing came. The clock, in nanoseconds, is read if it matters; `wake_ns` is what a wake costs, as far as is known.
    #[inline]
    pub fn step(
        &mut self,
        now_ns: impl FnOnce() -> u64,
        wake_ns: impl FnOnce() -> Option<u64>,
    ) -> Step {
        let Pace {
            spins,
            yields,
            by_time,
        } = self.pace;
        if self.turns < spins {
            return Step::Spin;
        }
        if self.turns < spins.saturating_add(yields) {
            return Step::Yield;
        }
        if !by_time {
            return Step::Sleep;
        }
        let now = now_ns();
        let since = *self.since_ns.get_or_insert(now);
        match now.saturating_sub(since) < awake_ns(wake_ns()) {
            true => Step::Yield,
            false => Step::Sleep,
        }
    }
}

//! How long a thread that waits stays awake: what it does after a turn in which nothing came.
//!
//! Pure: turns and time go in, what to do comes out. It is run in virtual time by `tests/storms.rs`.
//!
//! Going to sleep costs a wake: not only the thread's own, but that of everybody who then waits for it. If they sleep because it was late, and others
//! because of them, all sleep at every step from there on, though no step has to wait: a storm, which one late process begins and nothing ends. So a
//! thread stays awake for a multiple of what a wake costs *here* (`wake_cost.rs`). Then one that was woken finds the others awake.
//!
//! While each thread that waits has a core, being awake costs nobody anything, and the multiple is large. Where they share cores, it costs those at
//! work every other turn of a core, and the multiple is small.

use super::Pace;

/// Shorter than what a person notices, longer than all that a kernel does in between; a wait that is longer loses nothing by a sleep. A thread with a
/// core stays awake for at least so long, also before anything is known of wakes; one that shares its core for at most so long.
const MOMENT_NS: u64 = 1_000_000;
/// But never for longer: a thread that waits for long uses no processor after that.
const LONGEST_NS: u64 = 20_000_000;

/// Turns after which a thread that waits counts as one that wants a core.
const COUNTED_AFTER: u32 = 8;

/// What a thread does before its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BeforeTurn {
    Spin,
    Yield,
    Sleep,
}

/// One row of turns in which nothing came.
pub(crate) struct Staying {
    pace: Pace,
    turns: u32,
    yields: u32,
    /// Turns since the last yield.
    kept: u32,
    /// Since when it yields by time: the clock is not read before.
    since_ns: Option<u64>,
}

/// How long a thread stays awake, beside its turns.
pub fn awake_ns(pace: Pace, wake_ns: Option<u64>) -> u64 {
    let wakes = wake_ns.map_or(0, |ns| ns.saturating_mul(pace.wakes.into()));
    match pace.stays_awake() {
        true => wakes.clamp(MOMENT_NS, LONGEST_NS),
        false => wakes.min(MOMENT_NS),
    }
}

impl Staying {
    pub fn new(pace: Pace) -> Staying {
        Staying {
            pace,
            turns: 0,
            yields: 0,
            kept: 0,
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
        self.yields = 0;
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

    /// After a turn in which nothing came. The clock, in nanoseconds, is read if it matters; `wake_ns` is what a wake costs, as far as is known;
    /// `keeps` is for how many turns the thread keeps its core between two yields (`in_vain.rs`).
    #[inline]
    pub fn step(
        &mut self,
        now_ns: impl FnOnce() -> u64,
        wake_ns: impl FnOnce() -> Option<u64>,
        keeps: impl FnOnce() -> u32,
    ) -> BeforeTurn {
        if self.turns < self.pace.spins {
            return BeforeTurn::Spin;
        }
        if self.yields >= self.pace.yields && self.is_time_over(now_ns, wake_ns) {
            return BeforeTurn::Sleep;
        }
        if self.kept < keeps() {
            self.kept += 1;
            return BeforeTurn::Spin;
        }
        self.kept = 0;
        self.yields = self.yields.saturating_add(1);
        BeforeTurn::Yield
    }

    fn is_time_over(
        &mut self,
        now_ns: impl FnOnce() -> u64,
        wake_ns: impl FnOnce() -> Option<u64>,
    ) -> bool {
        if self.pace.wakes == 0 {
            return true;
        }
        let now = now_ns();
        let since = *self.since_ns.get_or_insert(now);
        now.saturating_sub(since) >= awake_ns(self.pace, wake_ns())
    }
}

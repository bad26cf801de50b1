//! How long threads that wait stay awake.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Looks of a short collective operation at what another process posts, where each has a core: some 2 us, before it
/// waits and makes progress.
const LOOKS: u32 = 64;

/// How long to stay awake while nothing comes: in turns of progress, and by time.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Turns without giving up the processor.
    pub spins: u32,
    /// Turns that yield it, after those.
    pub yields: u32,
    /// Whether it goes on to yield until its time is over (`staying.rs`).
    pub by_time: bool,
}

impl Pace {
    /// For a process that has a core to itself.
    pub const ALONE: Pace = Pace {
        spins: 2000,
        yields: 1,
        by_time: true,
    };
    /// For more processes or threads than cores: a thread that waits makes way.
    pub const SHARED: Pace = Pace {
        spins: 1,
        yields: 300,
        by_time: false,
    };
    /// For cores that others want: a thread that waits sleeps.
    pub const CROWDED: Pace = Pace {
        spins: 0,
        yields: 0,
        by_time: false,
    };
}

impl Pace {
    /// Whether a thread that waits at this pace makes way for others.
    #[inline]
    pub fn makes_way(self) -> bool {
        self.spins <= Pace::SHARED.spins
    }

    /// How often an operation that waits for memory alone looks before it waits.
    pub fn looks(self) -> u32 {
        if self.makes_way() { 1 } else { LOOKS }
    }

    /// That of a thread that does something for others while it waits, behind what it did last.
    pub fn after_something(self) -> Pace {
        let yields = if self.by_time { self.yields } else { 0 };
        Pace { yields, ..self }
    }
}

/// A [`Pace`] that tools may change: what is read without regard to each other.
pub(crate) struct PaceCell {
    spins: AtomicU32,
    yields: AtomicU32,
    by_time: AtomicBool,
}

impl PaceCell {
    pub fn new(pace: Pace) -> PaceCell {
        PaceCell {
            spins: AtomicU32::new(pace.spins),
            yields: AtomicU32::new(pace.yields),
            by_time: AtomicBool::new(pace.by_time),
        }
    }

    #[inline]
    pub fn load(&self) -> Pace {
        Pace {
            spins: self.spins.load(Ordering::Relaxed),
            yields: self.yields.load(Ordering::Relaxed),
            by_time: self.by_time.load(Ordering::Relaxed),
        }
    }

    pub fn store(&self, pace: Pace) {
        self.spins.store(pace.spins, Ordering::Relaxed);
        self.yields.store(pace.yields, Ordering::Relaxed);
        self.by_time.store(pace.by_time, Ordering::Relaxed);
    }
}

//! How long threads that wait stay awake.

use std::sync::atomic::{AtomicU32, Ordering};

/// How long to stay awake while nothing comes, in turns of progress.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Turns without giving up the processor.
    pub spins: u32,
    /// Turns that yield it, after those.
    pub yields: u32,
}

impl Pace {
    /// For a process that has a core to itself.
    pub const ALONE: Pace = Pace {
        spins: 2000,
        yields: 200,
    };
    /// For more processes or threads than cores: a thread that waits makes way.
    pub const SHARED: Pace = Pace {
        spins: 1,
        yields: 300,
    };
    /// For cores that others want: a thread that waits sleeps.
    pub const CROWDED: Pace = Pace {
        spins: 0,
        yields: 0,
    };
}

impl Pace {
    /// Whether a thread that waits at this pace makes way for others.
    #[inline]
    pub fn makes_way(self) -> bool {
        self.spins <= Pace::SHARED.spins
    }

    /// Between two looks: spins where the thread may keep its core.
    pub fn step_aside(self) {
        match self.makes_way() {
            false => std::hint::spin_loop(),
            true => weft_sync::yield_now(),
        }
    }
}

/// A [`Pace`] that tools may change: two numbers, read without regard to each other.
pub(crate) struct PaceCell {
    spins: AtomicU32,
    yields: AtomicU32,
}

impl PaceCell {
    pub fn new(pace: Pace) -> PaceCell {
        PaceCell {
            spins: AtomicU32::new(pace.spins),
            yields: AtomicU32::new(pace.yields),
        }
    }

    #[inline]
    pub fn load(&self) -> Pace {
        Pace {
            spins: self.spins.load(Ordering::Relaxed),
            yields: self.yields.load(Ordering::Relaxed),
        }
    }

    pub fn store(&self, pace: Pace) {
        self.spins.store(pace.spins, Ordering::Relaxed);
        self.yields.store(pace.yields, Ordering::Relaxed);
    }
}

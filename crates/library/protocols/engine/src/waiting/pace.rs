//! How long threads that wait stay awake.

use std::sync::atomic::{AtomicU32, Ordering};

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
    /// For so many wakes it goes on to yield, by what one costs here (`staying.rs`).
    pub wakes: u32,
}

impl Pace {
    /// For a process that has a core to itself.
    pub const ALONE: Pace = Pace {
        spins: 2000,
        yields: 1,
        wakes: 10,
    };
    /// For more processes or threads than cores: a thread that waits makes way. Awake it still takes turns of a core from those at
    /// work, so it sleeps after 40, some 0.2 ms (2 cores of an EPYC; 20 and 80 were as good, 300 kept two of four ranks that talk
    /// from their cores), or two wakes, lest sleeping begins a storm.
    pub const SHARED: Pace = Pace {
        spins: 1,
        yields: 40,
        wakes: 2,
    };
    /// For cores that others want: a thread that waits sleeps.
    pub const CROWDED: Pace = Pace {
        spins: 0,
        yields: 0,
        wakes: 0,
    };
}

impl Pace {
    /// Whether a thread that waits at this pace makes way for others.
    #[inline]
    pub fn makes_way(self) -> bool {
        self.spins <= Pace::SHARED.spins
    }

    /// Whether it stays awake for as long as it takes others to wake, whatever that costs.
    #[inline]
    pub fn stays_awake(self) -> bool {
        self.wakes > 0 && !self.makes_way()
    }

    /// How often an operation that waits for memory alone looks before it waits.
    pub fn looks(self) -> u32 {
        if self.makes_way() { 1 } else { LOOKS }
    }

    /// That of a thread that does something for others while it waits, behind what it did last.
    pub fn after_something(self) -> Pace {
        match self.stays_awake() {
            true => self,
            false => Pace {
                yields: 0,
                wakes: 0,
                ..self
            },
        }
    }
}

/// A [`Pace`] that tools may change: what is read without regard to each other.
pub(crate) struct PaceCell {
    spins: AtomicU32,
    yields: AtomicU32,
    wakes: AtomicU32,
}

impl PaceCell {
    pub fn new(pace: Pace) -> PaceCell {
        PaceCell {
            spins: AtomicU32::new(pace.spins),
            yields: AtomicU32::new(pace.yields),
            wakes: AtomicU32::new(pace.wakes),
        }
    }

    #[inline]
    pub fn load(&self) -> Pace {
        Pace {
            spins: self.spins.load(Ordering::Relaxed),
            yields: self.yields.load(Ordering::Relaxed),
            wakes: self.wakes.load(Ordering::Relaxed),
        }
    }

    pub fn store(&self, pace: Pace) {
        self.spins.store(pace.spins, Ordering::Relaxed);
        self.yields.store(pace.yields, Ordering::Relaxed);
        self.wakes.store(pace.wakes, Ordering::Relaxed);
    }
}

//! When memory is given back.
//!
//! A part (table or arena) shrinks only after a window in which its population never came near its capacity. The window
//! is long against the time that filling the part takes, so that a program which fills and drains it again and again
//! keeps its memory and pays for growth once.

/// Operations between two samples of one part: see [`crate::matching`].
pub(crate) const SAMPLE_OPERATIONS: u32 = 160;
/// A window's length in operations, for each unit of capacity. Filling and draining takes at most three.
const WINDOW_OPERATIONS: u32 = 8;
/// The shortest window in samples.
const WINDOW_SAMPLES_MIN: u32 = if cfg!(test) { 2 } else { 1024 };

/// What one turn of upkeep of a part did.
pub(crate) struct Upkeep {
    /// Buckets and cells looked at.
    pub steps: u32,
    /// Whether the part has more to give back.
    pub unfinished: bool,
}

impl Upkeep {
    pub const NOTHING: Upkeep = Upkeep {
        steps: 0,
        unfinished: false,
    };
}

pub(crate) struct LowWater {
    peak: u32,
    samples: u32,
}

impl LowWater {
    pub const fn new() -> LowWater {
        LowWater {
            peak: 0,
            samples: 0,
        }
    }

    /// Takes a sample. At the end of a window: the highest population that the window saw.
    pub fn sample(&mut self, population: u32, capacity: u32) -> Option<u32> {
        self.peak = self.peak.max(population);
        self.samples += 1;
        let window = (capacity / (SAMPLE_OPERATIONS / WINDOW_OPERATIONS)).max(WINDOW_SAMPLES_MIN);
        if self.samples < window {
            return None;
        }
        let peak = self.peak;
        *self = LowWater::new();
        Some(peak)
    }
}

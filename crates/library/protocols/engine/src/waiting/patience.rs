//! How long one that waits for a message waits before it asks, and between two times that it asks (`enquiring.rs`).

use std::time::{Duration, Instant};

/// Until the first enquiry.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest time between two.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// When a thread that waits asks next.
pub struct Patience {
    over: Option<Instant>,
    pause: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            over: None,
            pause: FIRST_PAUSE,
        }
    }
}

impl Patience {
    /// Whether the thread is to ask now. The time is counted from the first call.
    pub fn is_over(&mut self) -> bool {
        let now = Instant::now();
        if now < *self.over.get_or_insert(now + self.pause) {
            return false;
        }
        self.pause = LONGEST_PAUSE.min(2 * self.pause);
        self.over = Some(now + self.pause);
        true
    }

    /// How long the thread may sleep before it looks again.
    pub(crate) fn pause(&self) -> Duration {
        self.pause
    }
}

//! Whether others want the core on which a thread waits.
//!
//! A job knows how many of its ranks share a host's cores. It does not know who else does: other jobs, or containers each of which
//! takes the machine for its own. A thread finds out when it yields its core: if it gets the core back late, somebody ran in
//! between. Once may be the kernel, or a hypervisor; where it happens again soon, the process sleeps for a while instead of spinning:
//! what it waits for may be what the other thread is to send, and a doorbell wakes it within microseconds where the scheduler may
//! let the other run for milliseconds. The library's own background thread is nobody else.

use std::sync::atomic::{AtomicU64, Ordering};

/// A yield that takes so long let somebody else run; one that does not is over in a microsecond.
const LATE_NS: u64 = 50_000;
/// So soon after a late yield another one is believed.
const AGAIN_NS: u64 = 250_000_000;
/// For how long.
const BELIEVED_NS: u64 = 100_000_000;

/// What a process knows of its cores. Times are nanoseconds of one clock.
#[derive(Default)]
pub(crate) struct Crowd {
    /// When a yield was late last, and until when the cores count as wanted by others; 0 for never.
    /// Written by any thread that yields, read by any that waits; a value that is a little old does no harm.
    late_ns: AtomicU64,
    until_ns: AtomicU64,
    /// Whether threads look at the clock when they yield.
    pub is_watched: bool,
}

impl Crowd {
    /// A thread has given up its core, to nobody of this process, and has it back. Whether somebody else had it
    /// meanwhile.
    pub fn yielded(&self, before_ns: u64, now_ns: u64) -> bool {
        let is_late = now_ns.saturating_sub(before_ns) >= LATE_NS;
        if is_late {
            self.note(now_ns);
        }
        is_late
    }

    /// A yield was late.
    fn note(&self, now_ns: u64) {
        let last_ns = self.late_ns.swap(now_ns, Ordering::Relaxed);
        if last_ns != 0 && now_ns.saturating_sub(last_ns) < AGAIN_NS {
            self.until_ns.store(now_ns + BELIEVED_NS, Ordering::Relaxed);
        }
    }

    /// Whether others wanted the cores a moment ago. The clock is read if they ever did.
    #[inline]
    pub fn is_there(&self, now_ns: impl FnOnce() -> u64) -> bool {
        let until_ns = self.until_ns.load(Ordering::Relaxed);
        until_ns != 0 && now_ns() < until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: u64 = 1_000_000_000;

    fn late(crowd: &Crowd, now_ns: u64) {
        assert!(!crowd.yielded(now_ns + 1 - LATE_NS, now_ns));
        assert!(crowd.yielded(now_ns - LATE_NS, now_ns));
    }

    #[test]
    fn a_late_yield_that_is_not_the_first_is_believed_for_a_while() {
        let crowd = Crowd::default();
        late(&crowd, BEGIN);
        assert!(!crowd.is_there(|| BEGIN));
        late(&crowd, BEGIN + 1);
        assert!(crowd.is_there(|| BEGIN + BELIEVED_NS));
        assert!(!crowd.is_there(|| BEGIN + BELIEVED_NS + 1));
        late(&crowd, BEGIN + BELIEVED_NS + 2);
        assert!(crowd.is_there(|| BEGIN + BELIEVED_NS + 2));
    }

    #[test]
    fn late_yields_that_are_far_apart_are_not_believed() {
        let crowd = Crowd::default();
        for now_ns in (1..5).map(|round| BEGIN + round * AGAIN_NS) {
            late(&crowd, now_ns);
            assert!(!crowd.is_there(|| now_ns));
        }
    }
}

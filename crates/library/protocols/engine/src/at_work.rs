//! The state behind `stay.rs`: how many stays a process leaves out, and what a thread has told others of its wait.

use std::sync::atomic::{AtomicU32, Ordering};

use weft_transport::Fabric;

/// Stays that are left out after one in vain.
const LEFT_OUT: u32 = 8;

/// Leaves some stays out after one in vain.
#[derive(Default)]
pub(crate) struct Stays {
    /// How many are left out from here on. Any thread that waits writes it; a count that is lost does no harm.
    left_out: AtomicU32,
}

impl Stays {
    /// Whether this one is left out.
    pub fn pass_over(&self) -> bool {
        let left_out = self.left_out.load(Ordering::Relaxed);
        if left_out > 0 {
            self.left_out.store(left_out - 1, Ordering::Relaxed);
        }
        left_out > 0
    }

    pub fn was_in_vain(&self) {
        self.left_out.store(LEFT_OUT, Ordering::Relaxed);
    }
}

/// One wait of a thread. It may tell the host's other processes that this one waits; its drop tells them that the wait is over.
pub(crate) struct Told<'a, F: Fabric> {
    fabric: &'a F,
    waits: bool,
}

impl<F: Fabric> Told<'_, F> {
    #[inline]
    pub fn nothing(fabric: &F) -> Told<'_, F> {
        Told {
            fabric,
            waits: false,
        }
    }

    pub fn that_it_waits(&mut self) {
        if !self.waits {
            self.waits = true;
            self.fabric.set_waiting(true);
        }
    }
}

impl<F: Fabric> Drop for Told<'_, F> {
    #[inline]
    fn drop(&mut self) {
        if self.waits {
            self.fabric.set_waiting(false);
        }
    }
}

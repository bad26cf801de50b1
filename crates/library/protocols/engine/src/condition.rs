//! The condition of a wait, as `wait.rs` and `enquiring.rs` ask for it.

use std::sync::Arc;
use std::time::Duration;

use crate::waiter::Waiter;

/// What a thread waits for.
pub(crate) trait Condition {
    fn met(&mut self) -> bool;
    /// Leaves the parker where it will be found (`wait.rs`, rule 1).
    fn leave_parker(&mut self, parker: &Arc<Waiter>);
    /// Leaves what it is where a report finds it.
    fn leave_note(&mut self) {}
    /// After which it leaves its parker once more, told or not.
    fn longest_sleep(&self) -> Option<Duration> {
        None
    }
}

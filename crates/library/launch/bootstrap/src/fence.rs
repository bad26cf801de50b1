//! Waiting in a fence.

use std::time::Duration;

/// What a fence leaves between two turns of the one who waits in it: as long as an idle process sleeps.
pub const TURN: Duration = Duration::from_millis(250);

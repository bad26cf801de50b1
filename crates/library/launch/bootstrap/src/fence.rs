//! Waiting in a fence.

use std::time::Duration;

/// How long a process waits in a fence before it takes another turn: as long as an idle process sleeps.
pub const TURN: Duration = Duration::from_millis(250);

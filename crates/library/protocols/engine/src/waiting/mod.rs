//! How threads wait: `docs/design/waiting.md`.
//!
//! Policies, pure: what they see, turns and time among it, goes in, and what to do comes out. They read no clock and
//! call no kernel; `wait.rs` and `make_way.rs` do.

mod all_lanes;
mod crowd;
mod in_vain;
mod pace;
mod patience;
mod polling;
mod staying;
mod wake_cost;

pub(crate) use all_lanes::{ALL_LANES_EVERY, AllLanes};
pub(crate) use crowd::Crowd;
pub(crate) use in_vain::InVain;
pub use pace::Pace;
pub(crate) use pace::PaceCell;
pub use patience::{LOOK_EVERY, Patience};
pub(crate) use polling::{AfterPoll, Others, Polls};
pub use staying::awake_ns;
pub(crate) use staying::{BeforeTurn, Staying};
#[cfg(test)]
pub(crate) use wake_cost::smoothed;
pub(crate) use wake_cost::{WakeCost, wake_of};

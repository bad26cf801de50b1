//! How threads wait: `docs/design/waiting.md`.
//!
//! Policies, which see turns and time and say what to do; `wait.rs` does it.

mod all_lanes;
mod crowd;
mod pace;
mod patience;
mod polling;
mod staying;
mod wake_cost;

pub(crate) use all_lanes::{ALL_LANES_EVERY, AllLanes};
pub(crate) use crowd::Crowd;
pub use pace::Pace;
pub(crate) use pace::PaceCell;
pub use patience::Patience;
pub(crate) use staying::{Staying, Step};
#[cfg(test)]
pub(crate) use wake_cost::smoothed;
pub(crate) use wake_cost::{WakeCost, wake_of};

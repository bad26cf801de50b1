//! How threads wait: `docs/design/waiting.md`.

mod all_lanes;

pub(crate) use all_lanes::{ALL_LANES_EVERY, AllLanes};

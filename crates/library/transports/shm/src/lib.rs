//! The transport over shared memory.
//!
//! Each process owns one memfd, its *segment*. Peers open it through `/proc/PID/fd/N`, told by the process's
//! [card](Shm::card); nothing has a name that could be left behind. The segment begins with the *base*: a doorbell,
//! and for each lane who rang and where each peer's ring to this process lies. A sender that first writes to
//! a peer carves a ring out of its *own* segment, enters it in the peer's base and rings; so a peer never
//! talked to costs a word in a table, and memory is charged to who sends.
//!
//! Packets go through rings of cells (`weft_sync::cells`). Large messages go through larger rings of bytes, or
//! are copied from process to process by both sides at once where the kernel allows it: see `bulk`.
//!
//! Waking: a receiver looks at the few rings that were active lately (*hot*) each turn; senders on all others
//! ring the doorbell. Before it sleeps, all rings are made so. See `base` for the order of the words.

mod arrivals;
mod available;
mod base;
mod blocks;
mod bulk;
mod card;
mod cma;
mod connecting;
mod endings;
mod endpoint;
mod fabric;
mod layout;
mod links;
mod peers;
mod process;
mod quarantine;
mod reach;
mod segment;
mod shared;

#[cfg(test)]
mod world;

pub use bulk::{COPIES_FROM_BYTES, RING_BYTES};
pub use cma::Stretch;
pub use endpoint::ShmEndpoint;
pub use fabric::Shm;
pub use layout::EAGER_BYTES;
pub use links::Counters;
pub use reach::{Exposed, Process};
pub use segment::Mapping;
pub use shared::{Errands, Options};

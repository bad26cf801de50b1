//! The transport over shared memory.
//!
//! Each process owns one memfd, its *segment*. Peers open it through `/proc/PID/fd/N`, told by the process's
//! [card](Shm::card); nothing has a name that could be left behind. Which of a host's processes can do so `sharing` finds out, when
//! a job starts. The segment begins with the *base*: a doorbell,
//! and for each lane the peers that have notified it and where each peer's ring to this process lies. A sender that first
//! writes to a peer carves a ring out of its *own* segment, enters it in the peer's base and notifies the peer; so a peer
//! never talked to costs a word in a table, and memory is charged to the sender.
//!
//! Packets go through rings of cells (`weft_sync::cells`). Large messages go through larger rings of bytes, or
//! are copied by their receivers (CMA) where the kernel allows it: see `bulk`.
//!
//! # Waiting and sleeping
//! A receiver looks at the few rings that were active lately (*hot*) each turn; senders on all others (*cold*) notify it: they
//! set a bit that the receiver sees with one load a turn (`weft_sync::doorbell`). Before a process sleeps
//! (`Endpoint::arm`) it says in every place that it looks at each turn that it looks there no more: in hot rings
//! (`Consumer::unwatch`), in full rings that it wants to send on (`Producer::wait_for_room`), in the words of bulk transfers
//! (`set_waits`). The next that writes there notifies it, and the doorbell ends the sleep. Each of these places is Dekker's
//! protocol: say so, then look once more; write, then look whether it was said. A sleep ends by itself after a quarter of a
//! second, when peers that have died and memory that is not used are looked for.
//!
//! A process sleeps on its doorbell's count (futex(2)), or, in a job on several hosts, in poll(2) on the descriptors of networks
//! and on a pipe of its own ([`Shm::use_descriptor`]). Its card names the pipe, and its peers open it with its segment: a peer
//! that could not wake it is never linked with it.
//!
//! # Losing a peer
//! A peer that has died, that breaks a rule, or that the engine ends is lost for the whole process (`endings`): the lane that
//! finds it notifies the others. Each lane drops its link, the peer's ring and all bulk transfers with it, tells the engine, and
//! enters in the peer's base that it has given the peer up, by which the peer loses this process too. What the peer may use
//! until then waits in `quarantine`.

mod arrivals;
mod available;
mod base;
mod blocks;
mod bulk;
mod card;
mod cma;
mod connecting;
mod counters;
mod endings;
mod endpoint;
mod fabric;
mod file_limit;
mod host;
mod layout;
mod links;
mod one_sided;
pub mod pair;
mod peers;
mod pipe;
mod process;
mod quarantine;
mod segment;
mod shared;
mod sharing;
mod table;
mod view;

#[cfg(test)]
mod world;

pub use base::SERVICES;
pub use bulk::RING_BYTES;
pub use cma::Stretch;
pub use counters::Counters;
pub use endpoint::ShmEndpoint;
pub use fabric::Shm;
pub use layout::EAGER_BYTES;
pub use one_sided::{Exposed, Process};
pub use segment::Mapping;
pub use shared::{Options, Served, Service};

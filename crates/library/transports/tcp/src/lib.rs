//! The transport over TCP.
//!
//! Each process listens on one port of all its addresses, told by its [card](Tcp::card). A lane that first sends to a peer has a
//! connection of its own made to it, and one more for long messages once there are some; a peer never talked to costs
//! nothing. `setup` makes connections, driven by whoever polls, and proves to both sides who they are (`handshake`); then frames go
//! to and fro (`frame`).
//!
//! # Sending
//! A packet leaves at once, straight from where it lies, if nothing is queued before it. What is sent in the engine's turn of
//! progress is gathered and leaves in one system call at its end ([`flush`](weft_transport::Endpoint::flush)). Of eager packets that
//! are sent to one peer outside of turns, in a burst, the first leave at once. The others are refused as
//! [`Busy`](weft_transport::Refused::Busy), so that the engine puts them together until its next turn, where turns are known to
//! follow bursts at once (`transport::bursts`). Anything else leaves at once always, since nobody may wait for it here.
//!
//! # Long messages
//! The first part of a bulk transfer is sent unasked, the rest when its receiver has taken it up (CTS). What comes unasked has a bound
//! for each peer and lane. A short transfer goes right behind its RTS on the lane's own connection, a long one on the other. Data
//! that are taken up are read straight into the user's memory; others wait in the kernel, or in memory of this process
//! where something else stands behind them (`sending`, `receiving`).
//!
//! Memory that lies in long runs is told to the kernel run by run; short ones are packed (`user_memory`).
//!
//! Where both hosts have several interfaces in common (`addresses`), what is left of a transfer that was taken up goes by all of them in
//! stripes (`stripes`), each by a connection of its own (`links/seeking`). Such a connection may end at any time: what it had is sent by
//! others.
//!
//! # Waiting and sleeping
//! A lane reads its few *hot* connections each turn; the others stand in a descriptor of the lane (epoll), which stands with the
//! listener and what is being connected in one of the process. Both tell what is ready, not what has become so, and a lane that
//! lets its process sleep has read all that it was told. So a sleeper waits for one descriptor, and no event can be lost.
//!
//! # Losing a peer
//! A host that is silent for too long is found out by whoever makes progress (`silence`), and its connection then fails. A connection that
//! ends, or fails, without a goodbye has its peer lost for all lanes (`transport::endings`). A goodbye does not: a process may
//! leave before others do, and is lost only to whoever wants something of it. So a peer of which something is awaited needs a
//! connection, one for all lanes; where many might send what is awaited, a bounded number of them have one (`transport::watching`).

mod accepting;
mod addresses;
mod card;
mod channel;
mod channels;
mod counters;
mod dialing;
mod endpoint;
mod fabric;
mod frame;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
mod handshake;
mod identity;
mod interfaces;
mod link;
mod links;
mod listener;
mod options;
mod outgoing;
mod paths;
mod receiving;
mod sending;
mod setup;
mod shared;
mod silence;
mod slab;
mod stripes;
mod system;
mod taken;
mod token;
mod user_memory;
#[cfg(test)]
mod world;

pub use addresses::{Judged, Verdict, interfaces, judged};
pub use counters::{Counters, Traffic};
pub use endpoint::TcpEndpoint;
pub use fabric::Tcp;
pub use interfaces::{is_on_common_network, prefix_of};
pub use options::Options;
pub use system::explained;

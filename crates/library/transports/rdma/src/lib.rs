//! The transport over RDMA adapters: InfiniBand and RoCE by libibverbs, or the device in software.
//!
//! Each process has a port for datagrams, told by its [card](Rdma::card). A lane that first sends to a peer has a queue pair (RC) made
//! for the two; a peer never talked to costs nothing. `setup` makes links, outside of the lanes' sections, by datagrams that prove
//! who has written them (`handshake`); then frames go to and fro (`frame`).
//!
//! # What a lane has
//! Its queue pairs, its completion queue and its page of the adapter's registers (UAR) come from an endpoint *category* (Zambre 2018),
//! the fastest that fits or the one that the user names; a lane stands for what the paper calls a thread. It has one shared receive queue for
//! all its peers, of buffers of one length. All of it is made with the lane's first link (`parts`).
//!
//! # Sending
//! A packet is written into a registered piece (`buffers`) and posted, inline where it is short. What is sent in the engine's turn
//! of progress is gathered and posted as one list for each peer. A completion is asked for with every sixteenth request, with long ones, and
//! while pieces are few (`link`). No eager message takes a system call.
//!
//! # Receivers that are not ready
//! A buffer is posted again in the turn in which its frame came, once the engine has what is in it, so the queue is as long as the
//! process is slow to look. Where it is empty the adapter tries again for as long as it takes: a receiver that computes is no error. What it
//! cannot take stays with its senders, which have a bounded number of requests under way, after which the engine keeps messages
//! ([`Busy`](weft_transport::Refused::Busy)); what the engine has unmatched it bounds itself, by throttling. Credits for each peer
//! would need buffers for each, which a shared queue is there to save.
//!
//! # Long messages
//! The sender registers the memory, the receiver reads it (RDMA read) straight to where it is to be, and says so. Registrations last for
//! one transfer: kept ones would outlive memory that the program frees. Data that do not lie together, or that the adapter does not
//! register, travel in frames (`bulk`).
//!
//! # Waiting and sleeping
//! Lanes poll their completion queues. Before a sleep they ask for events; these, datagrams and the process's own bell stand in one
//! descriptor (epoll), for which the process's sleeper waits beside others.
//!
//! # Losing a peer
//! A queue pair that ends with an error has its peer lost for all lanes (`transport::endings`). An adapter tells that a peer is gone only
//! to one that sends, so a lane asks, once a second and by writing nothing, the peers of which something is awaited. A goodbye loses a
//! peer only to whoever wants something of it (`transport::watching`). The queue pair is destroyed before anything is told, so that
//! the adapter touches no memory of the peer's transfers.

mod adapter;
mod buffers;
mod bulk;
mod card;
mod counters;
mod datagrams;
mod endpoint;
mod fabric;
mod frame;
mod handshake;
mod identity;
mod link;
mod links;
mod options;
mod parts;
mod place;
mod setup;
mod shared;
mod user_memory;
#[cfg(test)]
mod world;

pub use adapter::Unusable;
pub use counters::Counters;
pub use endpoint::RdmaEndpoint;
pub use fabric::Rdma;
pub use options::Options;
pub use place::Common;

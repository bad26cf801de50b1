//! Connections over XRC: who has which queue pair, and how processes agree on it (the paper's §3, Figure 4).
//!
//! A process has one *send queue pair* to each host that it sends to, and there is one *receive queue pair* at its other end, which all
//! processes of that host use: a request names the shared receive queue that it is for. The receive queue pair is the adapter's, which
//! counts how many processes refer to it (in libibverbs `ibv_open_qp` of a queue pair of an XRC domain) and ends it with the last one; so the
//! process that made it may leave.
//!
//! [`Connections`] is one process's part, as sender and as receiver. It talks to others by datagrams, which may be lost, come twice, late or
//! in another order, and are checked here; that they come from whom they say is for the transport to see to.
//!
//! ```text
//! first message to a host                             first message to another process there
//!   sender: create_send                                 sender ── Open(send, receive) ─▶ receiver: open_receive
//!   sender ── Make(send) ─▶ receiver: create_receive    sender ◀─ Opened(queues) ──────── receiver
//!   sender ◀─ Made(receive, queues) ─ receiver
//!   sender: connect_send                              no more messages to a process
//!                                                       sender ── Close ─▶ receiver: close_receive
//!                                                       sender ◀─ Closed ─ receiver
//! ```
//!
//! # Rules
//! 1. Of each pair of processes, the sender has at most one request under way. A new one has a higher serial than all before. The receiver
//!    executes a request whose serial is higher than any it has seen of this sender, answers one of the same serial as it did before, and
//!    ignores those below. So a request is executed at most once, and none after a later one.
//! 2. While a host has no receive queue pair for this sender, one process there, the *maker*, is asked to make it; the other peers there
//!    wait. If the maker refuses or is silent, the next one is asked.
//! 3. A receiver holds at most one reference for each sender. A request that needs another one drops the first.
//! 4. A receive queue pair that cannot be opened has ended with its last reference, and nobody receives through the send queue pair any more.
//!    That one is destroyed, peers that were connected through it are *down*, and the one that answered makes the next.
//! 5. A sender that gives up a peer asks it to close all the same: it may only be slow.
//!
//! A sender asks nothing in order to receive, so it does not matter that both sides of a pair may ask at once: these are two connections.

mod adapter;
mod connections;
mod event;
mod incoming;
mod message;
mod outgoing;
mod requests;

#[cfg(test)]
mod tests;

pub use adapter::{Adapter, Host, NoResources, OpenError, Process, SendQueuePair, SharedQueue};
pub use connections::Connections;
pub use event::{Event, Failure};
pub use message::{Answer, Body, Malformed, Message, Reason, Request};
pub use requests::Timing;

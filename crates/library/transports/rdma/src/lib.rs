//! The transport over RDMA adapters: InfiniBand and RoCE by libibverbs, or the device in software.
//!
//! Each process has a port for datagrams, told by its [card](Rdma::card). A lane that first sends to a peer has a queue pair (RC) made
//! for the two; a peer never talked to costs nothing. `setup` makes links, outside of the lanes' sections, by datagrams that prove
//! who has written them (`handshake`); then frames go to and fro (`frame`).
//!
//! # What a lane has
//! Its queue pairs, its completion queue and its page of the adapter's registers (UAR) come from an endpoint *category* (Zambre 2018),
//! the fastest that fits or the one that the user names; a lane stands for what the paper calls a thread. It receives into *pools* of
//! buffers by size (`weft_pools`), each with a shared receive queue, made when the first peer needs it (`parts`, `receive_queue`).
//!
//! # Ways to a peer
//! A peer's card says what pools it has, and what both adapters have in common which of them it is reached by. To pools of type S lead
//! queue pairs (RC) of the two processes' own, one for each pool: the B-SRQ of Shipman 2008. To pools of type X leads one queue pair (XRC)
//! of the lane's to the peer's *host*: each request names the shared receive queue. `weft_pools::xrc` says how such queue pairs are agreed
//! on, `xrc` does that with the adapter, `domain` is what the processes of a host share. A link over XRC leads one way: who has only been
//! sent to asks for the way back when it has something to say, to read, or to await. To pools of type P lead queue pairs (RC) with buffers
//! of their own (`per_peer`), for which the peer has credits: these come back with frames, or alone once many are owed.
//!
//! # Rails
//! A process uses one port or several (`selection`); each is a *rail*, with a queue pair for datagrams, a `Setup` and, for each lane that needs
//! it, parts of its own (`rail`, `parts`). Two processes find alike which of their ports go together, and number these pairs. A link has
//! a *path* by each (`path`), made by the same handshake. One of them carries its frames and accesses, which one depends on the lane; all carry
//! stripes of long messages. Frames are numbered over all paths. When a path fails, what was under way by it goes again by another
//! (`links::paths`).
//!
//! # Sending
//! A packet is written into a registered piece (`buffers`), for the smallest of the peer's buffers that holds it, and posted, inline where it
//! is short (`link`, `send_queue`). What is sent in the engine's turn of progress is gathered and posted as one list for each queue pair; short packets of it to
//! one peer go in one frame, all but the first (`link::gathered`). A completion is asked for with every sixteenth request, with long ones, and while pieces or places are few. No eager message takes a
//! system call. Frames are numbered, for queue pairs keep no order among each other (`order`).
//!
//! # Receivers that are not ready
//! A pool is filled up again once it is low, in the turn in which the frames came, when the engine has what is in them; so the queue is as
//! long as the process is slow to look. Where it is empty the adapter tries again for as long as it takes: a receiver that computes is no
//! error. What it cannot take stays with its senders, each of which has a bounded number of requests under way to a pool and on a queue
//! pair, after which the engine keeps messages ([`Busy`](weft_transport::Refused::Busy)); what the engine has unmatched it bounds
//! itself, by throttling. To a pool of type P nothing is sent without a buffer, so that the adapter does not even try again.
//!
//! # Long messages
//! The sender registers the memory, the receiver reads it (RDMA read) straight to where it is to be, and says so. Registrations last for
//! one transfer: kept ones would outlive memory that the program frees. Data that do not lie together, or that the adapter does not
//! register, travel in frames (`bulk`).
//!
//! # Windows
//! What a process exposes is registered in the domain of the lane that it is exposed for, so that the queue pairs which end there reach it.
//! An access is a write or a read of the adapter's by the queue pair of long messages (`access`); the completion of a write says that
//! the data are in the peer's memory, so that nothing is asked of the peer. A completion is asked for with the last access of a list.
//!
//! # Waiting and sleeping
//! Lanes poll their completion queues. Before a sleep they ask for events; these, datagrams and the process's own bell stand in one
//! descriptor (epoll), for which the process's sleeper waits beside others.
//!
//! # Losing a peer
//! A queue pair to a peer that ends with an error has the peer lost for all lanes (`transport::endings`). An adapter tells that a peer is gone
//! only to one that sends, so a lane asks, once a second and by writing nothing, the peers of which something is awaited. A goodbye
//! loses a peer only to whoever wants something of it (`transport::watching`). The queue pair is destroyed before anything is told, so that
//! the adapter touches no memory of the peer's transfers.
//!
//! Who asks for a link has no queue pair to learn a death from: the kernel of the peer's host knows (`presence`).
//!
//! A queue pair to a host ends with the first request that fails, and the peer whose request it was is lost. Requests before it are done,
//! those after it are not: they go again by the next queue pair (`Links::drop_queue`), and a frame that the receiver has had is known by its
//! number. Where nobody answers at all, no process there refers to the other end any more, and all that were reached by it are lost.

mod access;
mod adapter;
mod address;
mod buffers;
mod bulk;
mod card;
mod counters;
mod datagrams;
mod domain;
mod endpoint;
mod fabric;
mod frame;
mod handshake;
mod hosts;
mod identity;
mod keys;
mod left;
mod link;
mod links;
mod options;
mod order;
mod parts;
mod path;
mod per_peer;
mod place;
mod pool_pair;
mod presence;
mod rail;
mod receive_queue;
mod routes;
mod selection;
mod send_queue;
mod setup;
mod shared;
mod user_memory;
mod way;
#[cfg(test)]
mod world;
mod xrc;

pub use adapter::{Unusable, survey};
pub use counters::{Counters, Traffic};
pub use endpoint::RdmaEndpoint;
pub use fabric::Rdma;
pub use options::Options;
pub use place::Common;
pub use selection::{Found, Selection, Use};

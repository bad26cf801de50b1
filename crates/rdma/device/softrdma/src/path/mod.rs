//! The data path: what happens between a work request and its completions.
//!
//! ```text
//!   post_send ─▶ request ─▶ post ─┬─▶ joint                                        same host, several of a list at once
//!                                 ├─▶ send_queue::step ─┬─▶ execute ──▶ receiver     same host, by the poster
//!                                 │                     ├─▶ datagram ─▶ receiver
//!                                 │                     ├─▶ window                   own adapter
//!                                 │                     └─▶ between_hosts ─▶ roce    other hosts
//!                                 └─▶ backlog ─▶ agent ─▶ work ─▶ send_queue::step   long, waiting, retried
//!                                                                  └─▶ request ─▶ the target's agent ─▶ execute, datagram
//! ```

pub mod adapter;
mod agent;
#[cfg(not(fuzzing))]
pub mod agent_message;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod agent_message;
mod agent_queue;
mod backlog;
pub mod between_hosts;
pub mod clock;
pub mod combined;
mod completion;
pub mod completion_queue;
mod datagram;
mod delivery;
pub mod event;
mod execute;
mod failure;
mod leaving;
mod links;
pub mod memory;
pub mod multicast;
mod null;
pub mod pieces;
mod port;
pub mod post;
pub mod process;
mod proxied_step;
pub mod queue_pair;
mod receiver;
mod remote_connection;
pub mod request;
mod retry;
mod route;
mod send_queue;
pub mod state;
mod table;
pub mod tables;
mod turns;
mod window;
mod work;

//! The data path: what happens between a work request and its completions.
//!
//! ```text
//!   post_send ─▶ request ─▶ post ─┬─▶ joint                                        same host, several of a list at once
//!                                 ├─▶ send_queue::step ─┬─▶ execute ──▶ receiver     same host, by the poster
//!                                 │                     ├─▶ datagram ─▶ receiver
//!                                 │                     ├─▶ window                   own adapter
//!                                 │                     └─▶ between_hosts ─▶ roce    other hosts
//!                                 └─▶ backlog ─▶ agent ─▶ work ─▶ send_queue::step   long, waiting, retried
//!                                                                  └─▶ errand ─▶ the target's agent ─▶ execute, datagram
//! ```

pub mod adapter;
mod agent;
mod agent_queue;
mod backlog;
pub mod between_hosts;
pub mod clock;
mod completion;
pub mod completion_queue;
mod datagram;
mod delivery;
mod errand;
pub mod event;
mod execute;
mod failure;
pub mod joint;
mod letter;
mod line;
pub mod memory;
pub mod multicast;
mod null;
pub mod pieces;
mod port;
pub mod post;
pub mod process;
pub mod queue_pair;
mod receiver;
pub mod request;
mod retry;
mod route;
mod send_queue;
pub mod state;
mod table;
pub mod tables;
mod window;
mod work;

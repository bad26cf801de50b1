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

pub mod agent;
pub mod backlog;
pub mod between_hosts;
pub mod clock;
mod datagram;
mod errand;
mod execute;
mod joint;
pub mod letter;
mod null;
pub mod pieces;
pub mod post;
pub mod process;
pub mod receiver;
pub mod request;
pub mod route;
mod send_queue;
mod table;
mod window;
mod work;

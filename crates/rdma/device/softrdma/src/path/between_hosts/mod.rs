//! Queue pairs whose peer is on another host: [`weft_roce`] speaks, here is what it asks of a queue pair.
//!
//! # Protocol
//! A queue pair's [`Line`] is its half of the protocol, behind a lock of its own that posters and the agent take for a request or
//! a packet at a time. Posters send what the window lets through; the agent receives, and keeps the times. Locks are taken in
//! the order: line or target, receive queue, completion queue. XRC targets have no line (`targets`).

pub mod connection;
pub mod datagrams;
mod exposed;
pub mod lifecycle;
pub mod ports;
mod queue_pair_host;
mod targets;

//! The adapter's hardware resources as mlx5 hands them out: UAR pages, uUARs, thread domains; the locks that guard them; and
//! the account of it all.
//!
//! Zambre 2018 §II, III and appendices A and B; `docs/uar-accounting.md` has the rules with worked examples.
//!
//! How it is used:
//! - opening a device reads [`Settings`] and makes a [`Context`]; thread domains, queue pairs, completion queues and shared
//!   receive queues are made from it and give back what they have when they are dropped; protection domains and memory
//!   regions are counted by [`Context::count`];
//! - posting goes through [`QueuePair::enter_send`] and ends with [`Sending::ring`]; posting receives through
//!   [`QueuePair::enter_receive`] or [`SharedReceiveQueue::enter`]; polling through [`CompletionQueue::enter`];
//! - figures are written where they arise, each by one thread at a time, into records that other processes can read
//!   ([`Ledger`]), and added up where they are read ([`stat`]).

pub mod adapter;
pub mod capi;
mod context;
mod dynamic_uuars;
mod error;
mod figures;
mod ledger;
mod lock;
mod object;
mod pages;
mod pool;
mod record;
mod register;
mod segment;
mod settings;
mod share;
pub mod stat;
mod static_uuars;
mod thread_domains;

#[cfg(test)]
mod tests;

pub use adapter::{Payload, WorkRequest};
pub use context::Context;
pub use error::Error;
pub use figures::{ContextFigures, Figures, LockFigures};
pub use ledger::{ChunkSource, Ledger};
pub use lock::{Discipline, Held};
pub use object::{CompletionQueue, Counted, Object, QueuePair, Rung, Sending, SharedReceiveQueue};
pub use pool::PagePool;
pub use record::Chunk;
pub use segment::{DevicePages, SegmentChunks};
pub use settings::{Policy, Settings, Sharing};
pub use share::ThreadDomain;

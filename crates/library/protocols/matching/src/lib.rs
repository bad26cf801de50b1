//! Constant-time MPI matching (MPI-5.0 §3.5; Denis 2019 §IV).
//!
//! [`Matching`] pairs arriving messages with posted receives. It knows no request, no transport and no thread: the
//! caller gives it a payload with each posted receive and with each unexpected message, and drives it under a lock of
//! its own.
//!
//! # Structure
//! Four tables of first-in first-out groups, by (context, source, tag), (context, tag), (context, source) and context.
//! - A posted receive stands in the one table that its pattern names. It carries a sequence number; an arrival looks at
//!   the head of at most four groups and takes the oldest.
//! - An unexpected message stands in all four tables by one shared cell; a posted receive looks at one group.
//!
//! As long as few receives are posted, they stand in no table but in one small array in order of posting (`few`).
//! New cells of either side gather before they are linked into their tables together (`pending`).
//!
//! # Bounds
//! Every operation does a bounded number of steps, whatever is outstanding: tables grow and shrink by single buckets
//! (`buckets`), cells are allocated by chunks (`arena`), and an empty group is nothing at all, so that a program which
//! uses a fresh tag for each message does not grow. Memory is given back to the allocator after a long period of little use
//! (`low_water`), a few steps at a time.
#![forbid(unsafe_code)]

mod arena;
mod buckets;
mod cell;
mod envelope;
mod few;
mod key;
mod low_water;
mod matching;
mod pending;
mod posted;
mod steps;
mod table;
mod unexpected;

pub use envelope::{Envelope, Pattern};
pub use matching::{Matching, Post, Prepared};
pub use posted::PostedId;
pub use steps::Steps;
pub use unexpected::POSTED_TOGETHER;
pub use unexpected::UnexpectedId;

/// No cell: the end of a chain, an empty bucket.
const NIL: u32 = u32::MAX;

/// A mark in [`cell::Links::chain`]; see there.
const FOLLOWER: u32 = u32::MAX - 1;

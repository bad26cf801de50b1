//! The few concurrent structures that WeftMPI is built on: a try-lock section, a submission list, a ring of
//! cells, a doorbell, the words of bulk transfers, a board and locks over shared memory, a spin lock, counts, a recycler of slot
//! ids, what keeps the object of a table in use, a list of work that is ready, the withdrawal of what others use, events on
//! demand, and sleeping.
//!
//! Everything is built from the atomics in `primitive`, so that loom can model it
//! (`RUSTFLAGS="--cfg loom" cargo test --profile loom -p weft-sync --lib`). No standalone fences, which ThreadSanitizer does not
//! understand, but for one that no data hang on: before a look at who sleeps (`board`).

mod active_message;
pub mod arming;
pub mod board;
pub mod bulk;
pub mod cells;
mod count;
pub mod doorbell;
mod fetch;
pub mod futex;
mod handoff;
pub mod lines;
mod magazines;
mod owned_lock;
mod parker;
mod pins;
#[cfg_attr(loom, allow(dead_code, reason = "a model has its own pipe"))]
mod pipe;
mod primitive;
mod queued_lock;
mod ready;
mod robust_spin_lock;
mod section;
mod slumber;
mod spin_lock;
mod stamp;
mod submissions;
pub mod withdrawal;
mod yielding;

pub use active_message::{ActiveMessage, Ask};
pub use count::{Count, Room};
pub use fetch::fetch;
pub use handoff::{Answer, Handoff};
pub use magazines::Magazines;
pub use owned_lock::OwnedLock;
pub use parker::Parker;
pub use pins::{GENERATIONS, Pins};
pub use primitive::{Pipe, prefetch_to_write, yield_now};
pub use queued_lock::{Broken, LockKind, QueuedLock, QueuedLockSlot, QueuedLockWords};
pub use ready::{Ready, TaskState};
pub use robust_spin_lock::RobustSpinLock;
pub use section::{Guard, Section};
pub use slumber::Slumber;
pub use spin_lock::{SpinLock, pause};
pub use stamp::{Stamp, now_ns};
pub use submissions::{Batch, Links, NONE, Submissions};
#[cfg(not(loom))]
pub use yielding::sleep_in_place_of_yield;

/// The atomics of this crate's interfaces: std's, or loom's in a model.
pub mod atomic {
    pub use crate::primitive::{AtomicU32, AtomicU64, Ordering};
}

//! The memory of one-sided communication (MPI-5.0 chapter 12): how the processes of a window reach each other's part of
//! it, the atomic updates, and the locks. It knows no communicator, no epoch and no handle.
//!
//! Every process of a window has a *control* area in its segment, which the others map when they first need it, and
//! *memory*: a piece of its segment too, which the others map, or the user's own, which they reach through the kernel. Where
//! the kernel forbids that, the target copies in a turn of progress of its own ([`active_message`]); and it makes short
//! accesses, which that is faster for, while it waits in MPI ([`short_access`]).
//! All calls move their data before they return, so there is nothing to flush but the processor's own buffers.
//!
//! The bytes of a window are the program's, and which accesses may meet is for the program to
//! arrange (MPI-5.0 §12.7); the library reads and writes them through raw pointers only. The words of a control area
//! are touched as [`stripes`], [`attachments`] and the structures of `weft_sync` in [`control`] say. Whatever a peer can write is checked before use.

mod active_message;
mod ask;
mod attachments;
mod control;
mod direct;
pub mod far;
mod link;
mod member;
mod operation;
mod reach;
mod runs;
mod short_access;
mod stripes;
mod target;
mod update;
mod watched;
mod window;
mod word;

#[cfg(test)]
mod tests;

pub use attachments::{CAPACITY as ATTACHMENTS, Refused};
pub use direct::{Direct, Word};
pub use member::{Backing, Member};
pub use operation::Operation;
pub use target::{Fault, Target};
pub use weft_sync::LockKind;
pub use window::{Own, Patience, Processes, Ranks, Window};
pub use word::Update;

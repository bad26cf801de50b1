//! Files as several processes see them (MPI-5.0 chapter 14), without messages and without handles.
//!
//! A [`View`] says which bytes of a file a process sees, as a pattern: no run of it is ever listed. [`read`] and [`write`] move
//! a range of those bytes between the file and user memory. [`Domains`] and [`Cursor`] say which bytes of a collective access
//! go to which process and when: every process finds the same without asking another.
//!
//! Nothing outside the bytes that a call is to write is ever written: gaps between them may be somebody else's. Gaps are read
//! along where that saves system calls.

mod counters;
mod coverage;
mod descriptor;
mod domains;
mod independent;
mod lock;
mod mapped;
mod part;
mod runs;
mod view;
mod windows;
mod writer;

pub use counters::{Counters, count_access, count_aggregated, count_two_phase_access, counters};
pub use coverage::Coverage;
pub use descriptor::{Creation, Descriptor, Permission};
pub use domains::{Cursor, Domains};
pub use independent::{GAP_BYTES, read, write};
pub use lock::{Locked, Sharing};
pub use mapped::write_covered;
pub use view::{Run, View};

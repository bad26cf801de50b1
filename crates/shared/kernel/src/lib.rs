//! What the kernel offers that `std` does not: waiting for many descriptors, descriptors that wake those who wait, random bytes,
//! files without a name, what it knows of other processes; and keeping off the program's descriptors 0 to 2.
//!
//! Unsafe code calls the C library.

mod events;
pub mod process;
mod random;
mod standard;

pub use events::{Bell, Interest, Poller, Ticker, anonymous_file, is_ready};
pub use random::{random, random_words};
pub use standard::above_standard;

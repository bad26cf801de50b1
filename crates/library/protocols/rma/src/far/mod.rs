//! Accesses to parts of a window that are on another host: what their messages say, as plain data.
//!
//! An origin sends *commands*, several in a message, and the target makes each access in its own part by the calls that it would use
//! itself ([`Window::put`](crate::Window::put) and the like). No datatype travels: where the data lie at the target is told by an
//! [`Access`], a list of regular blocks, and long accesses are cut into [`Pieces`] that fit a message. A passive target is locked by a
//! command too, in the order of a [`LockQueue`]. Nothing here sends, receives or waits, and all that a peer can write is checked.

mod access;
mod block;
mod command;
mod lock_queue;
mod number;
mod owed;
mod pieces;
#[cfg(test)]
mod tests;

pub use access::Access;
pub use block::{Block, Unit};
pub use command::{Command, Commands, LONGEST_RESULT, Nonsense, Updating};
pub use lock_queue::{AlreadyAsked, Grant, LockQueue};
pub use owed::{MOST_UNDER_WAY, Owed, RESULT_BYTES};
pub use pieces::{Piece, Pieces, Room};

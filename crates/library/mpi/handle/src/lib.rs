//! Handles: what the program calls an object by.

mod names;
pub mod table;

pub use names::{CommId, FileId, GroupId, InfoId, SessionId, WindowId, kind};

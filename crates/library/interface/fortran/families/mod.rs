//! What libraries in place of others have in common, and the standard's has not.

mod blocks;
mod callbacks;
mod ignored;
mod names;
pub mod procedures;
mod removed;

pub(crate) use blocks::blocks;
pub(crate) use names::names;

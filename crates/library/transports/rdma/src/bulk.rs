//! Long messages: the receiver reads them from where they lie, straight to where they are to be. What is not registered, because
//! it does not lie together or the adapter does not take it, travels in frames of the link.

pub mod descriptor;
pub mod receiving;
pub mod sending;

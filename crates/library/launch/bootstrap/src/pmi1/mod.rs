//! PMI-1: one line of text per message over a socket that the launcher gives to each process.

mod client;
mod line;
mod message;

pub(crate) use client::Client;
#[cfg(test)]
mod tests;

pub use line::LineBuffer;
pub use message::{Malformed, Message};

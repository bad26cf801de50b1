//! One fabric made of two: a near one for the peers of this host, and a far one for all others.
//!
//! Which way leads to a peer the near one knows: what is
//! for a peer goes there first, and only where that says [`Elsewhere`](weft_transport::Refused::Elsewhere) the far way. So a message
//! within the host costs nothing more, and a job on one host has no far part at all: one branch a poll.
//!
//! Where the peers of other hosts have two networks, the far fabric is [`Either`] of them, and each peer has one.
//!
//! The far part is polled less and less often while it brings nothing (`patience`), and the process has one sleeper: the near
//! part sleeps on its own doorbell and on the far one's descriptors at once.

#![forbid(unsafe_code)]

mod away;
mod card;
mod either;
mod endpoint;
mod fabric;
mod patience;
#[cfg(test)]
mod tests;

pub use card::{Address, card, part};
pub use either::{Decide, Either, EitherEndpoint, Route};
pub use endpoint::RoutesEndpoint;
pub use fabric::Routes;

//! What a fabric has to be to be one part of a fabric made of several, each of which reaches some of the peers.
//!
//! The *near* part is the fast one: it is asked first, says by [`Refused::Elsewhere`](crate::Refused::Elsewhere) whom it does not reach,
//! and its doorbell is the one that the process sleeps on. The *far* part reaches everybody else; what it waits for is in
//! descriptors, on which the near one sleeps beside its doorbell.

use std::os::fd::RawFd;

use crate::{Endpoint, Fabric, Peer};

/// A fabric that reaches some peers only.
pub trait Near: Fabric<Endpoint: NearEndpoint> {
    /// Whether the way to `peer` is this one.
    fn reaches(&self, peer: Peer) -> bool;

    /// As [`Fabric::sleep`], also until one of `descriptors` is readable: true if one is.
    fn sleep_with(&self, ticket: u32, timeout_ms: Option<u32>, descriptors: &[RawFd]) -> bool;
}

/// One lane of a [`Near`] fabric.
pub trait NearEndpoint: Endpoint {
    /// As [`Near::reaches`].
    fn reaches(&self, peer: Peer) -> bool;
}

/// A fabric whose doorbell others can wait for.
pub trait Far: Fabric {
    /// Descriptors, the same ones always, of which one is readable (poll(2)) while [`Fabric::sleep`] with the ticket given last
    /// would return at once.
    fn descriptors(&self) -> Vec<RawFd>;
}

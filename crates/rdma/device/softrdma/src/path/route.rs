//! The way from a connected queue pair to its peer on the same host.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use weft_verbs_abi::{IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_XRC_RECV};

use super::process::Process;
use super::state::QpKind;
use crate::fabric::{FABRIC_SLOT, Number, Peer, QpRecord};

/// A peer that was found. Another queue pair that later has its number is not it: the generation tells.
pub struct Route {
    /// None for an XRC target, which lives in the fabric.
    peer: Option<Arc<Peer>>,
    number: Number,
    generation: u32,
    /// Of the requester.
    kind: QpKind,
}

impl Route {
    /// The way to queue pair `number`, if there is such a one.
    pub fn find(process: &Process, kind: QpKind, number: Number) -> Option<Route> {
        let peer = match number.slot() {
            FABRIC_SLOT => None,
            slot => Some(process.fabric.peer(slot)?),
        };
        let record = record_of(process, peer.as_deref(), number);
        let generation = record.generation.load(Ordering::Acquire);
        (generation & 1 == 1).then_some(Route {
            peer,
            number,
            generation,
            kind,
        })
    }

    #[inline]
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.as_deref()
    }

    /// To be kept beyond the route.
    pub fn shared_peer(&self) -> Option<Arc<Peer>> {
        self.peer.clone()
    }

    #[inline]
    pub fn number(&self) -> Number {
        self.number
    }

    #[inline]
    pub fn kind(&self) -> QpKind {
        self.kind
    }

    /// The peer's record, unless it is gone.
    #[inline]
    pub fn record<'a>(&'a self, process: &'a Process) -> Option<&'a QpRecord> {
        let record = record_of(process, self.peer(), self.number);
        let stands = record.generation.load(Ordering::Acquire) == self.generation;
        let lives = self.peer.as_ref().is_none_or(|peer| !peer.is_gone());
        (stands && lives).then_some(record)
    }

    /// Whether the peer is of the type that goes with the requester's.
    #[inline]
    pub fn answers(&self, record: &QpRecord) -> bool {
        let expected = match self.kind {
            QpKind::Rc => IBV_QPT_RC,
            QpKind::Uc => IBV_QPT_UC,
            QpKind::XrcSend => IBV_QPT_XRC_RECV,
            QpKind::Ud | QpKind::XrcRecv => return false,
        };
        record.kind.load(Ordering::Relaxed) == expected
    }

    /// Whether the peer's process is gone. One system call.
    pub fn is_dead(&self, process: &Process) -> bool {
        self.peer()
            .is_some_and(|peer| peer.look(process.fabric.processes()))
    }
}

#[inline]
fn record_of<'a>(process: &'a Process, peer: Option<&'a Peer>, number: Number) -> &'a QpRecord {
    match peer {
        Some(peer) => peer.segment().qp(number.index()),
        None => process.fabric.shared_qp(number.index()),
    }
}

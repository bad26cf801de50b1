//! What the engine asks of a network: the transport trait.
//!
//! A [`Fabric`] is one process's attachment to a network. It makes [`Endpoint`]s, one per lane; an
//! endpoint is driven by the holder of the lane's lock and needs no lock of its own. Small messages go
//! as packets ([`Endpoint::send`]), copied before the call returns. For a large one the sender opens a bulk transfer
//! ([`Endpoint::bulk_send`]), the engine carries its descriptor to the receiver, which takes the transfer up
//! ([`Endpoint::bulk_receive`]), and the transport moves the bytes in the way it does best.
//!
//! # Connecting
//! Nothing slow happens under a lane's lock: asking the launcher, opening, mapping and resolving belong to
//! [`Fabric::connect`].
//! 1. An endpoint that lacks a link answers [`Refused::Connecting`], or asks by [`Sink::connect`] for one that it needs
//!    itself, and remembers that this lane waits for the peer.
//! 2. The engine calls [`Fabric::connect`] once the lane's lock is free, then lets the lane poll. Several lanes and threads may
//!    do so for one peer; each call returns when the link stands or cannot.
//! 3. The next poll of each lane that waits tells [`Sink::writable`], or [`Sink::lost`].
//!
//! # Losing a peer
//! A peer is lost when it dies, when it breaks the transport's rules, or when the engine ends it ([`Endpoint::end`]),
//! because its packets make no sense. A peer is lost for the whole process: each lane's [`Sink::lost`] is told once, in its next
//! poll. From the moment a lane is told, or from the return of its own `end`:
//! - [`Sink`] hears nothing of the peer any more: no packet, no `sent`, no `received`, no `writable`;
//! - whatever is sent to it is refused with [`Refused::Lost`];
//! - its bulk transfers, and accesses to what it exposes, have stopped, and this process touches no user memory of theirs; the peer is kept from doing so as far
//!   as this side can keep it.

pub mod bursts;
pub mod endings;
mod exposed;
pub mod faulty;
pub mod links;
pub mod loopback;
mod parts;
pub mod progress_clock;
pub mod tracer;
pub mod watching;

use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;

pub use exposed::{Access, Allocation, Direction, Exposed, Exposure};
pub use parts::{Far, Near, NearEndpoint};

/// No sleep of a process is longer, whatever it waits for: then it looks who is dead, what is to be asked for once
/// more, and at others than peers.
pub const LONGEST_SLEEP_MS: u32 = 250;

/// A process of the job: its rank in `MPI_COMM_WORLD`.
pub type Peer = u32;

/// Two words the engine puts in front of every packet. Transports carry them unread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header(pub [u64; 2]);

/// Says where a bulk transfer's bytes are to be had: written by the sender's endpoint, carried by the
/// engine to the receiver's, unread. Untrusted when it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkDescriptor(pub [u64; 4]);

/// Names a transfer or an access to the engine in [`Sink::sent`] and [`Sink::received`].
pub type Cookie = u64;

/// Why a packet was not taken. Nothing happened; the caller keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No room now. [`Endpoint::poll`] makes some.
    Busy,
    /// The peer asked for no more unexpected payload: send an envelope, keep the payload.
    Throttled,
    /// There is no link to the peer yet: [`Fabric::connect`] makes it, outside the lane's lock. Until [`Sink::writable`]
    /// says so, what is kept waits in order, as with [`Busy`](Refused::Busy).
    Connecting,
    /// The peer is lost; said once by [`Sink::lost`].
    Lost,
    /// The fabric is one of several ([`Near`]) and does not reach the peer. No engine is told this.
    Elsewhere,
}

/// One lane's way to every peer. Driven under the lane's lock; never blocks and does nothing slow.
pub trait Endpoint: Send {
    /// A payload of so many bytes fits in one packet to any peer: whoever sends no more need not ask by peer.
    const EAGER_TO_ALL: usize;

    /// The largest payload of one packet to `peer` now, in bytes: it may be another after any other call.
    fn eager_limit(&self, peer: Peer) -> usize;

    /// Sends one packet; `payload.len() <= eager_limit(peer)`.
    /// `throttled`: whether a peer's throttle refuses this packet (eager payload does, control does not).
    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused>;

    /// As [`send`](Self::send), where that takes a few stores and nothing has to be asked or called before: whether it was
    /// sent. If not, nothing has happened and nothing is said of why.
    #[inline(always)]
    fn send_at_once(
        &mut self,
        _peer: Peer,
        _header: Header,
        _payload: &[u8],
        _throttled: bool,
    ) -> bool {
        false
    }

    /// As [`send`](Self::send), the payload written by `fill` in place; not called if the packet is refused.
    fn send_with(
        &mut self,
        peer: Peer,
        header: Header,
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused>;

    /// Hands what has arrived to `sink`, at most a bounded number of packets, and moves bulk transfers
    /// along. Returns whether anything happened.
    fn poll(&mut self, sink: &mut impl Sink) -> bool;

    /// Sends what was gathered: between a [`poll`](Self::poll) and the next `flush`, which follows once what arrived has
    /// been acted on, an endpoint may put together what is sent.
    #[inline(always)]
    fn flush(&mut self) {}

    /// Opens a bulk transfer of `source` to `peer`. The descriptor travels to the receiver in a packet of the
    /// engine's. The data may begin to move at once; [`Sink::sent`] says when the source is free. Refused, nothing happened.
    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused>;

    /// Which way the last [`bulk_send`](Self::bulk_send), which was to `peer`, goes and why: words for its line of a trace.
    /// None where there is but one way.
    fn way_of_last(&self, _peer: Peer) -> Option<String> {
        None
    }

    /// Ends a transfer that the receiver has certainly not taken up and will not.
    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie);

    /// Takes up a transfer of `bytes` in all: the first `target.bytes` (at most `bytes`) go to `target`, the
    /// rest is discarded. [`Sink::received`] says when it is done. Refused, nothing happened; a descriptor that makes no
    /// sense has the peer lost.
    fn bulk_receive(
        &mut self,
        peer: Peer,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Refused>;

    /// Accesses memory that `peer` has exposed, at any time and in any order among other accesses: when [`Sink::sent`] says so what was
    /// written is there, when [`Sink::received`] says so what was read is here. Refused, nothing happened. A peer that does not give the
    /// memory is lost. Only on a fabric that says that it [reaches](Fabric::reaches_exposed) what the peer exposes.
    fn access(&mut self, peer: Peer, _access: Access, _cookie: Cookie) -> Result<(), Refused> {
        unreachable!("this transport reaches nothing that rank {peer} exposes")
    }

    /// Ends `peer`, whose packets make no sense or which the engine has given up; see the crate's text on losing a peer.
    /// [`Sink::lost`] is told in the next poll, with `why` unless it was lost before for another reason.
    fn end(&mut self, peer: Peer, why: &Lost);

    /// Tells `peer` to stop (or resume) sending packets that are marked `throttled`.
    fn throttle(&mut self, peer: Peer, on: bool);

    /// Something is awaited of `peer`, which may never have sent anything: should it die, that is told. Refused for want of
    /// a link, it is watched once there is one. `one_of_many`: whether any of a communicator's processes may send it; a
    /// transport to which a link is dear may leave some of those unwatched.
    fn expect(&mut self, _peer: Peer, _one_of_many: bool) -> Result<(), Refused> {
        Ok(())
    }

    /// The thread did not run for a while, or not here: the next poll looks at all that may have come, also where it looks now and
    /// then only.
    fn look(&mut self) {}

    /// Before sleeping: from here on senders ring the fabric's doorbell. True if something is there already.
    fn arm(&mut self) -> bool;

    /// After sleeping.
    fn disarm(&mut self);

    /// One line per peer with something pending, for the report of a hung job.
    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// Receives what [`Endpoint::poll`] finds.
pub trait Sink {
    /// Whether [`upcoming`](Self::upcoming) is worth calling now.
    fn looks_ahead(&self) -> bool {
        false
    }
    /// Whether whatever comes now has to be stored, because nobody waits for anything.
    fn expects_nothing(&self) -> bool {
        false
    }
    /// A packet is about to come: a chance to prefetch. Not every packet is announced.
    fn upcoming(&mut self, _from: Peer, _header: Header) {}
    /// A packet; `payload` is valid during the call only, and untrusted like the header.
    fn packet(&mut self, from: Peer, header: Header, payload: &[u8]);
    /// The source of a bulk transfer is free, or what an access has written is there.
    fn sent(&mut self, cookie: Cookie);
    /// The target of a bulk transfer is complete, or that of an access that reads.
    fn received(&mut self, cookie: Cookie);
    /// `peer` can be sent to again after [`Refused::Busy`] or [`Refused::Connecting`].
    fn writable(&mut self, peer: Peer);
    /// The endpoint needs a link to `peer`, to take what has come from there: [`Fabric::connect`] is to be called.
    fn connect(&mut self, peer: Peer);
    /// `peer` is lost. Told once.
    fn lost(&mut self, peer: Peer, lost: &Lost);
}

/// Why a peer is lost, in one line that names it.
#[derive(Clone, Debug)]
pub struct Lost(pub Arc<str>);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Lost {}

/// Finds a peer's card, the line by which it can be reached. May ask the launcher; called once per peer.
pub trait Directory: Send + Sync {
    fn card(&self, peer: Peer) -> Result<String, String>;
}

/// One process's attachment to a network.
pub trait Fabric: Send + Sync {
    type Endpoint: Endpoint;

    /// Makes lane `lane`'s endpoint. Called once per lane, when the lane is first used by this process or
    /// when [`signalled`](Self::signalled) reports it.
    fn endpoint(&self, lane: u32) -> Self::Endpoint;

    /// Makes the link to `peer` for the lanes that wait for it, however long that takes. Called without any lane's lock;
    /// returns when the link stands, stood already, or cannot be made.
    fn connect(&self, _peer: Peer) {}

    /// Exposes `memory` to peers' accesses on lane `lane`. It stays valid until the exposure is dropped. None where the transport, or its
    /// adapter, does not reach memory by itself.
    fn expose(&self, _lane: u32, _memory: Memory) -> Option<Exposure> {
        None
    }

    /// So many bytes of zeros, which peers' accesses on lane `lane` reach with less work than other memory, once they are exposed. None where
    /// there is no such memory.
    fn allocate(&self, _lane: u32, _bytes: usize) -> Option<Allocation> {
        None
    }

    /// Whether [`Endpoint::access`] reaches what `peer` exposes. May ask the launcher; called without any lane's lock.
    fn reaches_exposed(&self, _peer: Peer) -> bool {
        false
    }

    /// A bit per lane for which a doorbell has been rung, without clearing it (the lane's endpoint does, in
    /// `poll`); any bit beyond the lanes' asks for [`serve`](Self::serve). One load.
    fn signalled(&self) -> u64;

    /// Begins a sleep: returns the ticket for [`sleep`](Self::sleep). Call before arming the endpoints.
    fn prepare_sleep(&self) -> u32;

    /// Sleeps until a doorbell rings or [`wake`](Self::wake) is called after `prepare_sleep`, or until
    /// `timeout_ms` has passed. One thread at a time.
    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>);

    /// Wakes this process's sleeper, from another of its threads.
    fn wake(&self);

    /// When the sleep that is over was ended by a ring, in nanoseconds of CLOCK_MONOTONIC, if the one that rang has said so: a peer's word.
    fn rung_at(&self) -> Option<u64> {
        None
    }

    /// Does what peers ask to be done in this process's memory. Whether anything was.
    fn serve(&self) -> bool {
        false
    }
}

//! What the engine asks of a network: the transport trait.
//!
//! A [`Fabric`] is one process's attachment to a network. It makes [`Endpoint`]s, one per lane; an
//! endpoint is driven by whoever holds the lane's lock and needs no lock of its own. Small messages go
//! as packets ([`Endpoint::send`]), copied before the call returns; large ones are offered by the
//! sender and accepted by the receiver, and the transport moves the bytes in the way it does best.

pub mod loopback;

use std::fmt;
use std::sync::Arc;

/// A process of the job: its rank in `MPI_COMM_WORLD`.
pub type Peer = u32;

/// Two words the engine puts in front of every packet. Transports carry them unread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header(pub [u64; 2]);

/// Says where a bulk transfer's bytes are to be had: written by the sender's endpoint, carried by the
/// engine to the receiver's, unread. Untrusted when it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer(pub [u64; 4]);

/// Names a transfer to the engine in [`Sink::sent`] and [`Sink::received`].
pub type Cookie = u64;

/// How a message's packed bytes lie in user memory that is not contiguous.
///
/// # Safety
/// Implementations touch only the bytes that the layout covers, relative to `base`.
pub unsafe trait Layout: Send + Sync {
    /// Copies packed bytes `offset .. offset + out.len()` out of user memory.
    ///
    /// # Safety
    /// `base` is valid for the layout's whole span for reads.
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]);
    /// Copies packed bytes `offset .. offset + data.len()` into user memory.
    ///
    /// # Safety
    /// `base` is valid for the layout's whole span for writes.
    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]);
}

/// A message's bytes in user memory: contiguous, or described by a layout.
#[derive(Clone)]
pub struct Memory {
    pub base: *mut u8,
    /// Packed length.
    pub bytes: usize,
    pub layout: Option<Arc<dyn Layout>>,
}

// SAFETY: a `Memory` is a promise by the MPI caller that the buffer stays valid and untouched until the
// operation completes (MPI-5.0 §3.7.2); which thread then does the copying does not matter.
unsafe impl Send for Memory {}
// SAFETY: nothing is read or written through it but by unsafe functions, whose callers see to the bytes.
unsafe impl Sync for Memory {}

impl Memory {
    pub const fn contiguous(base: *mut u8, bytes: usize) -> Memory {
        Memory {
            base,
            bytes,
            layout: None,
        }
    }

    /// Packed bytes `offset .. offset + bytes` alone; what lies beyond the end is left out.
    pub fn part(&self, offset: usize, bytes: usize) -> Memory {
        let offset = offset.min(self.bytes);
        let bytes = bytes.min(self.bytes - offset);
        match &self.layout {
            None => Memory::contiguous(self.base.wrapping_add(offset), bytes),
            Some(whole) => Memory {
                base: self.base,
                bytes,
                layout: Some(Arc::new(Part {
                    whole: whole.clone(),
                    offset,
                })),
            },
        }
    }

    /// Copies packed bytes `offset .. offset + out.len()` into `out`.
    ///
    /// # Safety
    /// The user's buffer is valid for reads and `offset + out.len() <= self.bytes`.
    #[inline]
    pub unsafe fn read(&self, offset: usize, out: &mut [u8]) {
        debug_assert!(offset + out.len() <= self.bytes);
        match &self.layout {
            // SAFETY: by this function's contract.
            None => unsafe {
                std::ptr::copy_nonoverlapping(self.base.add(offset), out.as_mut_ptr(), out.len())
            },
            // SAFETY: by this function's contract.
            Some(layout) => unsafe { layout.pack(self.base, offset, out) },
        }
    }

    /// Copies `data` to packed offset `offset`.
    ///
    /// # Safety
    /// The user's buffer is valid for writes and `offset + data.len() <= self.bytes`.
    #[inline]
    pub unsafe fn write(&self, offset: usize, data: &[u8]) {
        debug_assert!(offset + data.len() <= self.bytes);
        match &self.layout {
            // SAFETY: by this function's contract.
            None => unsafe {
                std::ptr::copy_nonoverlapping(data.as_ptr(), self.base.add(offset), data.len())
            },
            // SAFETY: by this function's contract.
            Some(layout) => unsafe { layout.unpack(self.base, offset, data) },
        }
    }
}

/// A layout without its first `offset` packed bytes.
struct Part {
    whole: Arc<dyn Layout>,
    offset: usize,
}

// SAFETY: touches what the whole layout covers.
unsafe impl Layout for Part {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        // SAFETY: by this function's contract.
        unsafe { self.whole.pack(base, self.offset + offset, out) }
    }

    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        // SAFETY: by this function's contract.
        unsafe { self.whole.unpack(base, self.offset + offset, data) }
    }
}

/// Why a packet was not taken. Nothing happened; the caller keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No room now. [`Endpoint::poll`] makes some.
    Busy,
    /// The peer asked for no more unexpected payload: send an envelope, keep the payload.
    Throttled,
    /// The peer is gone or the connection was ended; said once by [`Sink::lost`].
    Lost,
}

/// One lane's way to every peer. Driven under the lane's lock; never blocks.
pub trait Endpoint: Send {
    /// The largest payload of one packet, in bytes.
    fn eager_limit(&self) -> usize;

    /// Sends one packet; `payload.len() <= eager_limit()`. Connects on first use.
    /// `throttled`: whether a peer's throttle refuses this packet (eager payload does, control does not).
    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused>;

    /// As [`send`](Self::send), the payload written by `fill` in place.
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

    /// Opens a bulk transfer of `source` to `peer`. The offer travels to the receiver in a packet of the
    /// engine's. The data may begin to move at once; [`Sink::sent`] says when the source is free.
    fn offer(&mut self, peer: Peer, source: Memory, cookie: Cookie) -> Offer;

    /// Takes back an offer that the receiver has certainly not accepted and will not.
    fn retract(&mut self, peer: Peer, cookie: Cookie);

    /// Takes up an offer of `bytes` in all: the first `target.bytes` (at most `bytes`) go to `target`, the
    /// rest is discarded. [`Sink::received`] says when it is done.
    fn accept(
        &mut self,
        peer: Peer,
        offer: Offer,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Lost>;

    /// Tells `peer` to stop (or resume) sending packets that are marked `throttled`.
    fn throttle(&mut self, peer: Peer, on: bool);

    /// Something is awaited of `peer`, which may never have sent anything: should it die, that is told. False if it is
    /// lost already.
    fn expect(&mut self, _peer: Peer) -> bool {
        true
    }

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
    /// The source of an offer is free.
    fn sent(&mut self, cookie: Cookie);
    /// The target of an accepted offer is complete.
    fn received(&mut self, cookie: Cookie);
    /// `peer` can be sent to again after [`Refused::Busy`].
    fn writable(&mut self, peer: Peer);
    /// `peer` is lost: nothing will come from it and nothing reach it.
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

    /// A bit per lane for which a doorbell has been rung, without clearing it (the lane's endpoint does, in
    /// `poll`); any bit beyond the lanes' asks for [`serve`](Self::serve). One load.
    fn signalled(&self) -> u64;

    /// Begins a sleep: returns the ticket for [`sleep`](Self::sleep). Call before arming the endpoints.
    fn prepare(&self) -> u32;

    /// Sleeps until a doorbell rings or [`wake`](Self::wake) is called after `prepare`, or until
    /// `timeout_ms` has passed. One thread at a time.
    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>);

    /// Wakes this process's sleeper, from another of its threads.
    fn wake(&self);

    /// Does what peers cannot do themselves in this process's memory.
    fn serve(&self) {}
}

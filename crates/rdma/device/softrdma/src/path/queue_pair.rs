//! A queue pair of this process, as requests go through it.
//!
//! What peers must know stands in the record in shared memory, the state first of all: a peer that finds fault brings the queue
//! pair into the error state by itself and tells the agent, which flushes.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_verbs_abi::*;

use super::backlog::Backlog;
use super::clock;
use super::completion_queue::CompletionQueue;
use super::event::EventSource;
use super::pieces::{Pieces, ProtectionError};
use super::process::Process;
use super::remote_connection::RemoteConnection;
use super::request::{Payload, Request};
use super::route::Route;
use super::state::QpKind;
use crate::fabric::{FABRIC_SLOT, Number, QpRecord};
use crate::uar;

pub struct QueuePair {
    pub process: &'static Process,
    /// The device's number.
    pub device: u32,
    pub kind: QpKind,
    pub number: Number,
    pub caps: ibv_qp_cap,
    /// Each request has a completion.
    pub signals_all: bool,
    /// Protection domain of the work requests.
    pub pd_key: u32,
    pub lid: u16,
    pub send_cq: Option<&'static CompletionQueue>,
    pub recv_cq: Option<&'static CompletionQueue>,
    /// Receive requests come from a shared receive queue.
    pub has_srq: bool,
    pub events: EventSource,
    resources: Resources,
    /// What peers on this host know it by once it is in RTS (`fabric::record::queue_pair::Sender`).
    sender_word: AtomicU64,
    /// Indexes of the send queue handed out, modulo 2^32. Written by the poster; read by anyone.
    posted: AtomicU32,
    /// Places that completions have freed. Written by who polls the send completion queue, inside it.
    released: AtomicU32,
    pub backlog: Backlog,
    /// Of who executes (`backlog`, rule 3).
    route: UnsafeCell<Option<Route>>,
    /// The peer is on another host.
    remote: AtomicBool,
    pub remote_connection: RemoteConnection,
    attributes: Mutex<ibv_qp_attr>,
    /// An event is wanted when the send queue has drained.
    pub drain_event: AtomicBool,
    /// A line of the poster's of receives (`receive_fence`).
    receive_fence: AtomicU32,
}

/// What a queue pair is made from.
pub struct Parts {
    pub process: &'static Process,
    pub device: u32,
    pub kind: QpKind,
    pub number: Number,
    pub caps: ibv_qp_cap,
    pub signals_all: bool,
    pub pd_key: u32,
    pub lid: u16,
    pub send_cq: Option<&'static CompletionQueue>,
    pub recv_cq: Option<&'static CompletionQueue>,
    pub has_srq: bool,
    pub events: EventSource,
    pub resources: Resources,
}

/// What it has of the adapter.
pub enum Resources {
    QueuePair(uar::QueuePair),
    /// An XRC receive queue pair, which needs nothing.
    Counted {
        _counted: uar::Counted,
    },
}

// SAFETY: `route` is by the protocol of `backlog`; all else is shareable by itself, or never changed.
unsafe impl Sync for QueuePair {}
// SAFETY: as above.
unsafe impl Send for QueuePair {}

impl QueuePair {
    pub fn new(parts: Parts) -> QueuePair {
        QueuePair {
            process: parts.process,
            device: parts.device,
            kind: parts.kind,
            number: parts.number,
            caps: parts.caps,
            signals_all: parts.signals_all,
            pd_key: parts.pd_key,
            lid: parts.lid,
            send_cq: parts.send_cq,
            recv_cq: parts.recv_cq,
            has_srq: parts.has_srq,
            events: parts.events,
            resources: parts.resources,
            sender_word: AtomicU64::new(0),
            posted: AtomicU32::new(0),
            released: AtomicU32::new(0),
            backlog: Backlog::default(),
            route: UnsafeCell::new(None),
            remote: AtomicBool::new(false),
            remote_connection: RemoteConnection::default(),
            attributes: Mutex::default(),
            drain_event: AtomicBool::new(false),
            receive_fence: AtomicU32::new(0),
        }
    }

    /// The record that peers see.
    #[inline]
    pub fn record(&self) -> &'static QpRecord {
        let index = self.number.index();
        match self.number.slot() {
            FABRIC_SLOT => self.process.fabric.shared_qp(index),
            _ => self.process.own_segment().segment().qp(index),
        }
    }

    /// What posting to a send queue goes through; for kinds that have one.
    #[inline]
    pub fn sender(&self) -> &uar::QueuePair {
        match &self.resources {
            Resources::QueuePair(resources) => resources,
            Resources::Counted { .. } => unreachable!("an XRC receive queue pair sends nothing"),
        }
    }

    pub fn attributes(&self) -> MutexGuard<'_, ibv_qp_attr> {
        self.attributes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub fn sender_word(&self) -> u64 {
        self.sender_word.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn is_remote(&self) -> bool {
        self.remote.load(Ordering::Relaxed)
    }

    /// Poster.
    #[inline]
    pub fn send_queue_has_room(&self, requests: u32) -> bool {
        let posted = self.posted.load(Ordering::Relaxed);
        let used = posted.wrapping_sub(self.released.load(Ordering::Acquire));
        used.saturating_add(requests) <= self.caps.max_send_wr
    }

    /// Poster: the place of the next request.
    #[inline]
    pub fn take_send_index(&self) -> u32 {
        let index = self.posted.load(Ordering::Relaxed);
        self.posted.store(index.wrapping_add(1), Ordering::Relaxed);
        index
    }

    /// The poller, inside the send completion queue: the completion of the request at `index` was polled.
    #[inline]
    pub fn release_send_indexes(&self, index: u32) {
        self.released
            .store(index.wrapping_add(1), Ordering::Release);
    }

    #[inline]
    pub fn send_stamp(&self) -> u64 {
        match self.send_cq {
            Some(cq) if cq.stamped => clock::nanoseconds(),
            _ => 0,
        }
    }

    /// The way to the connected peer, if there is one.
    ///
    /// # Safety
    /// The caller is the one who executes.
    #[inline]
    pub unsafe fn route(&self) -> Option<&Route> {
        // SAFETY: the caller's promise.
        let route = unsafe { &mut *self.route.get() };
        match route {
            Some(found) if found.record(self.process).is_some() => {}
            _ => *route = self.find_route(),
        }
        route.as_ref()
    }

    #[cold]
    fn find_route(&self) -> Option<Route> {
        let number = Number::from_bits(self.record().dest_qpn.load(Ordering::Relaxed));
        let process = self.process;
        let route = Route::find(process, self.kind, number)?;
        if let Some(peer) = route.shared_peer() {
            process.agent().watch(peer);
        }
        Some(route)
    }

    /// Agent, or poster: whether nobody will ever answer.
    pub fn peer_is_dead(&self) -> bool {
        // SAFETY: called by who executes.
        let route = unsafe { &*self.route.get() };
        route
            .as_ref()
            .is_some_and(|route| route.is_dead(self.process))
    }

    pub fn raise(&self, event: ibv_event_type) {
        self.events.raise(event);
    }

    pub fn set_sender_word(&self, word: u64) {
        self.sender_word.store(word, Ordering::Relaxed);
    }

    pub fn set_remote(&self, remote: bool) {
        self.remote.store(remote, Ordering::Relaxed);
    }

    /// Forgets the send queue's places and the way to the peer: the queue pair is reset.
    ///
    /// # Safety
    /// Nothing is deferred, and the application posts nothing meanwhile.
    pub unsafe fn restart(&self) {
        self.posted.store(0, Ordering::Relaxed);
        self.released.store(0, Ordering::Release);
        // SAFETY: the caller's promise.
        unsafe { *self.route.get() = None };
    }

    /// Between the store of a receive request and the load of the state: the store must not wait behind the load, which a
    /// read-modify-write in between sees to.
    #[inline]
    pub fn receive_fence(&self) {
        self.receive_fence.fetch_add(1, Ordering::SeqCst);
    }

    /// Adds the memory of this process that the request names.
    #[inline]
    pub fn gather(
        &self,
        request: &Request,
        payload: Payload<'_>,
        local: &mut Pieces,
    ) -> Result<(), ProtectionError> {
        match payload {
            Payload::Elements(elements) if request.has(IBV_SEND_INLINE) => {
                local.add_unchecked(elements);
            }
            Payload::Elements(elements) => {
                let segment = self.process.fabric.segment();
                local.add_elements(segment, self.pd_key, elements, request.operation.fetches())?;
            }
            Payload::Inline(bytes) => local.push(bytes.as_ptr() as u64, bytes.len() as u64),
        }
        Ok(())
    }
}

//! Queue pairs: creation, states, posting.
//!
//! What peers must know stands in the record in shared memory, the state first of all: a peer that finds fault brings the queue
//! pair into the error state by itself and tells the agent, which flushes.

mod builder;
mod create;
mod failure;
mod modify;
mod query;
mod transition;

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_verbs_abi::*;

use self::builder::Builder;
use super::acknowledgement::Acknowledged;
use super::async_event::Element;
use super::context::Context;
use super::cq::Cq;
use super::receive_list::post_list;
use super::srq::Srq;
use super::users::Stand;
use crate::fabric::{FABRIC_SLOT, Number, QpRecord};
use crate::path::backlog::Backlog;
use crate::path::between_hosts::Line;
use crate::path::route::Route;
use crate::uar;

pub use builder::ibv_qp_to_qp_ex;
pub use create::{create_qp_ex, ibv_create_qp, ibv_destroy_qp, open_qp};
pub use modify::ibv_modify_qp;
pub use query::{ibv_query_qp, ibv_query_qp_data_in_order};
pub use transition::{QpKind, State};

pub use crate::path::post::post_send;

#[repr(C)]
pub struct Qp {
    abi: UnsafeCell<ibv_qp_ex>,
    pub context: &'static Context,
    pub kind: QpKind,
    pub number: Number,
    pub caps: ibv_qp_cap,
    /// Each request has a completion.
    pub signals_all: bool,
    pub is_extended: bool,
    /// Protection domain of the work requests.
    pub pd_key: u32,
    pub lid: u16,
    pub send_cq: Option<&'static Cq>,
    pub recv_cq: Option<&'static Cq>,
    pub srq: Option<&'static Srq>,
    resources: Resources,
    /// Between `wr_start` and `wr_complete` (`builder`).
    builder: UnsafeCell<Builder>,
    /// What peers on this host know it by once it is in RTS (`fabric::record::queue_pair::Sender`).
    sender_word: AtomicU64,
    /// Places of the send queue handed out, modulo 2^32. Written by the poster; read by anyone.
    posted: AtomicU32,
    /// Places that completions have freed. Written by who polls the send completion queue, inside it.
    released: AtomicU32,
    pub backlog: Backlog,
    /// Of who executes (`path::backlog`, rule 3).
    route: UnsafeCell<Option<Route>>,
    /// The peer is on another host.
    remote: AtomicBool,
    pub line: Line,
    attributes: Mutex<ibv_qp_attr>,
    /// An event is wanted when the send queue has drained.
    drain_event: AtomicBool,
    /// A line of the poster's of receives (`post_recv`).
    receive_fence: AtomicU32,
    delivered: AtomicU32,
    _stands: Vec<Stand>,
}

/// What it has of the adapter.
enum Resources {
    QueuePair(uar::QueuePair),
    /// An XRC receive queue pair, which needs nothing.
    Counted {
        _counted: uar::Counted,
    },
}

// SAFETY: `abi` is the application's to read and, in single fields, ours by `acknowledgement` and `modify`; `builder` and `route`
// are by the protocols named beside them.
unsafe impl Sync for Qp {}
// SAFETY: as above.
unsafe impl Send for Qp {}

impl Qp {
    /// # Safety
    /// `qp` is a queue pair of this device that is not destroyed while the result is used.
    #[inline]
    pub unsafe fn from_abi(qp: *mut ibv_qp) -> &'static Qp {
        // SAFETY: each begins with the public structure.
        unsafe { &*qp.cast::<Qp>() }
    }

    pub fn as_abi(&self) -> *mut ibv_qp {
        self.abi.get().cast()
    }

    /// The record that peers see.
    #[inline]
    pub fn record(&self) -> &'static QpRecord {
        let index = self.number.index();
        match self.number.slot() {
            FABRIC_SLOT => self.context.process.fabric.shared_qp(index),
            _ => self.context.process.home().segment().qp(index),
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
    pub fn take_send_place(&self) -> u32 {
        let place = self.posted.load(Ordering::Relaxed);
        self.posted.store(place.wrapping_add(1), Ordering::Relaxed);
        place
    }

    /// Who polls, inside the send completion queue: the completion of the request at `place` was polled.
    #[inline]
    pub fn release_send_places(&self, place: u32) {
        self.released
            .store(place.wrapping_add(1), Ordering::Release);
    }

    #[inline]
    pub fn send_stamp(&self) -> u64 {
        match self.send_cq {
            Some(cq) if cq.stamped => crate::path::clock::nanoseconds(),
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
            Some(found) if found.record(self.context.process).is_some() => {}
            _ => *route = self.find_route(),
        }
        route.as_ref()
    }

    #[cold]
    fn find_route(&self) -> Option<Route> {
        let number = Number::from_bits(self.record().dest_qpn.load(Ordering::Relaxed));
        let process = self.context.process;
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
            .is_some_and(|route| route.is_dead(self.context.process))
    }

    pub fn acknowledged(&self) -> Acknowledged<'_> {
        let abi = self.as_abi();
        // SAFETY: fields of the living object.
        unsafe {
            Acknowledged {
                mutex: &raw mut (*abi).mutex,
                cond: &raw mut (*abi).cond,
                completed: &raw mut (*abi).events_completed,
                delivered: &self.delivered,
            }
        }
    }

    pub fn raise(&self, event: ibv_event_type) {
        self.context.events.raise(event, Element::Qp(self.as_abi()));
    }
}

/// # Safety
/// `qp` is a queue pair of this device, the list readable, `bad_wr` writable.
pub unsafe extern "C" fn post_recv(
    qp: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Qp::from_abi(qp) };
    let record = this.record();
    let reset = record.state.load(Ordering::Relaxed) == IBV_QPS_RESET;
    if !this.kind.has_receive_queue() || this.srq.is_some() || reset {
        // SAFETY: the caller's promise.
        unsafe { *bad_wr = wr };
        return libc::EINVAL;
    }
    let segment = this.context.process.home().segment();
    let ring = segment.receive_ring(this.number.index());
    let held = this.sender().enter_receive();
    // SAFETY: the caller's promise; the lock is held.
    let result = unsafe { post_list(&ring, this.caps.max_recv_sge, wr, bad_wr) };
    // Who flushes sees the request, or here the error state is seen: the store of the one must not wait behind the load of the
    // other, which a read-modify-write in between sees to.
    this.receive_fence.fetch_add(1, Ordering::SeqCst);
    if record.state.load(Ordering::SeqCst) == IBV_QPS_ERR {
        this.flush_receives();
    }
    drop(held);
    result.map_or_else(|errno| errno.0, |()| 0)
}

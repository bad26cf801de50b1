//! Neighbours of one list that go together: WRITEs to, or READs from, one region of a process that the kernel copies to or
//! from, in one system call.
//!
//! # Rules
//! 1. Only the poster joins requests, only while nothing is deferred, and all that has joined is moved before anything else of the queue
//!    pair is executed and before the call that posted it returns: requests take effect and complete in the order of the list,
//!    and their payload is where the poster has it.
//! 2. What [`execute`](super::execute) would ask is asked when a request joins. One that would be refused, or that needs
//!    anything else, does not join: it is executed behind those that did, the ordinary way.
//! 3. The kernel moves bytes in order and says how many it moved. Requests that it did not come to the end of are executed
//!    again, one by one: each then fails, or does not, by itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::between_hosts::connection::Gathering;
use super::execute::responder_of;
use super::pieces::Pieces;
use super::post;
use super::process::Process;
use super::queue_pair::QueuePair;
use super::receiver::{CHUNK, Receiver};
use super::request::{Operation, Payload, Request, Target};
use super::route::Route;
use crate::fabric::{Direction, InlineList, KeptVisit, Number, Peer, QpRecord, Reach, Span};

/// Requests that go together.
const MOST: usize = 32;

/// What all that have joined have in common.
struct CommonTarget {
    operation: Operation,
    rkey: u32,
    /// XRC: the shared receive queue that the requests name, whose process they reach.
    shared_queue: Option<u32>,
    /// The region and its process stay until the bytes are moved.
    visit: KeptVisit,
    /// The protection domain whose regions count.
    pd: u32,
}

impl CommonTarget {
    /// Whether a request goes there too.
    #[inline]
    fn is_of(&self, request: &Request, rkey: u32) -> bool {
        let names_it = |queue| queue == request.remote_srqn;
        let is_there = self.rkey == rkey && self.shared_queue.is_none_or(names_it);
        is_there && self.operation == request.operation
    }
}

#[derive(Clone, Copy)]
struct Member<'a> {
    request: Request,
    payload: Payload<'a>,
    bytes: u64,
}

/// Requests that have joined and are not moved yet. Large: made where it is used, not moved.
pub struct CombinedRequests<'a> {
    qp: &'static QueuePair,
    target: Option<CommonTarget>,
    /// There is no such target: the rest of the list is not asked.
    has_no_target: bool,
    members: InlineList<Member<'a>, MOST>,
    local: Pieces,
    remote: InlineList<Span, MOST>,
    /// What goes to another host leaves when this goes.
    _gathering: Option<Gathering>,
}

/// Direction of an operation, and the right that it needs.
fn kind(operation: Operation) -> Option<(Direction, u32)> {
    match operation {
        Operation::Write => Some((Direction::Write, IBV_ACCESS_REMOTE_WRITE)),
        Operation::Read => Some((Direction::Read, IBV_ACCESS_REMOTE_READ)),
        _ => None,
    }
}

/// The process that requests reach, and the protection domain that counts there: over XRC those of the shared receive queue.
fn responder(
    process: &Process,
    route: &Route,
    record: &QpRecord,
    shared_queue: u32,
) -> Option<(Arc<Peer>, u32)> {
    if let Some(peer) = route.shared_peer() {
        return Some((peer, record.pd.load(Ordering::Relaxed)));
    }
    let queue = Number::from_bits(shared_queue);
    let peer = process.owner_of_queue(queue)?;
    let receiver = Receiver::of_shared_queue(&peer, record, route.number(), queue)?;
    let pd = receiver.pd;
    Some((peer, pd))
}

impl<'a> CombinedRequests<'a> {
    #[inline]
    pub fn new(qp: &'static QueuePair) -> CombinedRequests<'a> {
        CombinedRequests {
            qp,
            target: None,
            has_no_target: false,
            members: InlineList::new(),
            local: Pieces::new(),
            remote: InlineList::new(),
            _gathering: Gathering::begin(qp),
        }
    }

    /// Puts a checked request into the send queue. It is executed by [`flush`](Self::flush) at the latest.
    pub fn submit(&mut self, request: &mut Request, payload: Payload<'a>) {
        request.index = self.qp.take_send_index();
        if self.join(request, payload).is_some() {
            return;
        }
        self.flush();
        // It may have been one too many, or of another kind.
        if self.join(request, payload).is_none() {
            post::begin(self.qp, request, payload);
        }
    }

    /// None if it cannot.
    fn join(&mut self, request: &Request, payload: Payload<'a>) -> Option<()> {
        if self.has_no_target {
            return None;
        }
        let (_, access) = kind(request.operation)?;
        let Target::Memory { address, rkey } = request.target else {
            return None;
        };
        if self.target.is_none() {
            self.target = self.open(request, rkey, access);
            self.has_no_target = self.target.is_none();
        }
        let target = self.target.as_ref()?;
        let count = match payload {
            Payload::Elements(elements) => elements.len(),
            Payload::Inline(_) => 1,
        };
        let bytes = payload.bytes();
        let fits = !self.members.is_full()
            && self.local.has_room(count)
            && self.local.bytes() + bytes <= CHUNK;
        if !fits || bytes == 0 || !target.is_of(request, rkey) {
            return None;
        }
        let region = target.visit.region();
        let span = region.span(address, bytes, target.pd, access).ok()?;
        let before = (self.local.list().len(), self.local.bytes());
        if self.qp.gather(request, payload, &mut self.local).is_err() {
            self.local.truncate(before.0, before.1);
            return None;
        }
        self.remote.push(span);
        self.members.push(Member {
            request: *request,
            payload,
            bytes,
        });
        Some(())
    }

    /// The way to a region that requests can go to together.
    fn open(&self, request: &Request, rkey: u32, access: u32) -> Option<CommonTarget> {
        let qp = self.qp;
        let process = qp.process;
        let ready = qp.backlog.is_empty()
            && qp.record().state.load(Ordering::Acquire) == IBV_QPS_RTS
            && !qp.is_remote()
            && process.link_is_up(qp.device);
        if !ready {
            return None;
        }
        // SAFETY: nothing is deferred, so who posts is who executes.
        let route = unsafe { qp.route() }?;
        let (record, state) = responder_of(process, route, qp.sender_word())?;
        // The first message to who is not ready to send yet tells of itself (`Requester::execute`).
        let first = state == IBV_QPS_RTR && record.msn.load(Ordering::Relaxed) == 0;
        let (peer, pd) = responder(process, route, record, request.remote_srqn)?;
        let allowed = record.access.load(Ordering::Relaxed) & access != 0;
        let copies = matches!(peer.reach(), Reach::Copies { .. });
        if first || !allowed || !copies {
            return None;
        }
        let visit = peer.keep_visit(rkey, qp.number.bits() as usize)?;
        let region = visit.region();
        let other = |number| number != route.number().bits();
        if region.segment_offset.is_some() || region.qpn.is_some_and(other) {
            return None;
        }
        Some(CommonTarget {
            operation: request.operation,
            rkey,
            shared_queue: route.peer().is_none().then_some(request.remote_srqn),
            visit,
            pd,
        })
    }

    /// Moves what has joined, and ends it.
    pub fn flush(&mut self) {
        let Some(target) = self.target.take() else {
            return;
        };
        let mut moved = kind(target.operation).map_or(0, |(direction, _)| {
            // SAFETY: local memory was checked against its keys, or is the poster's to read.
            unsafe {
                target
                    .visit
                    .peer()
                    .copy_at_once(direction, self.local.list(), &self.remote)
            }
        });
        drop(target);
        for members in self.members.iter() {
            if members.bytes <= moved {
                moved -= members.bytes;
                post::end_moved(self.qp, &members.request, members.payload, members.bytes);
            } else {
                moved = 0;
                post::begin(self.qp, &members.request, members.payload);
            }
        }
        self.members.truncate(0);
        self.remote.truncate(0);
        self.local.truncate(0, 0);
    }
}

/// Puts checked requests that belong together into the send queue.
#[inline(never)]
pub fn submit_all<'a>(
    qp: &'static QueuePair,
    requests: impl Iterator<Item = (&'a mut Request, Payload<'a>)>,
) {
    let mut combined = CombinedRequests::new(qp);
    for (request, payload) in requests {
        combined.submit(request, payload);
    }
    combined.flush();
}

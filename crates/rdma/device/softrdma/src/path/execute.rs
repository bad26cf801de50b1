//! Executes a send request against a queue pair of the same host: checks, moves the bytes, delivers, and says what the
//! requester is told.
//!
//! The order of checks is the responder's of InfiniBand Architecture 1.6, §9.7.4 to §9.7.5: the queue pair's state, then
//! the request's kind, then key, range and permission. Bytes of a READ or an atomic come last of all.

use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_verbs_abi::*;

use super::agent_message::{self, AffiliatedError, AgentMessage};
use super::pieces::Pieces;
use super::process::Process;
use super::receiver::{CHUNK, Delivery, Message, Receiver};
use super::request::{Operation, Request, Target};
use super::route::Route;
use super::state::State;
use crate::fabric::{AtomicError, AtomicOperation, Direction, MemoryError, Peer, QpRecord, visit};

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done; so many bytes were moved.
    Done(u64),
    /// It failed with this status.
    Failed(ibv_wc_status),
    /// So many bytes were moved; go on from there.
    Partly(u64),
    /// Somebody holds a lock.
    Again,
    /// The target's agent must do it (`proxied`).
    ByAgent,
    /// It was asked to.
    Asked,
    /// The target has no receive request; the code says how long to wait.
    NotReady { timer: u32 },
    /// Nobody answers.
    Silent,
    /// Somebody else ends it: the protocol between hosts.
    Left,
}

/// The peer's record and its state, if it hears this sender.
#[inline]
pub fn responder_of<'a>(
    process: &'a Process,
    route: &'a Route,
    sender: u64,
) -> Option<(&'a QpRecord, ibv_qp_state)> {
    let record = route.record(process)?;
    let state = record.state.load(Ordering::Acquire);
    let accepts = State::from_abi(state).is_some_and(State::receives)
        && route.answers(record)
        && record.accepts(sender);
    accepts.then_some((record, state))
}

/// What the requester brings.
pub struct Requester<'a> {
    pub process: &'a Process,
    pub qpn: u32,
    /// [`crate::fabric::record::queue_pair::Sender::word`]; of connected queue pairs.
    pub sender: u64,
    pub lid: u16,
    pub request: &'a Request,
    /// Memory of this process that its keys allow, or inline bytes.
    pub local: &'a Pieces,
    /// Bytes that earlier steps moved.
    pub done: u64,
    pub patience: Duration,
}

impl Requester<'_> {
    /// Executes over a connection.
    #[inline]
    pub fn execute(&self, route: &Route) -> Outcome {
        let Some((record, state)) = responder_of(self.process, route, self.sender) else {
            return Outcome::Silent;
        };
        if state == IBV_QPS_RTR {
            self.establish(route, record);
        }
        match route.peer() {
            Some(peer) => self.execute_at(route, peer, record),
            None => self.execute_in_domain(route, record),
        }
    }

    /// XRC: the process that has the shared receive queue stands for the target.
    fn execute_in_domain(&self, route: &Route, record: &QpRecord) -> Outcome {
        let srq = crate::fabric::Number::from_bits(self.request.remote_srqn);
        let Some(peer) = self.process.owner_of_queue(srq) else {
            return self.refuse_in_domain(route, record);
        };
        match Receiver::of_shared_queue(&peer, record, route.number(), srq) {
            Some(receiver) => self.dispatch(&peer, record, Some(receiver), route),
            None => self.refuse_in_domain(route, record),
        }
    }

    fn refuse_in_domain(&self, route: &Route, record: &QpRecord) -> Outcome {
        agent_message::fail_shared(
            self.process,
            record,
            route.number(),
            AffiliatedError::Request,
        );
        Outcome::Failed(IBV_WC_REM_INV_REQ_ERR)
    }

    #[inline]
    fn execute_at(&self, route: &Route, peer: &Peer, record: &QpRecord) -> Outcome {
        self.dispatch(peer, record, None, route)
    }

    #[inline]
    fn dispatch(
        &self,
        peer: &Peer,
        record: &QpRecord,
        shared: Option<Receiver<'_>>,
        route: &Route,
    ) -> Outcome {
        use Operation::*;
        let pd = match &shared {
            Some(receiver) => receiver.pd,
            None => record.pd.load(Ordering::Relaxed),
        };
        let target = ExecutionTarget {
            peer,
            record,
            route,
            pd,
        };
        match self.request.operation {
            Write => self.write(&target),
            Read => self.read(&target),
            CompareAndSwap | FetchAndAdd => self.atomic(&target),
            Send | SendWithImmediate | SendWithInvalidate => self.send(&target, shared),
            WriteWithImmediate => self.write_with_immediate(&target, shared),
            LocalInvalidate | BindWindow => Outcome::Failed(IBV_WC_LOC_QP_OP_ERR),
        }
    }

    #[cold]
    fn establish(&self, route: &Route, record: &QpRecord) {
        if record.msn.swap(1, Ordering::Relaxed) == 0
            && let Some(peer) = route.peer()
        {
            let number = route.number();
            agent_message::send(self.process, peer, &AgentMessage::Established { number });
        }
    }

    #[inline]
    fn write(&self, target: &ExecutionTarget<'_>) -> Outcome {
        self.transfer(target, Direction::Write, IBV_ACCESS_REMOTE_WRITE)
    }

    #[inline]
    fn read(&self, target: &ExecutionTarget<'_>) -> Outcome {
        self.transfer(target, Direction::Read, IBV_ACCESS_REMOTE_READ)
    }

    /// Moves the next piece between local and remote memory.
    #[inline]
    fn transfer(&self, target: &ExecutionTarget<'_>, direction: Direction, access: u32) -> Outcome {
        let Target::Memory { address, rkey } = self.request.target else {
            return Outcome::Failed(IBV_WC_LOC_QP_OP_ERR);
        };
        let total = self.local.bytes();
        if total == 0 {
            return Outcome::Done(0);
        }
        if target.record.access.load(Ordering::Relaxed) & access == 0 {
            return self.refuse_access(target);
        }
        let me = self.process.fabric.processes().me();
        let Some(visit) = visit(target.peer.segment(), me, rkey, self.qpn as usize) else {
            return self.refuse_access(target);
        };
        // The whole range is judged at the first packet (§9.7.4.1.5).
        let region = visit.region();
        let other = |qpn| qpn != target.route.number().bits();
        let whole = match region.span(address, total, target.pd, access) {
            Ok(whole) if !region.qpn.is_some_and(other) => whole,
            _ => return self.refuse_access(target),
        };
        let length = CHUNK.min(total - self.done);
        let span = whole.part(self.done, length);
        let part;
        let local = if length == total {
            self.local
        } else {
            part = self.local.slice(self.done, length);
            &part
        };
        // SAFETY: local memory was checked against its keys, or is the poster's to read.
        match unsafe { target.peer.copy(direction, local.list(), &[span]) } {
            Ok(()) if self.done + length < total => Outcome::Partly(self.done + length),
            Ok(()) => Outcome::Done(total),
            Err(MemoryError::Agent) => Outcome::ByAgent,
            Err(MemoryError::Gone) => Outcome::Silent,
            Err(MemoryError::Fault) => fault(target.peer),
        }
    }

    fn atomic(&self, target: &ExecutionTarget<'_>) -> Outcome {
        let Target::Atomic {
            address,
            rkey,
            operand,
            swap,
        } = self.request.target
        else {
            return Outcome::Failed(IBV_WC_LOC_QP_OP_ERR);
        };
        let access = IBV_ACCESS_REMOTE_ATOMIC;
        if !address.is_multiple_of(8) {
            return self.refuse(target, AffiliatedError::Request, IBV_WC_REM_INV_REQ_ERR);
        }
        if target.record.access.load(Ordering::Relaxed) & access == 0 {
            return self.refuse_access(target);
        }
        let me = self.process.fabric.processes().me();
        let Some(visit) = visit(target.peer.segment(), me, rkey, self.qpn as usize) else {
            return self.refuse_access(target);
        };
        let Ok(span) = visit.region().span(address, 8, target.pd, access) else {
            return self.refuse_access(target);
        };
        let operation = match self.request.operation {
            Operation::FetchAndAdd => AtomicOperation::FetchAdd(operand),
            _ => AtomicOperation::CompareSwap {
                compare: operand,
                swap,
            },
        };
        let processes = self.process.fabric.processes();
        match target
            .peer
            .atomic(operation, span, processes, self.patience)
        {
            Ok(old) => {
                self.store_result(old);
                Outcome::Done(8)
            }
            Err(AtomicError::Busy) => Outcome::Again,
            Err(AtomicError::Memory(MemoryError::Agent)) => Outcome::ByAgent,
            Err(AtomicError::Memory(MemoryError::Gone)) => Outcome::Silent,
            Err(AtomicError::Memory(MemoryError::Fault)) => fault(target.peer),
        }
    }

    /// Puts what an atomic found where the requester wants it: eight bytes, in however many pieces.
    fn store_result(&self, old: u64) {
        let mut bytes = &old.to_ne_bytes()[..];
        for piece in self.local.list() {
            let (here, rest) = bytes.split_at(bytes.len().min(piece.length as usize));
            // SAFETY: the piece was checked against its key for writing.
            unsafe {
                let to = piece.address as *mut u8;
                std::ptr::copy_nonoverlapping(here.as_ptr(), to, here.len());
            }
            bytes = rest;
        }
    }

    #[inline]
    fn send(&self, target: &ExecutionTarget<'_>, shared: Option<Receiver<'_>>) -> Outcome {
        let request = self.request;
        let invalidates = request.operation == Operation::SendWithInvalidate;
        let (wc_flags, immediate) = match request.operation {
            Operation::SendWithImmediate => (IBV_WC_WITH_IMM, request.immediate),
            Operation::SendWithInvalidate => (IBV_WC_WITH_INV, request.immediate),
            _ => (0, 0),
        };
        let message = self.message(IBV_WC_RECV, wc_flags, immediate);
        // A window is taken away once, when the message cannot fail or wait any more.
        let condition = || {
            let fabric = self.process.fabric;
            !invalidates || fabric.invalidate(target.peer, request.immediate, target.window_user())
        };
        self.deliver(target, shared, &message, self.local, condition)
    }

    fn write_with_immediate(
        &self,
        target: &ExecutionTarget<'_>,
        shared: Option<Receiver<'_>>,
    ) -> Outcome {
        let total = self.local.bytes();
        if self.done < total {
            match self.write(target) {
                // The message is not there before its receive request is used up.
                Outcome::Done(_) => {}
                other => return other,
            }
        }
        let opcode = IBV_WC_RECV_RDMA_WITH_IMM;
        let message = self.message(opcode, IBV_WC_WITH_IMM, self.request.immediate);
        match self.deliver(target, shared, &message, &Pieces::new(), || true) {
            Outcome::Done(_) => Outcome::Done(total),
            other => other,
        }
    }

    #[inline]
    fn message(&self, opcode: ibv_wc_opcode, wc_flags: u32, immediate: u32) -> Message {
        Message {
            opcode,
            wc_flags,
            immediate,
            src_qp: self.qpn,
            slid: self.lid,
            sl: 0,
            solicited: self.request.has(IBV_SEND_SOLICITED),
            byte_len: self.local.bytes() as u32,
        }
    }

    #[inline]
    fn deliver(
        &self,
        target: &ExecutionTarget<'_>,
        shared: Option<Receiver<'_>>,
        message: &Message,
        payload: &Pieces,
        condition: impl FnOnce() -> bool,
    ) -> Outcome {
        let own = || Receiver::of_queue_pair(target.peer, target.record, target.route.number());
        let Some(receiver) = shared.or_else(own) else {
            return Outcome::Silent;
        };
        let done = self.done.min(payload.bytes());
        let patience = self.patience;
        match receiver.deliver(self.process, message, payload, done, patience, condition) {
            Delivery::Done => Outcome::Done(self.local.bytes()),
            Delivery::Partly(done) => Outcome::Partly(done),
            Delivery::NotReady => Outcome::NotReady {
                timer: target.record.min_rnr_timer.load(Ordering::Relaxed),
            },
            Delivery::Again => Outcome::Again,
            Delivery::ByAgent => Outcome::ByAgent,
            Delivery::Silent => Outcome::Silent,
            Delivery::Refused(status) => Outcome::Failed(status),
            Delivery::ConditionFailed => self.refuse_access(target),
        }
    }

    #[cold]
    fn refuse_access(&self, target: &ExecutionTarget<'_>) -> Outcome {
        self.refuse(target, AffiliatedError::Access, IBV_WC_REM_ACCESS_ERR)
    }

    /// The responder's error: both sides end in the error state (§9.9.3).
    #[cold]
    fn refuse(
        &self,
        target: &ExecutionTarget<'_>,
        error: AffiliatedError,
        status: ibv_wc_status,
    ) -> Outcome {
        let number = target.route.number();
        // An unreliable responder drops the message and stays as it is.
        if target.route.kind().is_reliable() {
            agent_message::fail(self.process, target.peer, target.record, number, error);
        }
        Outcome::Failed(status)
    }
}

/// Registered memory was not there: the target has unmapped it, or is dying.
#[cold]
fn fault(peer: &Peer) -> Outcome {
    match peer.has_memory() {
        true => Outcome::Failed(IBV_WC_REM_OP_ERR),
        false => Outcome::Silent,
    }
}

/// Where a request is executed.
struct ExecutionTarget<'a> {
    peer: &'a Peer,
    record: &'a QpRecord,
    route: &'a Route,
    /// The protection domain whose regions count.
    pd: u32,
}

impl ExecutionTarget<'_> {
    /// The users that a window can have: its queue pair, or all of its protection domain.
    fn window_user(&self) -> (u32, u32) {
        (self.route.number().bits(), self.pd)
    }
}

//! The receiving side of a local message, executed by the sender: finds a receive request of the target, fills it, and
//! pushes the target's completion.
//!
//! A message of up to [`CHUNK`] bytes is moved under the receive queue's turn, and its request stays the oldest until the
//! completion is there, so a sender that dies leaves nothing behind. A longer one moves its request to the queue pair's
//! `Receiving` first and goes chunk by chunk; the target may flush it in between.

use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_verbs_abi::*;

use super::agent_message::{self, AffiliatedError};
use super::pieces::{Pieces, is_null};
use super::process::Process;
use super::state::State;
use crate::fabric::receive::{Request, Ring};
use crate::fabric::receiving::Receiving;
use crate::fabric::record::receive::Sge;
use crate::fabric::{
    Busy, CARRIED_BYTES, Carried, Completion, Cq, Cqe, Direction, MemoryError, Number, ObjectId,
    Peer, PushError, Pushed, QpRecord, Reach, visit,
};

/// The longest piece that is moved at once; more goes to the agent thread.
pub const CHUNK: u64 = 64 << 10;

/// Where the requests of a queue pair come from and where its completions go.
pub struct Receiver<'a> {
    pub peer: &'a Peer,
    pub record: &'a QpRecord,
    pub number: Number,
    ring: Ring<'a>,
    cq: Cq<'a>,
    cq_id: ObjectId,
    /// Protection domain of the requests.
    pub pd: u32,
    srq: Option<u16>,
}

/// What arrives, beside the bytes.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub opcode: ibv_wc_opcode,
    pub wc_flags: ibv_wc_flags,
    pub immediate: u32,
    pub src_qp: u32,
    pub slid: u16,
    pub sl: u8,
    pub solicited: bool,
    /// What the completion says was received; what is copied may be less (a write's immediate data copy nothing).
    pub byte_len: u32,
}

/// How the delivery went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    Done,
    /// So many bytes are there; go on.
    Partly(u64),
    /// No receive request.
    NotReady,
    /// A lock was not to be had.
    Again,
    /// The memory must be reached by the target's agent.
    ByAgent,
    /// The target does not receive.
    Silent,
    /// The target failed on it: what its requester is told.
    Refused(ibv_wc_status),
    /// The sender's condition was not met; the receive request stays.
    ConditionFailed,
}

impl From<Busy> for Delivery {
    fn from(_: Busy) -> Delivery {
        Delivery::Again
    }
}

impl<'a> Receiver<'a> {
    /// The receiving side of an RC, UC or UD queue pair of `peer`.
    pub fn of_queue_pair(
        peer: &'a Peer,
        record: &'a QpRecord,
        number: Number,
    ) -> Option<Receiver<'a>> {
        let segment = peer.segment();
        let cq_id = ObjectId::from_word(record.receive_cq.load(Ordering::Relaxed))?;
        let srq = record.srq.load(Ordering::Relaxed);
        let srq = srq.checked_sub(1).map(|number| number as u16);
        let (ring, pd) = match srq {
            Some(index) => (
                segment.shared_ring(index),
                segment.srq(index).pd.load(Ordering::Relaxed),
            ),
            None => (
                segment.receive_ring(number.index()),
                record.pd.load(Ordering::Relaxed),
            ),
        };
        Some(Receiver {
            peer,
            record,
            number,
            ring,
            cq: segment.cq(cq_id),
            cq_id,
            pd,
            srq,
        })
    }

    /// The receiving side of an XRC target: `record` is the queue pair's, the rest is the shared receive queue's. None if
    /// that does not exist in the queue pair's domain.
    pub fn of_shared_queue(
        peer: &'a Peer,
        record: &'a QpRecord,
        number: Number,
        srq: Number,
    ) -> Option<Receiver<'a>> {
        let segment = peer.segment();
        let queue = segment.srq(srq.index());
        let exists = queue.generation.load(Ordering::Acquire) & 1 == 1;
        let domain = queue.xrc_domain.load(Ordering::Relaxed);
        let same = domain != 0 && domain == record.xrc_domain.load(Ordering::Relaxed);
        let cq_id = ObjectId::from_word(queue.cq.load(Ordering::Relaxed))?;
        (exists && same).then(|| Receiver {
            peer,
            record,
            number,
            ring: segment.shared_ring(srq.index()),
            cq: segment.cq(cq_id),
            cq_id,
            pd: queue.pd.load(Ordering::Relaxed),
            srq: Some(srq.index()),
        })
    }

    /// Whether the target still receives.
    #[inline]
    fn receives(&self) -> bool {
        let state = self.record.state.load(Ordering::Acquire);
        State::from_abi(state).is_some_and(State::receives)
    }

    /// Delivers `payload`, of which `done` bytes are there already. `condition` is asked before a completion without error, once
    /// nothing else can prevent that.
    #[inline]
    pub fn deliver(
        &self,
        process: &Process,
        message: &Message,
        payload: &Pieces,
        done: u64,
        patience: Duration,
        condition: impl FnOnce() -> bool,
    ) -> Delivery {
        if payload.bytes() <= CHUNK {
            self.deliver_short(process, message, payload, patience, condition)
        } else {
            self.deliver_long(process, message, payload, done, patience, condition)
        }
    }

    #[inline]
    fn deliver_short(
        &self,
        process: &Process,
        message: &Message,
        payload: &Pieces,
        patience: Duration,
        condition: impl FnOnce() -> bool,
    ) -> Delivery {
        let processes = process.fabric.processes();
        let guard = match self.ring.lock(processes, patience) {
            Ok(guard) => guard,
            Err(Busy) => return Delivery::Again,
        };
        // Looked at inside the turn: who takes the queue pair out of its state then waits for the turn before it flushes.
        if !self.receives() {
            return Delivery::Silent;
        }
        let Some(request) = guard.request() else {
            return Delivery::NotReady;
        };
        let carried = self.carry(process, &request, payload);
        let moved = match carried {
            Some(_) => Ok(()),
            None => self.fill(process, request.sges(), payload, 0),
        };
        let (status, answer) = match moved {
            Ok(()) => (IBV_WC_SUCCESS, None),
            Err(FillError::Agent) => return Delivery::ByAgent,
            Err(FillError::Gone) => return Delivery::Silent,
            Err(FillError::Failed(local, remote)) => (local, Some(remote)),
        };
        let completion = Completion {
            carries: carried.is_some(),
            ..self.completion(process, request.wr_id(), status, message)
        };
        let cqe = Cqe {
            completion: &completion,
            carried: carried.as_ref(),
            solicited: message.solicited || status != IBV_WC_SUCCESS,
        };
        let condition = || status != IBV_WC_SUCCESS || condition();
        match guard.finish_if(self.cq, &cqe, patience, condition) {
            Ok(received) => {
                drop(guard);
                self.tell(process, received.pushed, received.limit_reached);
                self.answer(process, answer)
            }
            Err(error) => self.push_failed(process, error),
        }
    }

    #[cold]
    fn deliver_long(
        &self,
        process: &Process,
        message: &Message,
        payload: &Pieces,
        done: u64,
        patience: Duration,
        condition: impl FnOnce() -> bool,
    ) -> Delivery {
        if !self.receives() {
            return Delivery::Silent;
        }
        let receiving = self.peer.segment().receiving(self.number);
        if done == 0 && !receiving.busy() {
            let processes = process.fabric.processes();
            let guard = match self.ring.lock(processes, patience) {
                Ok(guard) => guard,
                Err(Busy) => return Delivery::Again,
            };
            let Some(taken) = guard.take(self.number) else {
                return Delivery::NotReady;
            };
            self.tell(process, Pushed { notify: None }, taken.limit_reached);
        } else if !receiving.busy() {
            // The target flushed it.
            return Delivery::Silent;
        }
        let length = CHUNK.min(payload.bytes() - done);
        let moved = self
            .check_room(receiving.sges(), payload.bytes())
            .and_then(|()| {
                self.fill(
                    process,
                    receiving.sges(),
                    &payload.slice(done, length),
                    done,
                )
            });
        let (status, answer) = match moved {
            Ok(()) if done + length < payload.bytes() => {
                receiving.set_arrived(done + length);
                return Delivery::Partly(done + length);
            }
            Ok(()) => (IBV_WC_SUCCESS, None),
            Err(FillError::Agent) => return Delivery::ByAgent,
            Err(FillError::Gone) => return Delivery::Silent,
            Err(FillError::Failed(local, remote)) => (local, Some(remote)),
        };
        let condition = || status != IBV_WC_SUCCESS || condition();
        match self.finish_long(process, receiving, message, status, patience, condition) {
            Delivery::Done => self.answer(process, answer),
            other => other,
        }
    }

    fn finish_long(
        &self,
        process: &Process,
        receiving: Receiving<'_>,
        message: &Message,
        status: ibv_wc_status,
        patience: Duration,
        condition: impl FnOnce() -> bool,
    ) -> Delivery {
        let completion = self.completion(process, receiving.wr_id(), status, message);
        let cqe = Cqe {
            completion: &completion,
            carried: None,
            solicited: message.solicited || status != IBV_WC_SUCCESS,
        };
        let processes = process.fabric.processes();
        match receiving.finish_if(processes, self.cq, &cqe, patience, condition) {
            Ok(Some(pushed)) => {
                self.tell(process, pushed, false);
                Delivery::Done
            }
            Ok(None) => Delivery::Silent,
            Err(error) => self.push_failed(process, error),
        }
    }

    /// Takes a receive request off its queue for a message whose packets come one by one; the bytes it has room for.
    pub fn take(&self, process: &Process, patience: Duration) -> Result<Option<u64>, Busy> {
        let receiving = self.peer.segment().receiving(self.number);
        let guard = self.ring.lock(process.fabric.processes(), patience)?;
        let Some(taken) = guard.take(self.number) else {
            return Ok(None);
        };
        self.tell(process, Pushed { notify: None }, taken.limit_reached);
        Ok(Some(
            receiving.sges().map(|sge| u64::from(sge.length)).sum(),
        ))
    }

    /// Copies into the request that was taken, from byte `begin` on. False if its keys do not allow it.
    pub fn fill_taken(&self, process: &Process, payload: &Pieces, begin: u64) -> bool {
        let receiving = self.peer.segment().receiving(self.number);
        self.fill(process, receiving.sges(), payload, begin).is_ok()
    }

    /// Ends the request that was taken.
    pub fn finish_taken(
        &self,
        process: &Process,
        message: &Message,
        status: ibv_wc_status,
        patience: Duration,
    ) -> Delivery {
        let receiving = self.peer.segment().receiving(self.number);
        self.finish_long(process, receiving, message, status, patience, || true)
    }

    /// Ends without a message what a dead or stopped sender had begun: as flushed. For the owner.
    pub fn flush_begun(&self, process: &Process, patience: Duration) -> Result<(), PushError> {
        let receiving = self.peer.segment().receiving(self.number);
        if receiving.busy() {
            let completion = self.flushed(process, receiving.wr_id());
            let processes = process.fabric.processes();
            let pushed = receiving.finish(processes, self.cq, &completion, true, patience)?;
            if let Some(pushed) = pushed {
                self.tell(process, pushed, false);
            }
        }
        Ok(())
    }

    /// Ends all requests of the queue pair's own ring as flushed. For the owner.
    pub fn flush_all(&self, process: &Process, patience: Duration) -> Result<(), PushError> {
        if self.srq.is_some() {
            return Ok(());
        }
        let guard = self.ring.lock(process.fabric.processes(), patience)?;
        while let Some(request) = guard.request() {
            let completion = self.flushed(process, request.wr_id());
            let received = guard.finish(self.cq, &completion, true, patience)?;
            self.tell(process, received.pushed, false);
        }
        Ok(())
    }

    fn flushed(&self, process: &Process, wr_id: u64) -> Completion {
        let nothing = Message {
            opcode: IBV_WC_RECV,
            wc_flags: 0,
            immediate: 0,
            src_qp: 0,
            slid: 0,
            sl: 0,
            solicited: true,
            byte_len: 0,
        };
        self.completion(process, wr_id, IBV_WC_WR_FLUSH_ERR, &nothing)
    }

    #[inline]
    fn completion(
        &self,
        process: &Process,
        wr_id: u64,
        status: ibv_wc_status,
        message: &Message,
    ) -> Completion {
        Completion {
            wr_id,
            status: status as u16,
            opcode: message.opcode as u16,
            wc_flags: message.wc_flags,
            byte_len: message.byte_len,
            immediate: message.immediate,
            qp_num: self.number.bits(),
            src_qp: message.src_qp,
            slid: message.slid,
            sl: message.sl,
            timestamp_ns: process.stamp(&self.cq),
            ..Completion::default()
        }
    }

    /// The payload, to travel with its completion: one that the first piece of the request has room for, into memory that could
    /// only be reached through the kernel or the target's agent. None if it must be copied, or is not to be had.
    #[inline]
    fn carry(&self, process: &Process, request: &Request<'_>, payload: &Pieces) -> Option<Carried> {
        let length = payload.bytes() as usize;
        let sge = request.sges().next()?;
        let fits = (1..=CARRIED_BYTES.min(sge.length as usize)).contains(&length);
        if !fits || self.peer.reach() == Reach::Own {
            return None;
        }
        let me = process.fabric.processes().me();
        let hint = self.number.bits() as usize;
        let visit = visit(self.peer.segment(), me, sge.lkey, hint)?;
        let span = visit
            .region()
            .span(sge.address, length as u64, self.pd, IBV_ACCESS_LOCAL_WRITE)
            .ok()?;
        if span.segment_offset.is_some() || is_null(visit.region()) {
            return None;
        }
        let mut carried = Carried {
            address: sge.address,
            lkey: sge.lkey,
            length: length as u32,
            bytes: [0; CARRIED_BYTES],
        };
        // SAFETY: the payload was checked against its keys, or is the poster's to read.
        unsafe { payload.read(&mut carried.bytes[..length]) };
        Some(carried)
    }

    fn check_room(&self, sges: impl Iterator<Item = Sge>, bytes: u64) -> Result<(), FillError> {
        let room: u64 = sges.map(|sge| u64::from(sge.length)).sum();
        if bytes <= room {
            Ok(())
        } else {
            Err(FillError::Failed(
                IBV_WC_LOC_LEN_ERR,
                IBV_WC_REM_INV_REQ_ERR,
            ))
        }
    }

    /// Copies `payload` into the request's memory from byte `begin` on.
    #[inline]
    fn fill(
        &self,
        process: &Process,
        sges: impl Iterator<Item = Sge>,
        payload: &Pieces,
        mut begin: u64,
    ) -> Result<(), FillError> {
        let mut done = 0;
        for sge in sges {
            let left = payload.bytes() - done;
            if left == 0 {
                break;
            }
            let room = u64::from(sge.length);
            if begin >= room {
                begin -= room;
                continue;
            }
            let length = left.min(room - begin);
            self.fill_element(process, sge, begin, payload, done, length)?;
            done += length;
            begin = 0;
        }
        if done == payload.bytes() {
            Ok(())
        } else {
            Err(FillError::Failed(
                IBV_WC_LOC_LEN_ERR,
                IBV_WC_REM_INV_REQ_ERR,
            ))
        }
    }

    /// Copies `length` bytes of `payload` from byte `done` on to byte `begin` of one element.
    #[inline]
    fn fill_element(
        &self,
        process: &Process,
        sge: Sge,
        begin: u64,
        payload: &Pieces,
        done: u64,
        length: u64,
    ) -> Result<(), FillError> {
        const PROTECTION: FillError = FillError::Failed(IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
        let me = process.fabric.processes().me();
        let visit = visit(
            self.peer.segment(),
            me,
            sge.lkey,
            self.number.bits() as usize,
        )
        .ok_or(PROTECTION)?;
        let address = sge.address.wrapping_add(begin);
        let span = visit
            .region()
            .span(address, length, self.pd, IBV_ACCESS_LOCAL_WRITE)
            .map_err(|_| PROTECTION)?;
        if is_null(visit.region()) {
            return Ok(());
        }
        let whole = done == 0 && length == payload.bytes();
        let part;
        let local = if whole {
            payload
        } else {
            part = payload.slice(done, length);
            &part
        };
        // SAFETY: the payload was checked against its keys, or is the poster's to read.
        match unsafe { self.peer.copy(Direction::Write, local.list(), &[span]) } {
            Ok(()) => Ok(()),
            Err(MemoryError::Agent) => Err(FillError::Agent),
            Err(MemoryError::Fault) if self.peer.has_memory() => Err(PROTECTION),
            Err(MemoryError::Fault | MemoryError::Gone) => Err(FillError::Gone),
        }
    }

    /// Wakes who waits for the completion, and tells of the shared receive queue's limit.
    #[inline]
    fn tell(&self, process: &Process, pushed: Pushed, limit_reached: bool) {
        if let Some(channel) = pushed.notify {
            process.fabric.notify(self.peer, channel, self.cq_id);
        }
        if let (true, Some(index)) = (limit_reached, self.srq) {
            agent_message::send(
                process,
                self.peer,
                &agent_message::AgentMessage::SrqLimit { index },
            );
        }
    }

    /// After an error at the target its queue pair is in error.
    #[inline]
    fn answer(&self, process: &Process, answer: Option<ibv_wc_status>) -> Delivery {
        match answer {
            None => Delivery::Done,
            Some(status) => {
                agent_message::fail(
                    process,
                    self.peer,
                    self.record,
                    self.number,
                    AffiliatedError::Receive,
                );
                Delivery::Refused(status)
            }
        }
    }

    #[cold]
    fn push_failed(&self, process: &Process, error: PushError) -> Delivery {
        match error {
            PushError::Busy => Delivery::Again,
            PushError::Gone => Delivery::Silent,
            PushError::Refused => Delivery::ConditionFailed,
            PushError::Overrun { first } => {
                if first {
                    let agent_message = agent_message::AgentMessage::CqOverrun { id: self.cq_id };
                    agent_message::send(process, self.peer, &agent_message);
                }
                agent_message::fail(
                    process,
                    self.peer,
                    self.record,
                    self.number,
                    AffiliatedError::Receive,
                );
                Delivery::Refused(IBV_WC_REM_OP_ERR)
            }
        }
    }
}

/// Why a request could not be filled.
enum FillError {
    /// The target's agent must copy.
    Agent,
    /// The target is dead, or about to be.
    Gone,
    /// What the target's completion says, and what the requester is told.
    Failed(ibv_wc_status, ibv_wc_status),
}

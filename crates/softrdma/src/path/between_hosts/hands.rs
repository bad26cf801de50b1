//! What the protocol asks of a queue pair: memory, receive requests, completions.

use std::collections::VecDeque;
use std::time::Duration;

use weft_verbs_abi::*;

use super::status;
use crate::fabric::{
    AtomicOperation, Direction, Local, MemoryError, PATIENT, Region as Keyed, own_region,
};
use crate::path::pieces::{Pieces, is_null};
use crate::path::receiver::{Delivery, Message, Receiver};
use crate::path::request::Request;
use crate::path::send_queue;
use crate::roce::{
    Access, Atomic, Fault, Host, Immediate, LocalError, Receive, ReceiveDone, ReceiveKind, Region,
    RemoteError, SendDone, Sge,
};
use crate::verbs::Qp;

/// A queue pair, for the time of one call of the protocol.
pub struct Hands<'a> {
    pub qp: &'static Qp,
    /// Requests that the protocol has, oldest first; it ends them in order.
    pub posted: &'a mut VecDeque<Request>,
    /// The protocol gave up: it must be flushed when the call is over.
    pub failed: bool,
    /// Goes with every completion of a datagram.
    pub wc_flags: ibv_wc_flags,
}

/// What a lock in shared memory may cost; its holders do short things only.
const PATIENCE: Duration = Duration::from_millis(10);

impl Hands<'_> {
    fn receiver(&self) -> Option<Receiver<'static>> {
        let own = self.qp.context.process.fabric.own();
        Receiver::of_queue_pair(own, self.qp.record(), self.qp.number)
    }

    /// Walks over the bytes of a list from `offset` on, as far as `length` goes.
    fn walk(
        &self,
        segments: &[Sge],
        mut offset: u64,
        length: usize,
        access: u32,
        mut each: impl FnMut(&Keyed, u64, std::ops::Range<usize>),
    ) -> Result<(), LocalError> {
        let segment = self.qp.context.process.home().segment();
        let mut done = 0;
        for sge in segments {
            let bytes = u64::from(sge.length);
            if offset >= bytes {
                offset -= bytes;
                continue;
            }
            let here = (bytes - offset).min((length - done) as u64);
            if here == 0 {
                break;
            }
            let region = own_region(segment, sge.lkey).ok_or(LocalError::Protection)?;
            let span = region
                .span(
                    sge.address.wrapping_add(offset),
                    here,
                    self.qp.pd_key,
                    access,
                )
                .map_err(|_| LocalError::Protection)?;
            each(&region, span.address, done..done + here as usize);
            done += here as usize;
            offset = 0;
        }
        if done == length {
            Ok(())
        } else {
            Err(LocalError::Protection)
        }
    }

    /// Moves bytes between `local` and memory that the peer names.
    fn transfer(
        &self,
        region: &Region,
        direction: Direction,
        access: u32,
        local: Local,
    ) -> Result<(), RemoteError> {
        let fabric = self.qp.context.process.fabric;
        let visit = self.visit(region)?;
        let span = visit
            .region()
            .span(region.address, region.length, self.qp.pd_key, access)
            .map_err(|_| RemoteError::Access)?;
        // SAFETY: the caller's slice.
        match unsafe { fabric.own().copy(direction, &[local], &[span]) } {
            Ok(()) => Ok(()),
            Err(MemoryError::Fault | MemoryError::Gone | MemoryError::Agent) => {
                Err(RemoteError::Operation)
            }
        }
    }

    fn visit(
        &self,
        region: &Region,
    ) -> Result<crate::fabric::regions::Visit<'static>, RemoteError> {
        let fabric = self.qp.context.process.fabric;
        let hint = self.qp.number.bits() as usize;
        let visit = fabric
            .own()
            .visit(region.rkey, hint)
            .ok_or(RemoteError::Access)?;
        let other = |qpn| qpn != self.qp.number.bits();
        if visit.region().qpn.is_some_and(other) {
            return Err(RemoteError::Access);
        }
        Ok(visit)
    }
}

fn access_flag(access: Access) -> u32 {
    match access {
        Access::Write => IBV_ACCESS_REMOTE_WRITE,
        Access::Read => IBV_ACCESS_REMOTE_READ,
        Access::Atomic => IBV_ACCESS_REMOTE_ATOMIC,
    }
}

impl Host for Hands<'_> {
    fn gather(&mut self, segments: &[Sge], offset: u64, out: &mut [u8]) -> Result<(), LocalError> {
        self.walk(segments, offset, out.len(), 0, |region, address, range| {
            let out = &mut out[range];
            if is_null(region) {
                return out.fill(0);
            }
            // SAFETY: registered memory of this process.
            unsafe {
                let from = address as *const u8;
                std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len());
            }
        })
    }

    fn scatter(&mut self, segments: &[Sge], offset: u64, data: &[u8]) -> Result<(), LocalError> {
        let access = IBV_ACCESS_LOCAL_WRITE;
        self.walk(
            segments,
            offset,
            data.len(),
            access,
            |region, address, range| {
                let data = &data[range];
                if is_null(region) {
                    return;
                }
                // SAFETY: registered memory of this process.
                unsafe {
                    std::ptr::copy_nonoverlapping(data.as_ptr(), address as *mut u8, data.len());
                }
            },
        )
    }

    fn send_done(&mut self, done: SendDone) {
        let Some(request) = self.posted.pop_front() else {
            return;
        };
        let bytes = u64::from(done.bytes);
        // Whoever holds the completion queue's lock is about to let it go, or dead.
        while send_queue::end(self.qp, &request, status(done.status), bytes).is_err() {
            std::thread::yield_now();
        }
    }

    fn check(&mut self, region: &Region, access: Access) -> Result<(), RemoteError> {
        let flag = access_flag(access);
        let visit = self.visit(region)?;
        let allowed = self
            .qp
            .record()
            .access
            .load(std::sync::atomic::Ordering::Relaxed)
            & flag
            != 0;
        let span = visit
            .region()
            .span(region.address, region.length, self.qp.pd_key, flag);
        if allowed && span.is_ok() {
            Ok(())
        } else {
            Err(RemoteError::Access)
        }
    }

    fn read(&mut self, region: &Region, out: &mut [u8]) -> Result<(), RemoteError> {
        let local = Local {
            address: out.as_mut_ptr() as u64,
            length: out.len() as u64,
        };
        self.transfer(region, Direction::Read, IBV_ACCESS_REMOTE_READ, local)
    }

    fn write(&mut self, region: &Region, data: &[u8]) -> Result<(), RemoteError> {
        let local = Local {
            address: data.as_ptr() as u64,
            length: data.len() as u64,
        };
        self.transfer(region, Direction::Write, IBV_ACCESS_REMOTE_WRITE, local)
    }

    fn atomic(&mut self, region: &Region, atomic: Atomic) -> Result<u64, RemoteError> {
        let fabric = self.qp.context.process.fabric;
        let visit = self.visit(region)?;
        let span = visit
            .region()
            .span(region.address, 8, self.qp.pd_key, IBV_ACCESS_REMOTE_ATOMIC)
            .map_err(|_| RemoteError::Access)?;
        let operation = match atomic {
            Atomic::CompareSwap { compare, swap } => AtomicOperation::CompareSwap { compare, swap },
            Atomic::FetchAdd { add } => AtomicOperation::FetchAdd(add),
        };
        fabric
            .own()
            .atomic(operation, span, fabric.processes(), PATIENT)
            .map_err(|_| RemoteError::Operation)
    }

    fn invalidate(&mut self, rkey: u32) -> Result<(), RemoteError> {
        let fabric = self.qp.context.process.fabric;
        let user = (self.qp.number.bits(), self.qp.pd_key);
        match fabric.invalidate(fabric.own(), rkey, user) {
            true => Ok(()),
            false => Err(RemoteError::Access),
        }
    }

    fn take_receive(&mut self, srq: Option<u32>) -> Result<Option<Receive>, RemoteError> {
        // XRC queue pairs are this host's alone.
        if srq.is_some() {
            return Err(RemoteError::Operation);
        }
        let receiver = self.receiver().ok_or(RemoteError::Operation)?;
        match receiver.take(self.qp.context.process, PATIENCE) {
            Ok(Some(capacity)) => Ok(Some(Receive { token: 0, capacity })),
            // The peer tries again.
            Ok(None) | Err(_) => Ok(None),
        }
    }

    fn fill_receive(
        &mut self,
        _receive: &Receive,
        offset: u64,
        data: &[u8],
    ) -> Result<(), LocalError> {
        let receiver = self.receiver().ok_or(LocalError::Protection)?;
        let payload = Pieces::of_bytes(data);
        match receiver.fill_taken(self.qp.context.process, &payload, offset) {
            true => Ok(()),
            false => Err(LocalError::Protection),
        }
    }

    fn receive_done(&mut self, _receive: Receive, done: ReceiveDone) {
        let Some(receiver) = self.receiver() else {
            return;
        };
        let (flags, immediate) = match done.immediate {
            Immediate::None => (0, 0),
            Immediate::Data(data) => (IBV_WC_WITH_IMM, data),
            Immediate::Invalidated(key) => (IBV_WC_WITH_INV, key),
        };
        let message = Message {
            opcode: match done.kind {
                ReceiveKind::Send => IBV_WC_RECV,
                ReceiveKind::WriteWithImmediate => IBV_WC_RECV_RDMA_WITH_IMM,
            },
            wc_flags: flags | self.wc_flags,
            immediate,
            src_qp: done.source_qpn,
            slid: 0,
            sl: 0,
            solicited: done.solicited,
            byte_len: done.bytes,
        };
        let process = self.qp.context.process;
        let status = status(done.status);
        while receiver.finish_taken(process, &message, status, PATIENCE) == Delivery::Again {
            std::thread::yield_now();
        }
    }

    fn fail(&mut self, fault: Fault) {
        self.failed = true;
        match fault {
            Fault::Requester => self.qp.fail_sending(),
            Fault::Receive => self.qp.fail(None),
            Fault::Access => self.qp.fail(Some(IBV_EVENT_QP_ACCESS_ERR)),
            Fault::Request => self.qp.fail(Some(IBV_EVENT_QP_REQ_ERR)),
        }
    }
}

//! What a peer on another host gets at: memory by its key, receive requests.

use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_verbs_abi::*;

use crate::fabric::{
    AtomicOperation, Direction, Local, MemoryError, Number, PATIENT, Peer, QpRecord, Visit,
};
use crate::path::pieces::Pieces;
use crate::path::process::Process;
use crate::path::receiver::{Delivery, Message, Receiver};
use weft_roce::{
    Access, Atomic, Immediate, LocalError, ReceiveDone, ReceiveKind, Region, RemoteError, Status,
};

/// What a lock in shared memory may cost; its holders do short things only.
const PATIENCE: Duration = Duration::from_millis(10);

/// The memory of a process as one queue pair's peer may use it.
pub struct Exposed<'a> {
    pub process: &'a Process,
    /// The process whose memory it is.
    pub owner: &'a Peer,
    pub record: &'a QpRecord,
    pub number: Number,
    /// Protection domain whose keys count.
    pub pd: u32,
}

fn access_flag(access: Access) -> u32 {
    match access {
        Access::Write => IBV_ACCESS_REMOTE_WRITE,
        Access::Read => IBV_ACCESS_REMOTE_READ,
        Access::Atomic => IBV_ACCESS_REMOTE_ATOMIC,
    }
}

impl Exposed<'_> {
    fn visit(&self, region: &Region) -> Result<Visit<'_>, RemoteError> {
        let hint = self.number.bits() as usize;
        let visit = self
            .owner
            .visit(region.rkey, hint)
            .ok_or(RemoteError::Access)?;
        let other = |qpn| qpn != self.number.bits();
        if visit.region().qpn.is_some_and(other) {
            return Err(RemoteError::Access);
        }
        Ok(visit)
    }

    pub fn check(&self, region: &Region, access: Access) -> Result<(), RemoteError> {
        let flag = access_flag(access);
        let visit = self.visit(region)?;
        let allowed = self.record.access.load(Ordering::Relaxed) & flag != 0;
        let span = visit
            .region()
            .span(region.address, region.length, self.pd, flag);
        if allowed && span.is_ok() {
            Ok(())
        } else {
            Err(RemoteError::Access)
        }
    }

    pub fn read(&self, region: &Region, out: &mut [u8]) -> Result<(), RemoteError> {
        let local = Local {
            address: out.as_mut_ptr() as u64,
            length: out.len() as u64,
        };
        self.transfer(region, Direction::Read, Access::Read, local)
    }

    pub fn write(&self, region: &Region, data: &[u8]) -> Result<(), RemoteError> {
        let local = Local {
            address: data.as_ptr() as u64,
            length: data.len() as u64,
        };
        self.transfer(region, Direction::Write, Access::Write, local)
    }

    fn transfer(
        &self,
        region: &Region,
        direction: Direction,
        access: Access,
        local: Local,
    ) -> Result<(), RemoteError> {
        let visit = self.visit(region)?;
        let flag = access_flag(access);
        let span = visit
            .region()
            .span(region.address, region.length, self.pd, flag)
            .map_err(|_| RemoteError::Access)?;
        // SAFETY: the caller's slice.
        match unsafe { self.owner.copy(direction, &[local], &[span]) } {
            Ok(()) => Ok(()),
            Err(MemoryError::Fault | MemoryError::Gone | MemoryError::Agent) => {
                Err(RemoteError::Operation)
            }
        }
    }

    pub fn atomic(&self, region: &Region, atomic: Atomic) -> Result<u64, RemoteError> {
        let visit = self.visit(region)?;
        let span = visit
            .region()
            .span(region.address, 8, self.pd, IBV_ACCESS_REMOTE_ATOMIC)
            .map_err(|_| RemoteError::Access)?;
        let operation = match atomic {
            Atomic::CompareSwap { compare, swap } => AtomicOperation::CompareSwap { compare, swap },
            Atomic::FetchAdd { add } => AtomicOperation::FetchAdd(add),
        };
        self.owner
            .atomic(operation, span, self.process.fabric.processes(), PATIENT)
            .map_err(|_| RemoteError::Operation)
    }

    pub fn invalidate(&self, rkey: u32) -> Result<(), RemoteError> {
        let user = (self.number.bits(), self.pd);
        match self.process.fabric.invalidate(self.owner, rkey, user) {
            true => Ok(()),
            false => Err(RemoteError::Access),
        }
    }
}

/// Takes the oldest receive request; the bytes it has room for. None if there is none, or a lock was not to be had: the peer
/// tries again.
pub fn take(process: &Process, receiver: &Receiver<'_>) -> Option<u64> {
    receiver.take(process, PATIENCE).ok().flatten()
}

pub fn fill(
    process: &Process,
    receiver: &Receiver<'_>,
    offset: u64,
    data: &[u8],
) -> Result<(), LocalError> {
    match receiver.fill_taken(process, &Pieces::of_bytes(data), offset) {
        true => Ok(()),
        false => Err(LocalError::Protection),
    }
}

/// Ends the receive request that was taken. `wc_flags` go with its completion.
pub fn finish(process: &Process, receiver: &Receiver<'_>, done: ReceiveDone, wc_flags: u32) {
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
        wc_flags: flags | wc_flags,
        immediate,
        src_qp: done.source_qpn,
        slid: 0,
        sl: 0,
        solicited: done.solicited,
        byte_len: done.bytes,
    };
    let status = status(done.status);
    while receiver.finish_taken(process, &message, status, PATIENCE) == Delivery::Again {
        weft_sync::yield_now();
    }
}

/// The status of a completion, by the protocol's.
pub fn status(status: Status) -> ibv_wc_status {
    status as u32
}

//! What the protocol asks of a queue pair: memory, receive requests, completions.

use std::collections::VecDeque;

use weft_verbs_abi::*;

use super::exposed::{self, Exposed, status};
use crate::fabric::{Region as Keyed, own_region};
use crate::path::completion;
use crate::path::pieces::is_null;
use crate::path::queue_pair::QueuePair;
use crate::path::receiver::Receiver;
use crate::path::request::Request;
use weft_roce::{
    Access, Atomic, Fault, Host, LocalError, Receive, ReceiveDone, Region, RemoteError, SendDone,
    Sge,
};

/// A queue pair, for the time of one call of the protocol.
pub struct QueuePairHost<'a> {
    pub qp: &'static QueuePair,
    /// Requests that the protocol has, oldest first; it ends them in order.
    pub posted: &'a mut VecDeque<Request>,
    /// The protocol gave up: it must be flushed when the call is over.
    pub failed: bool,
    /// Goes with every completion of a datagram.
    pub wc_flags: ibv_wc_flags,
}

impl QueuePairHost<'_> {
    fn receiver(&self) -> Option<Receiver<'static>> {
        let own = self.qp.process.fabric.own();
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
        let segment = self.qp.process.own_segment().segment();
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

    fn exposed(&self) -> Exposed<'_> {
        let process = self.qp.process;
        Exposed {
            process,
            owner: process.fabric.own(),
            record: self.qp.record(),
            number: self.qp.number,
            pd: self.qp.pd_key,
        }
    }
}

impl Host for QueuePairHost<'_> {
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
        // The holder of the completion queue's lock is about to let it go, or dead.
        while completion::end(self.qp, &request, status(done.status), bytes).is_err() {
            weft_sync::yield_now();
        }
    }

    fn check(&mut self, region: &Region, access: Access) -> Result<(), RemoteError> {
        self.exposed().check(region, access)
    }

    /// Only targets of XRC, which are no process's, are sent requests that name one.
    fn check_queue(&mut self, _: u32) -> Result<(), RemoteError> {
        Err(RemoteError::Request)
    }

    fn read(&mut self, region: &Region, out: &mut [u8]) -> Result<(), RemoteError> {
        self.exposed().read(region, out)
    }

    fn write(&mut self, region: &Region, data: &[u8]) -> Result<(), RemoteError> {
        self.exposed().write(region, data)
    }

    fn atomic(&mut self, region: &Region, atomic: Atomic) -> Result<u64, RemoteError> {
        self.exposed().atomic(region, atomic)
    }

    fn invalidate(&mut self, _srq: Option<u32>, rkey: u32) -> Result<(), RemoteError> {
        self.exposed().invalidate(rkey)
    }

    fn take_receive(&mut self, _srq: Option<u32>) -> Result<Option<Receive>, RemoteError> {
        let receiver = self.receiver().ok_or(RemoteError::Operation)?;
        let taken = exposed::take(self.qp.process, &receiver);
        Ok(taken.map(|capacity| Receive { token: 0, capacity }))
    }

    fn fill_receive(
        &mut self,
        _receive: &Receive,
        offset: u64,
        data: &[u8],
    ) -> Result<(), LocalError> {
        let receiver = self.receiver().ok_or(LocalError::Protection)?;
        exposed::fill(self.qp.process, &receiver, offset, data)
    }

    fn receive_done(&mut self, _receive: Receive, done: ReceiveDone) {
        if let Some(receiver) = self.receiver() {
            exposed::finish(self.qp.process, &receiver, done, self.wc_flags);
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

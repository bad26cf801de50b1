//! Polling (ibv_poll_cq(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::object::Cq;
use crate::fabric::{Carried, Completion, own_region};

/// Up to `count` completions; how many there were.
///
/// # Safety
/// `cq` is a completion queue of this device, `wc` writable for `count`.
pub unsafe extern "C" fn poll_cq(cq: *mut ibv_cq, count: c_int, wc: *mut ibv_wc) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Cq::from_abi(cq) };
    let held = this.inner.resources.enter();
    let mut polled = 0;
    while polled < count {
        let Some(completion) = this.take() else {
            break;
        };
        // SAFETY: `polled` is below the caller's count.
        unsafe { wc.add(polled as usize).write(work_completion(&completion)) };
        polled += 1;
    }
    drop(held);
    if polled == 0 {
        this.poll_was_empty();
    }
    polled
}

impl Cq {
    /// The oldest completion, taken by the thread that is inside the queue. A message that came with it is where it belongs, and places of
    /// the send queue are free.
    #[inline]
    pub(super) fn take(&self) -> Option<Completion> {
        let queue = self.inner.queue();
        let completion = queue.peek(0)?;
        if completion.carries
            && let Some(carried) = queue.carried(0)
        {
            self.scatter_carried(&carried);
        }
        queue.consume(1);
        self.release_send_queue(&completion);
        Some(completion)
    }

    /// Memory that was given back since the message arrived is not written to.
    #[cold]
    fn scatter_carried(&self, carried: &Carried) {
        let segment = self.context.process.own_segment().segment();
        let length = u64::from(carried.length);
        let region = own_region(segment, carried.lkey);
        let span = region.map(|region| {
            let access = IBV_ACCESS_LOCAL_WRITE;
            region.span(carried.address, length, region.pd, access)
        });
        if let Some(Ok(span)) = span {
            // SAFETY: registered memory of this process; racing accesses are the application's, as with an adapter.
            unsafe {
                let to = span.address as *mut u8;
                std::ptr::copy(carried.bytes.as_ptr(), to, carried.length as usize);
            }
        }
    }

    /// Does what may have to happen for a completion to come, where the polling thread keeps the core from the agent. The queue
    /// is not held.
    #[inline]
    pub(super) fn poll_was_empty(&self) {
        let adapter = self.context.adapter;
        if adapter.process.port().is_some() {
            adapter.agent().help();
        }
    }
}

#[inline]
fn work_completion(completion: &Completion) -> ibv_wc {
    ibv_wc {
        wr_id: completion.wr_id,
        status: u32::from(completion.status),
        opcode: u32::from(completion.opcode),
        vendor_err: completion.vendor_err,
        byte_len: completion.byte_len,
        immediate: ibv_wc_immediate {
            imm_data: completion.immediate,
        },
        qp_num: completion.qp_num,
        src_qp: completion.src_qp,
        wc_flags: completion.wc_flags,
        pkey_index: completion.pkey_index,
        slid: completion.slid,
        sl: completion.sl,
        dlid_path_bits: completion.dlid_path_bits,
    }
}

//! Polling (ibv_poll_cq(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::Cq;
use crate::fabric::Completion;

/// Up to `count` completions; how many there were.
///
/// # Safety
/// `cq` is a completion queue of this device, `wc` writable for `count`.
pub unsafe extern "C" fn poll_cq(cq: *mut ibv_cq, count: c_int, wc: *mut ibv_wc) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Cq::from_abi(cq) };
    let held = this.resources.enter();
    let queue = this.queue();
    let mut polled = 0;
    while polled < count {
        let Some(completion) = queue.poll() else {
            break;
        };
        this.release_send_queue(&completion);
        // SAFETY: `polled` is below the caller's count.
        unsafe { wc.add(polled as usize).write(work_completion(&completion)) };
        polled += 1;
    }
    drop(held);
    if polled == 0 {
        this.polled_in_vain();
    }
    polled
}

impl Cq {
    /// What may have to happen for a completion to come, where the polling thread keeps the core from who would do it. The
    /// queue is not held.
    #[inline]
    pub(super) fn polled_in_vain(&self) {
        let process = self.context.process;
        if process.port.opened().is_some() {
            process.agent().help();
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

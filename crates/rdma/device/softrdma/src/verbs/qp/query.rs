//! What a queue pair is like (ibv_query_qp(3)).

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::object::Qp;
use crate::path::state::QpKind;

/// # Safety
/// `qp` is a queue pair of this device; the others are writable.
pub unsafe extern "C" fn ibv_query_qp(
    qp: *mut ibv_qp,
    attributes: *mut ibv_qp_attr,
    _mask: c_int,
    init: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    let this = &unsafe { Qp::from_abi(qp) }.inner;
    let state = this.record().state.load(Ordering::Acquire);
    let own = this.attributes();
    let answer = ibv_qp_attr {
        // Another process may have connected it (XRC).
        dest_qp_num: match this.kind {
            QpKind::XrcRecv => this.record().dest_qpn.load(Ordering::Relaxed),
            _ => own.dest_qp_num,
        },
        qp_state: state,
        cur_qp_state: state,
        cap: this.caps,
        path_mig_state: IBV_MIG_MIGRATED,
        sq_draining: u8::from(state == IBV_QPS_SQD && !this.backlog.is_empty()),
        ..*own
    };
    // SAFETY: the caller's promise. The public state is what the application last heard of it.
    unsafe {
        (*qp).state = state;
        attributes.write(answer);
        init.write(ibv_qp_init_attr {
            qp_context: (*qp).qp_context,
            send_cq: (*qp).send_cq,
            recv_cq: (*qp).recv_cq,
            srq: (*qp).srq,
            cap: this.caps,
            qp_type: this.kind as u32,
            sq_sig_all: c_int::from(this.signals_all),
        });
    }
    0
}

/// Nothing is promised of the order in which the bytes of a message arrive.
///
/// # Safety
/// None is needed.
pub unsafe extern "C" fn ibv_query_qp_data_in_order(
    _qp: *mut ibv_qp,
    _operation: ibv_wr_opcode,
    _flags: u32,
) -> c_int {
    0
}

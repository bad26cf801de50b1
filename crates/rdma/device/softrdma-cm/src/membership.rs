//! Queue pairs as members of multicast groups.

use std::ffi::{c_int, c_void};

use weft_verbs_abi::*;

use crate::abi::*;
use crate::call::{Outcome, verbs};
use crate::channel::News;
use crate::device::{self, devices};
use crate::identifier::Identifier;

/// The first multicast LID.
const MLID: u16 = 0xc000;

/// The queue pair number that means all members.
const MULTICAST_QPN: u32 = 0xff_ffff;

/// The application takes the news that it has joined: a queue pair of the identifier's becomes a member now.
///
/// # Safety
/// The news are about an identifier of ours.
pub unsafe fn joined(news: &mut News) -> Option<rdma_ud_param> {
    // SAFETY: the caller's promise.
    unsafe {
        let id: *mut rdma_cm_id = news.about.cast();
        let gid = news.peer.as_ref()?.gid;
        let inner = Identifier::inner(id);
        // None when the group was left before the news were taken.
        let (_, context) = inner.groups.iter().rev().find(|group| group.0 == gid)?;
        if let Err(errno) = member(id, &gid, |library| library.attach_mcast) {
            news.event = RDMA_CM_EVENT_MULTICAST_ERROR;
            news.status = -errno.0;
        }
        Some(rdma_ud_param {
            private_data: *context as *const c_void,
            private_data_len: 0,
            ah_attr: ibv_ah_attr {
                grh: ibv_global_route {
                    dgid: ibv_gid { raw: gid },
                    sgid_index: inner.device?.gid_index,
                    hop_limit: 64,
                    ..Default::default()
                },
                dlid: MLID,
                is_global: 1,
                port_num: device::PORT,
                ..Default::default()
            },
            qp_num: MULTICAST_QPN,
            qkey: RDMA_UDP_QKEY,
        })
    }
}

type Change = unsafe extern "C" fn(*mut ibv_qp, *const ibv_gid, u16) -> c_int;

/// Attaches or detaches the identifier's queue pair, if it has one.
///
/// # Safety
/// `id` is one of ours.
pub unsafe fn member(
    id: *mut rdma_cm_id,
    gid: &[u8; 16],
    change: impl Fn(&Library) -> Change,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        if (*id).qp.is_null() {
            return Ok(());
        }
        let gid = ibv_gid { raw: *gid };
        let change = change(&devices()?.library);
        verbs(change((*id).qp, &raw const gid, MLID))
    }
}
